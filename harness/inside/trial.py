"""One trial: a model built from source, observed, cloned by each cloner, and each clone observed beside it.

`run_trial` is the one way to run a trial: `serve` calls it in a subject's child process, and a downstream project
calls it in its own.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from .build import build, build_after, custom_objects, script
from .calling import Calling
from .canonical import forget_functions
from .cloners import Cloner, TrialContext, chosen_cloners
from .cloners.copies import KEEP_VALUES
from .cloners.users import is_users
from .description import Description
from .facts import Facts, may_vary, same_fact
from .failures import failure
from .frameworks import framework as framework_of
from .frameworks.interface import Framework
from .freshness import fresh, fresh_states
from .housekeeping import tidy
from .leaks import contents, held_by_modules, leaks, owned, same_contents
from .observer import Observer
from .run import run, train
from .values import input_arrays, specs_of
from .variable_values import VariableValues, copy, randomize
from .warned import Warned, unheard


def run_trial(
    request: dict[str, Any],
    framework: Framework | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """The answer to a trial, as `Answer` declares it on the wire.

    `request["cloners"]` is a list of names, or a dict of names to cloners, each a name or a function of a model.
    Where one has changed the original, those after it are not called, and have no answer. Instead of `source`, `model`
    may have a live model: its weights are put back at the end. Where `clone_model` is given `arguments`, a clone is
    held against the model that they ask for, which `asked` builds.
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
        self._began = perf_counter()

    def run(self) -> dict[str, Any]:
        try:
            model, asked = self._build_both()
        except Exception as error:  # the framework refuses to build: counted, and never a finding
            return {"refused": failure(error, below="_build")}
        self._original = Description(asked, self._observer)
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
        least, times = self._request.get("clone_seconds") or (0.0, 0.0)
        self._calling.seconds = max(least, times * (perf_counter() - self._began)) if least else 0.0
        self._first_inference = observation["inference"]
        clones: dict[str, Any] = {}
        for name, each in self._cloners.items():
            clones[name] = self._clone(name, each)
            if self._touched:  # and no other cloner is to answer for that
                break
        seen = [answer[part] for answer in clones.values() for part in PARTS if part in answer]
        runs = any(runs_otherwise(observation, each) for each in seen)
        runs = runs or any("inference_after" in answer for answer in clones.values())
        facts = any(has_other_facts(observation["shape"], each["shape"]) for each in seen)
        warned = any("warned" in answer for answer in clones.values())
        if runs or facts or warned or any(begins_otherwise(observation, each) for each in seen):
            self._observe_another(observation, seen, runs, facts)
        if self._module is None:
            self._put_back()
        for answer in clones.values():
            if "warned" in answer:
                answer["warned"] = answer["warned"].beside(self._warned_of)
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
            self._cloned.hold()
            self._to_clone = randomize(self._cloned, self._observer)
        self._owned = owned(model) if self._cloners else {}
        self._before: dict[str, Any] | None = None
        if self._cloners:
            self._remember(self._cloned.facts)  # which were read after the last run

    def _remember(self, facts: Facts | None = None) -> None:
        """Remember the model that the cloners are given as it is by now; its `facts` may be known."""
        now = self._described_now(facts)
        self._before = now.shape
        in_place = now.facts.has_arrays or self._observer.values_by_chance
        self._contents = None if in_place else contents(self._owned)

    def _described_now(self, facts: Facts | None = None) -> Description:
        now = Description(self._cloned.model, self._observer, values=False)
        now.hold(facts=facts)
        return now

    def _draw(self) -> list[Any]:
        specs = specs_of(self._original.shape["inputs"], self._request.get("inputs"))
        return input_arrays(specs, self._request.get("batch"), self._observer.seed)

    def _observe_another(
        self, observation: dict[str, Any], clones: list[dict[str, Any]], runs: bool, facts: bool
    ) -> None:
        """Observe another build of the source, with other seeds, as if a cloner had made it: what differs is chance.

        It is run where the `runs` of a clone differ, or its `facts`, which are those of a model that has run; where
        they are the same without a run, they need none.
        """
        observer = self._observer
        if self._module is None:
            again = Description(self._original.model, observer)
            observation.update(live=True, another=self._observe(again, self._kept))
            return
        observer.framework.forget()
        observer.framework.reseed(observer.seed + 500)
        try:
            description = Description(self._build_both()[1], observer)
        except Exception:  # a source may be one that runs once only: nobody knows what of it is chance
            for each in [observation, *clones]:
                say_nothing_of_facts(each["shape"])
                each.pop("leaks", None)
            return
        description.hold(self._cloned)
        facts = facts and any(
            has_other_facts(observation["shape"], each["shape"], description.shape) for each in clones
        )
        if runs or facts:
            another = self._observe_clone("", description, trains=runs)
            if runs and not runs_otherwise(observation, another):
                another = self._observe_clone("", description)  # what counts its calls has gone on
        else:
            say_nothing_of_facts(description.shape)  # as it has not run
            another = {"shape": description.shape, "fresh": fresh(self._original, self._kept, description, True)}
        self._write_leaks(another, description)
        observation["another"] = another

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
        observation["training"] = observation["inference"]
        framework, step = self._observer.framework, trains and self._costly
        recorded: tuple[Any, Any] = None, None
        if any(framework.trains(place.layer) for place in description.layers.places):
            scope = framework.tensors.recording() if step else None
            if scope is not None:
                ran, outputs = run(description, self._arrays, self._observer, self._packing, True, scope)
                recorded = (None, None) if outputs is None else (scope, outputs)
            if recorded[0] is None:  # it may be the recording that raises
                kept.restore()
                ran = self._run(description, kept, training=True)
            observation["training"] = ran
        if step:
            observation["trained"] = train(description.model, self._arrays, self._observer, self._packing, *recorded)
            kept.restore()
        # By now both have run: what a run sets in a model, a clone of it is to have after a run.
        description.hold(None if description.model is self._original.model else self._cloned)
        if self._request.get("ran"):  # what `fit` leaves in a model itself, no clone is to have
            description.shape["attributes"] = {}
        return observation

    def _run(self, description: Description, kept: VariableValues, training: bool) -> Any:
        answer, _ = run(description, self._arrays, self._observer, self._packing, training)
        kept.restore()
        return answer

    # -- one cloner

    def _clone(self, name: str, each: Cloner) -> dict[str, Any]:
        calling = self._calling
        context, model = calling.begin(each, self._cloned.model, self._known)
        warned = Warned()
        if self._before is None:
            self._remember()
        clone, refused = calling.call(name, each, model, context, warned)
        answer: dict[str, Any] = {}
        if refused is None and warned.beside(self._warned_of):
            answer["warned"] = warned
        self._look_again(answer)
        if refused is not None:
            answer["failure"] = refused
            answer.update(calling.asked(None, self._cloned.layers))
            return answer
        description = Description(clone, self._observer)
        answer.update(calling.asked(description, self._cloned.layers))
        answer["observation"] = self._observe_clone(name, description)
        self._write_leaks(answer["observation"], description)
        if self._costly and (not self._asked_for_another or self._request.get("repeats")):
            self._again(name, each, context, description, answer)
        if description.layers.index.keys() & self._cloned.layers.index.keys():
            self._before = None  # whose runs may set something in the original
        if self._request.get("keeps") or is_users(name):
            self._to_clone.restore()  # what the clone was given, the model that shares its layers was given, too
        return answer

    def _write_leaks(self, observation: dict[str, Any], clone: Description) -> None:
        """Write what of the original a clone reaches, but for what it was given, what both hold, and modules have."""
        if self._request.get("keeps") == "layers":
            return
        known = self._calling.given_things()
        known += self._cloned.shared_with(clone)
        found = leaks(clone.layers.objects(), self._cloned.layers.objects(), self._owned, known)
        common = held_by_modules(self._owned, whole_packages=self._module is None) if found else {}
        told = [leak for leak in found if id(leak.thing) not in common]
        if told:
            observation["leaks"] = [{**leak._asdict(), "thing": type(leak.thing).__name__} for leak in told]

    def _observe_clone(self, name: str, description: Description, trains: bool = True) -> dict[str, Any]:
        """What is seen of a clone of the original."""
        original, kept = self._original, self._kept
        copies = name in KEEP_VALUES
        shares = self._request.get("keeps") == "layers"
        keeps = copies or shares
        freshness = [True] * len(description.weights)
        if not keeps:
            freshness = fresh(original, kept, description, repeats=self._module is not None)
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
        if not written and self._contents is not None and same_contents(self._contents, contents(self._owned)):
            return
        after = self._described_now().shape
        variables = [*after["weights"], *after["states"]]
        for number in written:
            if number < len(variables):
                variables[number]["value"] = "changed"
        if after != self._before:
            answer["original_after"] = after
            self._touched = True

    def _again(
        self, name: str, each: Cloner, context: TrialContext, description: Description, answer: dict[str, Any]
    ) -> None:
        """Look at the original's run once more, since a cloner may have changed what no shape shows; clone once more,
        and clone the clone.
        """
        inference = self._run(self._original, self._kept, training=False)
        if inference != self._first_inference:
            answer["inference_after"] = inference
        if not self._touched:
            self._remember()
        for part, model in (("again", self._cloned.model), ("twice", description.model)):
            if not self._touched:
                self._to_clone.restore()
            clone, refused = self._calling.call(name, each, model, context)
            if not self._touched:
                self._look_again(answer)
            if refused is not None:
                answer[part + "_failure"] = refused
                continue
            answer[part] = self._observe_clone(name, Description(clone, self._observer), trains=False)


