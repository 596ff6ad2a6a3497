"""One trial: a model built from source, observed, cloned by each cloner, and each clone observed beside it.

`run_trial` is the one way to run a trial: `serve` calls it in a subject's child process, and a downstream project
calls it in its own.
"""

from __future__ import annotations

import contextlib
from time import perf_counter
from typing import Any, Iterator

from .build import build, build_after, custom_objects, script
from .calling import Calling
from .canonical import forget_functions
from .cloners import Cloner, TrialContext, chosen_cloners
from .cloners.copies import KEEP_VALUES
from .cloners.users import is_users
from .cpu_limit import TooLong
from .description import Description
from .failures import failure
from .frameworks import framework as framework_of
from .frameworks.interface import Framework
from .freshness import fresh, fresh_states
from .holdings import Holdings, changed, unlike, varying
from .housekeeping import tidy
from .leaks import Leak, held_by_modules, leaks, owned
from .nondeterminism import NONDETERMINISTIC, is_deterministic
from .observer import Observer
from .run import Recorded, run
from .training import train
from .values import input_arrays, specs_of
from .variable_values import VariableValues, copy, randomize
from .warned import Warned, leave_out, to_hear_again, unheard


def run_trial(
    request: dict[str, Any],
    framework: Framework | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """The answer to a trial, as `Answer` declares it on the wire.

    `request["cloners"]` is a list of names, or a dict of names to cloners, each a name or a function of a model.
    Instead of `source`, `model` may have a live model: its weights are put back at the end. Where `clone_model` is
    given `arguments`, a clone is held against the model that they ask for, which `asked` builds.
    """
    framework = framework or framework_of(request.get("generation"))
    if "source" not in request and "model" not in request:
        raise ValueError("a trial needs the field `source`: Python that leaves a `model`")
    observer = observer or Observer(framework, int(request.get("seed", 0)))
    observer.values_by_chance = bool(request.get("ran"))
    began = perf_counter()
    with unheard() as filters, framework.on(request.get("device")):
        if "source" in request:
            tidy(framework)
        framework.reseed(observer.seed)
        with framework.hooked(), script(request.get("source")) as module:
            trial = _Trial({"filters": filters, **request}, module, observer)
            answer = trial.run()
            del trial
    forget_functions()
    answer["seconds"] = perf_counter() - began
    return answer


class _Trial:
    """The steps of one trial, in their order."""

    def __init__(self, request: dict[str, Any], module: Any, observer: Observer) -> None:
        self._request = request
        self._module = module
        self._observer = observer
        self._costly = bool(request.get("costly"))
        self._cloners = chosen_cloners(request.get("cloners", ()))
        self._known: dict[str, Any] = request.get("custom_objects") or {}
        self._calling = Calling(request, module, observer)
        self._asked_for_another = bool(self._calling.arguments)
        self._warned_of = Warned()
        self._touched = False
        self._unlike: set[tuple[int, str]] = set()  # where a clone does not hold what the original does
        self._set_by_runs: set[tuple[int, str]] = set()  # and does, once both have run
        self._leaks: dict[str, list[Leak]] = {}
        self._other_build: Any = None

    def run(self) -> dict[str, Any]:
        try:
            model, asked = self._build_both()
        except Exception as error:  # the framework refuses to build: counted, and never a finding
            return {"refused": failure(error, below="_build")}
        self._original = Description(asked, self._observer)
        self._original.hold(self._observer)
        layers = [place.layer for place in self._original.layers.places]
        self._observer.backend_draws = self._observer.framework.draws(layers, self._request.get("source", ""))
        self._first_values = list(self._original.initial)
        self._packing = asked
        self._arrays = self._draw()
        self._kept = randomize(self._original, self._observer)
        observation = self._observe(self._original, self._kept)
        self._take_to_clone(model)
        if model is not asked:
            observation["cloned"] = self._cloned.shape
        observation.update(keeps=self._request.get("keeps", ""))
        observation["fresh"] = [True] * len(self._original.weights)
        self._calling.time.model_is_there()
        self._first_inference = observation["inference"]
        clones: dict[str, Any] = {}
        name = ""
        try:
            for name, each in self._cloners.items():
                clones[name] = self._clone(name, each)
            for name in to_hear_again(clones):
                self._hear_again(name, clones[name])
        except TooLong as late:  # something of Keras may be half done: nothing more is said from here
            return {"original": observation, "clones": {name: {"late": late.told()}}}
        if not is_deterministic(observation, clones, self._run_original_again, self._train_original_again):
            return {"refused": dict(NONDETERMINISTIC)}
        # What `fit` leaves in a model, no clone is to have; and a live model cannot be built again.
        whole = self._module is not None and not self._request.get("ran")
        build_again = None if self._module is None else self._built_again
        observation["varying"] = varying(
            self._original.holdings, self._unlike, self._unlike & self._set_by_runs, whole, build_again
        )
        self._write_leaks(clones)
        if self._module is None:
            self._put_back()
        leave_out(clones, self._warned_of, self._another_build)
        return {"original": observation, "clones": clones}

    def _build(self) -> Any:
        if self._module is None:
            return self._request["model"]
        model = self._run_source()
        self._known = dict(custom_objects(self._module), **self._known)
        return model

    def _run_source(self) -> Any:
        """The model that another run of the source leaves. What building warns of is heard, and never raised."""
        with self._warned_of.listening():
            return build(self._request["source"], self._module)

    def _build_both(self) -> tuple[Any, Any]:
        """The model, and the one that its clone is asked to be: itself where `clone_model` is given nothing else."""
        model = self._build()
        if not self._request.get("asked"):
            return model, model
        framework = self._observer.framework
        if "clone_function" not in self._calling.arguments:  # it gives layers the names of the model's
            framework.forget_names()
        framework.reseed(self._observer.seed)
        with self._warned_of.listening():
            return model, build_after(self._request["source"], self._request["asked"], self._module)

    def _take_to_clone(self, model: Any) -> None:
        """Look at the model that the cloners are given; where that is not the original, it has values of its own."""
        self._cloned, self._to_clone = self._original, self._kept
        if model is not self._original.model:
            self._cloned = Description(model, self._observer)
            self._cloned.hold(self._observer)
            self._to_clone = randomize(self._cloned, self._observer)
        self._fingerprint = self._cloned.fingerprint(self._observer) if self._cloners else None
        self._held = self._cloned.holdings
        self._owned = owned(model) if self._cloners else {}
        self._hold_what_runs_have_set()

    def _hold_what_runs_have_set(self) -> None:
        """Look at what the model holds anew, where it was run since."""
        if not self._held.are_as_begun():
            self._held = self._cloned.held_now(self._observer)

    def _renew(self) -> None:
        """Build the model again where a cloner has touched it, so that no other cloner answers for that.

        Another one that is asked for was given to none.
        """
        observer, before, cloned = self._observer, self._original, self._cloned
        both = cloned is before
        observer.framework.forget()
        observer.framework.reseed(observer.seed)
        model, asked = self._build_both() if both else (self._build(), before.model)
        if both:
            before.adopted_by(asked, observer)
            self._packing = asked
            self._original = Description(asked, observer)
            self._original.hold(observer)
            self._original.shape = before.shape
            self._kept = randomize(self._original, observer)
        if model is not asked:
            cloned.adopted_by(model, observer)
        self._take_to_clone(model)
        self._cloned.shape = cloned.shape
        self._touched = False

    def _draw(self) -> list[Any]:
        specs = specs_of(self._original.shape["inputs"], self._request.get("inputs"))
        return input_arrays(specs, self._request.get("batch"), self._observer.seed)

    def _built_again(self) -> Holdings:
        """What another build of the source holds, with other seeds."""
        return self._another_build(seed=500, values=False).held_now(self._observer)

    def _another_build(self, seed: int = 0, values: bool = True) -> Description:
        observer = self._observer
        observer.framework.forget()
        observer.framework.reseed(observer.seed + seed)
        self._other_build, asked = self._build_both()
        return Description(asked, observer, values)

    def _put_back(self) -> None:
        for weight, value in zip(self._original.weights, self._first_values):
            self._observer.framework.write(weight, value)

    # -- one model

    def _observe(self, description: Description, kept: VariableValues, trains: bool = True) -> dict[str, Any]:
        """A model's shape and its runs, and a training step where it `trains` and the trial is a costly one."""
        observation: dict[str, Any] = {"shape": description.shape}
        observation["copied_weights"] = [
            self._observer.digests.digest(value) for value in kept.values[: len(description.weights)]
        ]
        observation["inference"] = self._run(description, kept, training=False)
        # Where no layer takes `training`, a call in training mode is the call that was just made.
        framework, step = self._observer.framework, trains and self._costly
        scope = framework.recording() if step else None
        recorded = None if scope is None else Recorded(scope)
        if any(framework.trains(place.layer) for place in description.layers.places):
            ran = self._run(description, kept, training=True, recorded=recorded)
            if recorded is not None and not recorded.made:  # it may be the recording that raises
                ran = self._run(description, kept, training=True)
            observation["training"] = ran
        else:
            observation["training"] = observation["inference"]
        if step:
            observation["trained"] = train(description.model, self._arrays, self._observer, self._packing, recorded)
            kept.restore()
        return observation

    def _run(self, description: Description, kept: VariableValues, training: bool, recorded: Any = None) -> Any:
        answer = run(description, self._arrays, self._observer, self._packing, training, recorded)
        if recorded is None or not recorded.made:  # what a training step is to be made of, it needs as the call left it
            kept.restore()
        return answer

    def _run_original_again(self, training: bool) -> Any:
        self._kept.restore()  # a clone that shares layers with it may have left other values in them
        return self._run(self._original, self._kept, training)

    def _train_original_again(self) -> Any:
        self._kept.restore()
        trained = train(self._original.model, self._arrays, self._observer, self._packing)
        self._kept.restore()
        return trained

    # -- one cloner

    def _clone(self, name: str, each: Cloner) -> dict[str, Any]:
        calling = self._calling
        if self._touched and self._module is not None:
            self._renew()
        self._hold_what_runs_have_set()
        context, model = calling.begin(each, self._cloned.model, self._known)
        warned = Warned()
        clone, refused = calling.call(name, each, model, context, warned)
        answer: dict[str, Any] = {}
        if refused is None and warned.beside(self._warned_of):
            answer["warned"] = warned
        self._look_again(answer)
        if refused is not None:
            answer["failure"] = refused
            answer.update(calling.asked(None, self._cloned))
            return answer
        description, found = self._described(clone)
        self._leaks[name] = self._leaks_of(description)
        answer.update(calling.asked(description, self._cloned))
        answer["observation"] = self._observe_clone(name, description)
        if found and self._request.get("ran"):  # which set something in the original, and nothing in the clone yet
            now = self._original.held_now(self._observer), description.held_now(self._observer, self._cloned)
            self._set_by_runs.update(found - set(unlike(now[0].facts, now[1].facts)))
        if self._costly and (not self._asked_for_another or self._request.get("repeats")):
            self._again(name, each, context, description, answer)
        if self._request.get("keeps") or is_users(name):
            self._to_clone.restore()  # what the clone was given, the model that shares its layers was given, too
        return answer

    def _leaks_of(self, clone: Description) -> list[Leak]:
        """What of the original the clone reaches, and neither was given nor is told by what both hold."""
        if self._request.get("keeps") == "layers":
            return []
        known = self._calling.given_things()
        known += self._cloned.shared_with(clone, self._observer.framework)
        return leaks(clone.layers.objects(), self._cloned.layers.objects(), self._owned, known)

    def _write_leaks(self, clones: dict[str, Any]) -> None:
        """Write what of the original each clone reaches, but for what modules hold, or another build reaches too."""
        found = [leak for leaks_of_one in self._leaks.values() for leak in leaks_of_one]
        if not found:
            return
        common = held_by_modules(self._owned, whole_packages=self._module is None)
        if self._module is not None and any(id(leak.thing) not in common for leak in found):
            try:
                if self._other_build is None:
                    self._another_build(values=False)
                common.update(owned(self._other_build))
            except Exception:  # a source may be one that runs once only
                return
        for name, leaks_of_one in self._leaks.items():
            told = [leak for leak in leaks_of_one if id(leak.thing) not in common]
            if told:
                clones[name]["observation"]["leaks"] = [
                    {**leak._asdict(), "thing": type(leak.thing).__name__} for leak in told
                ]

    def _observe_clone(self, name: str, description: Description, trains: bool = True) -> dict[str, Any]:
        """What is seen of a clone of the original."""
        original, kept = self._original, self._kept
        copies = name in KEEP_VALUES
        shares = self._request.get("keeps") == "layers"
        keeps = copies or shares
        freshness = [True] * len(description.weights) if keeps else fresh(original, kept, description)
        brought = [self._observer.digests.digest(value) for value in description.initial] if copies else []
        ours, problem = copy(original, kept, description, self._observer)
        observation = self._observe(description, ours, trains)
        observation["fresh"] = freshness
        if self._request.get("ran"):
            observation["fresh_states"] = fresh_states(original, description)
        if copies:
            observation["brought"] = brought
        if problem:
            observation["copied"] = {"type": "ValueError", "message": problem, "frames": []}
        return observation

    def _look_again(self, answer: dict[str, Any]) -> None:
        """Whether the cloner left the original as it was: its shape, and the values of its variables."""
        written = self._to_clone.restore()
        held = self._held.are_as_begun()
        if held and not written and self._cloned.fingerprint(self._observer) == self._fingerprint:
            return
        before = self._cloned.shape
        after = Description(self._cloned.model, self._observer, values=False)
        for part, first in (("weights", 0), ("states", len(self._cloned.weights))):
            for number, (old, new) in enumerate(zip(before[part], after.shape[part]), first):
                if number in written:
                    new["value"] = "changed"
                elif "value" in old:
                    new["value"] = old["value"]
        after.shape["holdings"] = changed(before["holdings"], self._held, self._cloned.held_now(self._observer))
        if after.shape != before:
            answer["original_after"] = after.shape
            self._touched = True

    @contextlib.contextmanager
    def _one_more_clone(self, answer: dict[str, Any]) -> Iterator[None]:
        """A scope in which a cloner that has cloned before does so again: what it does to the original, it answers for.

        What our own runs have done since is no doing of its.
        """
        if not self._touched:
            self._to_clone.restore()
            self._hold_what_runs_have_set()
        yield
        if not self._touched:
            self._look_again(answer)

    def _hear_again(self, name: str, answer: dict[str, Any]) -> None:
        """Clone once more with a cloner, so that only what it warns of each time is told of it."""
        if self._touched:
            self._renew()
        each, warned = self._cloners[name], Warned()
        context, model = self._calling.begin(each, self._cloned.model, self._known)
        with self._one_more_clone(answer):
            self._calling.call(name, each, model, context, warned)
        answer["warned"] = answer["warned"].only(warned)

    def _described(self, clone: Any) -> tuple[Description, set[tuple[int, str]]]:
        """A clone, and where what it holds is not what the original does."""
        description = Description(clone, self._observer)
        held = description.hold(self._observer, self._cloned)
        found = set(unlike(self._original.holdings.facts, held.facts))
        self._unlike.update(found)
        if self._cloned is self._original and found:  # what it was when it was cloned, after a run, it may be, too
            self._set_by_runs.update(found - set(unlike(self._held.facts, held.facts)))
        return description, found

    def _again(
        self, name: str, each: Cloner, context: TrialContext, description: Description, answer: dict[str, Any]
    ) -> None:
        # The original's run once more: a cloner may have changed what no shape shows.
        inference = self._run(self._original, self._kept, training=False)
        if inference != self._first_inference:
            answer["inference_after"] = inference
        with self._one_more_clone(answer):
            second, refused = self._calling.call(name, each, self._cloned.model, context)
        if refused is None:
            answer["again"] = self._described(second)[0].shape
        else:
            answer["again_failure"] = refused
        with self._one_more_clone(answer):
            twice, refused = self._calling.call(name, each, description.model, context)
        if refused is None:
            answer["twice"] = self._observe_clone(name, self._described(twice)[0], trains=False)
        else:
            answer["twice_failure"] = refused
