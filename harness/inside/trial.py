"""One trial: a model built from source, observed, cloned by each cloner, and each clone observed beside it.

`run_trial` is the one way to run a trial: `serve` calls it in a subject's child process, and a downstream project
calls it in its own.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Iterator

from .build import build, build_after, custom_objects, script
from .calling import Calling
from .cloners import Cloner, TrialContext, chosen_cloners
from .cloners.copies import KEEP_VALUES
from .cloners.users import is_users
from .description import Description
from .facts import Facts, may_vary, same_fact
from .failures import failure
from .frameworks import framework as framework_of
from .frameworks.interface import Framework
from .leaks import contents, held_by_modules, leaks, owned, same_contents
from .observer import Observer, tidy
from .run import run, train
from .values import input_arrays, specs_of
from .variable_values import VariableValues, copy, fresh, fresh_states, randomize
from .warned import Warned, unheard

Seen = dict[str, Any]
"""What `Observation`, `Shape` or `Clone` declares on the wire."""


def run_trial(request: dict[str, Any], framework: Framework | None = None, observer: Observer | None = None) -> Seen:
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
    answer["seconds"] = perf_counter() - began
    return answer


class _Trial:
    """The steps of one trial, in their order.

    The original is the model that a clone is to be. The model that is cloned is another where `clone_model` is given
    arguments that ask for another.
    """

    def __init__(self, request: dict[str, Any], module: Any, observer: Observer) -> None:
        self._request = request
        self._module = module
        self._observer = observer
        self._framework = observer.framework
        self._costly = bool(request.get("costly"))
        self._keeps = request.get("keeps", "")
        self._cloners = chosen_cloners(request.get("cloners", ()))
        self._known: dict[str, Any] = request.get("custom_objects") or {}
        self._calling = Calling(request, module, observer)
        self._warned_of = Warned()
        self._touched = False
        self._contents: list[Any] = []

    def run(self) -> Seen:
        began = perf_counter()
        try:
            model, asked = self._build()
        except Exception as error:  # the framework refuses to build: counted, and never a finding
            return {"refused": failure(error, below="_build")}
        self._original = original = Description(asked, self._observer)
        self._observer.backend_draws = self._framework.draws(
            original.layers.objects()[1:], self._request.get("source", "")
        )
        specs = specs_of(original.shape["inputs"], self._request.get("inputs"))
        self._arrays = input_arrays(specs, self._request.get("batch"), self._observer.seed)
        self._kept = randomize(original, self._observer)
        observation = self._observe(original, self._kept)
        observation.update(keeps=self._keeps, fresh=[True] * len(original.weights))
        self._first_inference = observation["inference"]
        self._take_to_clone(model)
        if model is not asked:
            observation["cloned"] = self._cloned.shape
        least, times = self._request.get("clone_seconds") or (0.0, 0.0)
        self._calling.seconds = max(least, times * (perf_counter() - began)) if least else 0.0
        clones: dict[str, Seen] = {}
        for name, cloner in self._cloners.items():
            clones[name] = self._clone(name, cloner)
            if self._touched:  # and no other cloner is to answer for that
                break
        self._observe_another(observation, list(clones.values()))
        if self._module is None:
            for weight, value in zip(original.weights, original.initial):
                self._framework.write(weight, value)
        for answer in clones.values():
            if "warned" in answer:
                answer["warned"] = answer["warned"].beside(self._warned_of)
        return {"original": observation, "clones": clones}

    def _build(self) -> tuple[Any, Any]:
        """The model, and the one that its clone is to be. What building warns of is heard, and never raised."""
        if self._module is None:
            return self._request["model"], self._request["model"]
        with self._warned_of.listening():
            model = build(self._request["source"], self._module)
            self._known = {**custom_objects(self._module), **self._known}
            if not self._request.get("asked"):
                return model, model
            if "clone_function" not in self._calling.arguments:  # it gives layers the names of the model's
                self._framework.forget_names()
            self._framework.reseed(self._observer.seed)
            return model, build_after(self._request["source"], self._request["asked"], self._module)

    # -- one model

    def _observe(self, description: Description, kept: VariableValues, trains: bool = True) -> Seen:
        """A model's shape and its runs, and a training step where it `trains` and the trial is a costly one."""
        digest, model = self._observer.digests.digest, description.model
        observation: Seen = {"shape": description.shape}
        observation["copied_weights"] = [digest(value) for value in kept.values[: len(description.weights)]]
        observation["inference"] = self._run(description, kept, training=False)
        # Where no layer takes `training`, a call in training mode is the call that was just made.
        observation["training"] = observation["inference"]
        if any(map(self._framework.trains, description.layers.objects()[1:])):
            observation["training"] = self._run(description, kept, training=True)
        if trains and self._costly:
            observation["trained"] = train(model, self._arrays, self._observer, self._original.model)
            kept.restore()
        # By now both have run: what a run sets in a model, a clone of it is to have after a run.
        description.hold(None if model is self._original.model else self._cloned)
        if self._request.get("ran"):  # what `fit` leaves in a model itself, no clone is to have
            description.shape["attributes"] = {}
        return observation

    def _run(self, description: Description, kept: VariableValues, training: bool) -> Any:
        answer = run(description, self._arrays, self._observer, self._original.model, training)
        kept.restore()
        return answer

    def _observe_clone(self, name: str, description: Description, trains: bool = True) -> Seen:
        """What is seen of a clone of the original."""
        original, copies = self._original, name in KEEP_VALUES
        digest = self._observer.digests.digest
        begins: Seen = {"fresh": [True] * len(description.weights)}
        if copies:
            begins["brought"] = [digest(value) for value in description.initial]
        elif self._keeps != "layers":
            begins["fresh"] = fresh(original, self._kept, description, repeats=self._module is not None)
        if self._request.get("ran"):
            begins["fresh_states"] = fresh_states(original, description)
        kept, problem = copy(original, self._kept, description, self._observer)
        if problem:
            begins["copied"] = {"type": "ValueError", "message": problem, "frames": []}
        return {**self._observe(description, kept, trains), **begins}

    # -- the model that is cloned

    def _take_to_clone(self, model: Any) -> None:
        """Look at the model that the cloners are given; where that is not the original, it has values of its own."""
        self._cloned, self._to_clone = self._original, self._kept
        if model is not self._original.model:
            self._cloned = Description(model, self._observer)
            self._cloned.hold()
            self._to_clone = randomize(self._cloned, self._observer)
        if self._cloners:
            self._owned = owned(model)
            self._remember(self._cloned.facts)  # which were read after the last run

    def _remember(self, facts: Facts | None = None) -> None:
        """Remember the model that the cloners are given as it is by now, since runs may have set something in it."""
        if not same_contents(self._contents, self._contents_now()):
            self._before = self._described_now(facts)
            self._contents = self._contents_now()

    def _described_now(self, facts: Facts | None = None) -> Seen:
        now = Description(self._cloned.model, self._observer, values=False)
        now.hold(facts=facts)
        return now.shape

    def _contents_now(self) -> list[Any]:
        variables = self._cloned.facts.other_variables
        return contents(self._owned) + [self._framework.read(variable).tobytes() for variable in variables]

    def _look_again(self, answer: Seen) -> None:
        """Whether the cloner left the original as it was: its shape, the values of its variables, and what it gives."""
        written = self._to_clone.restore()
        if not written and same_contents(self._contents, self._contents_now()):
            return
        after = self._described_now()
        variables = [*after["weights"], *after["states"]]
        for number in written:
            if number < len(variables):
                variables[number]["value"] = "changed"
        if after != self._before:
            answer["original_after"] = after
            self._touched = True
        inference = self._run(self._original, self._kept, training=False)
        if inference != self._first_inference:
            answer["inference_after"] = inference

    # -- one cloner

    def _clone(self, name: str, cloner: Cloner) -> Seen:
        calling, warned = self._calling, Warned()
        context, model = calling.begin(cloner, self._cloned.model, self._known)
        self._remember()
        clone, refused = calling.call(name, cloner, model, context, warned)
        answer: Seen = {}
        if refused is None and warned.beside(self._warned_of):
            answer["warned"] = warned
        self._look_again(answer)
        description = None if refused is not None else Description(clone, self._observer)
        answer.update(calling.asked(description, self._cloned.layers))
        if description is None:
            answer["failure"] = refused
            return answer
        answer["observation"] = self._observe_clone(name, description)
        self._write_leaks(answer["observation"], description)
        if self._costly and (not calling.arguments or self._request.get("repeats")):
            self._clone_again(name, cloner, context, description, answer)
        if self._keeps or is_users(name):
            self._to_clone.restore()  # what the clone was given, the model that shares its layers was given, too
        return answer

    def _write_leaks(self, observation: Seen, clone: Description) -> None:
        """Write what of the original a clone reaches, but for what it was given, what both hold, and modules have."""
        if self._keeps == "layers":
            return
        known = self._calling.given_things() + self._cloned.shared_with(clone)
        reached = leaks(clone.layers.objects(), self._cloned.layers.objects(), self._owned, known)
        common = held_by_modules(self._owned, whole_packages=self._module is None) if reached else {}
        own = [leak for leak in reached if id(leak.thing) not in common]
        if own:
            observation["leaks"] = [{**leak._asdict(), "thing": type(leak.thing).__name__} for leak in own]

    def _clone_again(
        self, name: str, cloner: Cloner, context: TrialContext, description: Description, answer: Seen
    ) -> None:
        """Clone once more, and clone the clone."""
        for part, model in (("again", self._cloned.model), ("twice", description.model)):
            if not self._touched:
                self._to_clone.restore()
                self._remember()
            clone, refused = self._calling.call(name, cloner, model, context)
            if not self._touched:
                self._look_again(answer)
            if refused is not None:
                answer[part + "_failure"] = refused
                continue
            second = Description(clone, self._observer)
            answer[part] = self._observe_clone(name, second, trains=False) if part == "twice" else _at_rest(second)

    # -- chance

    def _observe_another(self, observation: Seen, answers: list[Seen]) -> None:
        """Where a clone differs, observe another build of the source with other seeds: what differs in it is chance."""
        observer, framework = self._observer, self._framework
        clones = [answer[part] for answer in answers for part in ("observation", "again", "twice") if part in answer]
        runs = [part for part in _RUNS if any(part in clone and clone[part] != observation[part] for clone in clones)]
        runs += ["inference"] * any("inference_after" in answer for answer in answers)
        ours = _facts(observation)
        varying = {fact for clone in clones for fact in _varying(ours, _facts(clone))}
        begins = any(_begins_otherwise(observation, clone) for clone in clones)
        if not (runs or varying or begins or any("warned" in answer for answer in answers)):
            return
        if self._module is None:
            again = Description(self._original.model, observer)
            observation.update(live=True, another=self._observe(again, self._kept))
            return
        framework.forget()
        framework.reseed(observer.seed + 500)
        try:
            description = Description(self._build()[1], observer)
        except Exception:  # a source may be one that runs once only: nobody knows what of it is chance
            for clone in clones:
                for number, path in _varying(ours, _facts(clone)):
                    _facts(clone)[number][path] = ours[number][path]
                clone.pop("leaks", None)
            return
        description.facts = description.facts_beside(self._cloned)
        facts = description.facts.of
        if runs or any(not same_fact(ours[number][path], facts[number].get(path)) for number, path in varying):
            another = self._observe_clone("", description, trains="trained" in runs)
            repeated = all(another[part] == observation[part] for part in runs)
            if repeated and runs and not self._repeats(observation, runs[0]):
                another = self._observe_clone("", description)  # what counts its calls has gone on
        else:
            fresh_values = fresh(self._original, self._kept, description, repeats=True)
            another = {**_at_rest(description), "fresh": fresh_values}
        self._write_leaks(another, description)
        observation["another"] = another

    def _repeats(self, observation: Seen, part: str) -> bool:
        """Whether the original gives the same when it runs once more."""
        self._kept.restore()
        return bool(self._run(self._original, self._kept, training=part != "inference") == observation[part])


_RUNS = ("inference", "training", "trained")


def _at_rest(description: Description) -> Seen:
    return {"shape": description.shape}


def _begins_otherwise(original: Seen, clone: Seen) -> bool:
    """Whether a clone begins with a value, or reaches an object, that another build of the source may have as well."""
    values, others = ([state.get("value") for state in record["shape"]["states"]] for record in (original, clone))
    return "leaks" in clone or not all(clone.get("fresh", ())) or values != others


def _facts(seen: Seen) -> list[dict[str, str]]:
    return [thing.get("attributes", {}) for thing in (seen["shape"], *seen["shape"]["layers"])]


def _varying(ours: list[dict[str, str]], theirs: list[dict[str, str]]) -> Iterator[tuple[int, str]]:
    """The numbers of layers, and the paths, of facts that chance may have made otherwise in a clone."""
    for number, (facts, of_clone) in enumerate(zip(ours, theirs)):
        for path in facts.keys() & of_clone.keys() if facts != of_clone else ():
            if may_vary(facts[path], of_clone[path]):
                yield number, path