PARTS = ("observation", "again", "twice")
"""The models that an answer of a cloner has."""


def runs_otherwise(original: dict[str, Any], seen: dict[str, Any]) -> bool:
    """Whether a clone runs otherwise than the original, or is trained otherwise."""
    return any(seen[part] != original[part] for part in ("inference", "training", "trained") if part in seen)


def has_other_facts(original: dict[str, Any], clone: dict[str, Any], another: dict[str, Any] | None = None) -> bool:
    """Whether a clone holds what chance may have made otherwise, and `another` build, if there is one, as well."""
    ours, theirs, repeated = (
        [each["attributes"] for each in (shape, *shape["layers"])] if shape else []
        for shape in (original, clone, another)
    )
    repeated = repeated or [{}] * len(ours)
    return any(
        may_vary(facts.get(path, ""), other.get(path, "")) and not same_fact(facts.get(path, ""), repeats.get(path))
        for facts, other, repeats in zip(ours, theirs, repeated)
        if facts != other
        for path in {**facts, **other}
    )


def say_nothing_of_facts(shape: dict[str, Any]) -> None:
    for each in [shape, *shape["layers"]]:
        each["attributes"] = {}


def begins_otherwise(original: dict[str, Any], seen: dict[str, Any]) -> bool:
    """Whether a clone begins with a value, or reaches an object, that another build of the source may have as well."""
    states, others = ([state.get("value") for state in each["shape"]["states"]] for each in (original, seen))
    return "leaks" in seen or not all(seen["fresh"]) or states != others
