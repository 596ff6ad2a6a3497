"""One trial: a model built from source, observed, cloned by each cloner, and each clone observed beside it.

`run_trial` is the one way to run a trial: `serve` calls it in a subject's child process, and a downstream project
calls it in its own.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from msgspec.structs import replace

from ..observation import Answer, Clone, Failure, Leak, ModelRun, Observation, Shape, Trained
from .build import build, custom_objects, script
from .calling import Calling
from .cloners import Cloner, TrialContext, chosen_cloners
from .cloners.copies import KEEP_VALUES
from .cloners.users import is_users
from .description import Description
from .facts import Facts
from .failures import failure
from .frameworks.interface import Framework
from .leaks import contents, leaks, owned, same_contents
from .observer import Observer, tidy
from .run import run, train
from .values import input_arrays, specs_of, target_arrays
from .variable_values import VariableValues, copy, fresh, fresh_states, randomize
from .warned import Warned, unheard


def run_trial(request: dict[str, Any], framework: Framework, observer: Observer | None = None) -> Answer:
    """The answer to a trial.

    `request["cloners"]` is a list of names, or a dict of names to cloners, each a name or a function of a model.
    Where one has changed the original, those after it are not called, and have no answer. Instead of `source`, `model`
    may have a live model: its weights are put back at the end.
    """
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
    return replace(answer, seconds=perf_counter() - began)


class _Trial:
    """The steps of one trial, in their order."""

    def __init__(self, request: dict[str, Any], module: Any, observer: Observer) -> None:
        self._request = request
        self._module = module
        self._observer = observer
        self._framework = observer.framework
        self._costly = bool(request.get("costly"))
        self._cloners = chosen_cloners(request.get("cloners", ()))
        self._known: dict[str, Any] = request.get("custom_objects") or {}
        self._calling = Calling(request, module, observer)
        self._heard = Warned()
        """The warnings of building the model."""
        self._warned: dict[str, Warned] = {}
        self._descriptions: dict[str, Description] = {}
        self._touched = False
        self._contents: list[Any] = []

    def run(self) -> Answer:
        began = perf_counter()
        try:
            model = self._build()
        except Exception as error:  # the framework refuses to build: counted, and never a finding
            return Answer(refused=failure(error, below="_build"))
        self._original = original = Description(model, self._observer)
        layers = original.layers.objects()[1:]
        self._observer.backend_draws = self._framework.draws(layers, self._request.get("source", ""))
        specs = specs_of(original.shape.inputs, self._request.get("inputs"))
        self._arrays = input_arrays(specs, self._request.get("batch"), self._observer.seed)
        self._values = original.values = randomize(original, self._observer)
        observation = self._observe(original, self._values)
        self._first_inference = observation.inference
        outputs = observation.inference.outputs if observation.inference else ()
        self._targets = target_arrays([leaf.shape for leaf in outputs], self._observer.seed)
        if self._cloners:
            self._owned = owned(model)
            self._remember(original.facts)  # which were read after the last run
        keeps_inputs = bool(self._request.get("keeps_inputs"))
        live = self._module is None
        observation = replace(observation, keeps_inputs=keeps_inputs, live=live, fresh=(True,) * len(original.weights))
        least, times = self._request.get("clone_seconds") or (0.0, 0.0)
        self._calling.seconds = max(least, times * (perf_counter() - began)) if least else 0.0
        clones: dict[str, Clone] = {}
        for name, cloner in self._cloners.items():
            clones[name] = self._clone(name, cloner)
            if self._touched:  # and no other cloner is to answer for that
                break
        observation = self._train(observation, clones)
        observation = self._observe_another(observation, clones)
        for name, warned in self._warned.items():
            clones[name] = replace(clones[name], warned=warned.beside(self._heard))
        if self._module is None:
            for weight, value in zip(original.weights, original.initial):
                self._framework.write(weight, value)
        return Answer(observation, clones=clones)

    def _build(self) -> Any:
        """The model. What building it warns of is heard, and never raised."""
        if self._module is None:
            return self._request["model"]
        with self._heard.listening():
            model = build(self._request["source"], self._module)
            self._known = {**custom_objects(self._module), **self._known}
            return model

    # -- one model

    def _observe(self, description: Description, values: VariableValues, **begins: Any) -> Observation:
        """A model's shape and its runs."""
        digest, shape = self._observer.digests.digest, description.shape
        inference = training = self._run(description, values, training=False)
        # Where no layer takes `training`, a call in training mode is the call that was just made.
        if any(map(self._framework.trains, description.layers.objects()[1:])):
            training = self._run(description, values, training=True)
        # By now both have run: what a run sets in a model, a clone of it is to have after a run.
        description.hold(None if description.model is self._original.model else self._original)
        weights = tuple(map(digest, values.values[: len(description.weights)]))
        return Observation(shape, inference, training, copied_weights=weights, **begins)

    def _run(self, description: Description, values: VariableValues, training: bool) -> ModelRun:
        result = run(description, self._arrays, self._observer, self._original.model, training)
        values.restore()
        return result

    def _observe_clone(self, name: str, description: Description) -> Observation:
        """A clone of the original, which is given the values of its weights."""
        original, begins = self._original, self._begins(description)
        if name in KEEP_VALUES:
            brought = tuple(map(self._observer.digests.digest, description.initial))
            begins = {"fresh": (True,) * len(brought), "brought": brought}
        if self._request.get("ran"):
            begins["fresh_states"] = fresh_states(original, description)
        description.values, problem = copy(original, self._values, description, self._observer)
        if problem:
            begins["copied"] = Failure("ValueError", problem)
        return self._observe(description, description.values, **begins)

    def _begins(self, description: Description) -> dict[str, Any]:
        return {"fresh": fresh(self._original, self._values, description, repeats=self._module is not None)}

    # -- the original, before and after

    def _remember(self, facts: Facts | None = None) -> None:
        """Remember the model that the cloners are given as it is by now, since runs may have set something in it."""
        if not same_contents(self._contents, self._contents_now()):
            self._before = self._shape_now(facts)
            self._contents = self._contents_now()

    def _shape_now(self, facts: Facts | None = None) -> Shape:
        now = Description(self._original.model, self._observer, values=False)
        now.hold(facts=facts)
        return now.shape

    def _contents_now(self) -> list[Any]:
        variables = self._original.facts.other_variables
        return contents(self._owned) + [self._framework.read(variable).tobytes() for variable in variables]

    def _look_again(self, answer: dict[str, Any]) -> None:
        """Whether the cloner left the original as it was: its shape, the values of its variables, and what it gives."""
        written = self._values.restore()
        if not written and same_contents(self._contents, self._contents_now()):
            if self._costly:  # a function may compute something else, which no attribute shows
                self._run_again(answer)
            return
        after = self._shape_now()
        if written:
            variables = [*after.weights, *after.states]
            for number in written[: len(variables)]:
                variables[number] = replace(variables[number], value="changed")
            count = len(after.weights)
            after = replace(after, weights=tuple(variables[:count]), states=tuple(variables[count:]))
        if after != self._before:
            answer["original_after"] = after
            self._touched = True
        self._run_again(answer)

    def _run_again(self, answer: dict[str, Any]) -> None:
        inference = self._run(self._original, self._values, training=False)
        if inference != self._first_inference:
            answer["inference_after"] = inference

    # -- one cloner

    def _clone(self, name: str, cloner: Cloner) -> Clone:
        calling, warned = self._calling, Warned()
        model = self._original.model
        context = calling.begin(cloner, model, self._known)
        self._remember()
        clone, refused = calling.call(name, cloner, model, context, warned)
        answer: dict[str, Any] = {"failure": refused}
        if refused is None:
            self._warned[name] = warned
        self._look_again(answer)
        if refused is not None:
            return Clone(**answer)
        self._descriptions[name] = description = Description(clone, self._observer)
        answer["observation"] = replace(self._observe_clone(name, description), leaks=self._leaks(description))
        if self._costly:
            answer.update(self._dependent(description, answer["observation"]))
            self._clone_again(name, cloner, context, description, answer)
        if self._request.get("keeps_inputs") or is_users(name):
            self._values.restore()  # what the clone was given, the model that shares its layers was given, too
        return Clone(**answer)

    def _dependent(self, clone: Description, observation: Observation) -> dict[str, ModelRun]:
        """The runs of the clone and of the original that differ once all variables of the other one have changed."""
        original, runs = self._original, {}
        for part, model, other, expected in (
            ("clone_dependent", clone, original, observation.inference),
            ("original_dependent", original, clone, self._first_inference),
        ):
            other.values.change()
            run = self._run(model, model.values, training=False)
            other.values.restore()
            # One that draws, or counts its calls, gives something else by itself.
            if run != expected and self._run(model, model.values, training=False) == expected:
                runs[part] = run
        return runs

    def _leaks(self, clone: Description) -> tuple[Leak, ...]:
        """What of the original a clone reaches, but for what it was given, what both hold, and modules have."""
        known, objects = self._calling.objects() + self._original.shared_with(clone), self._original.layers.objects()
        return leaks(clone.layers.objects(), objects, self._owned, known, whole_packages=self._module is None)

    def _clone_again(
        self, name: str, cloner: Cloner, context: TrialContext, description: Description, answer: dict[str, Any]
    ) -> None:
        """Clone once more, and clone the clone."""
        for part, model in (("again", self._original.model), ("twice", description.model)):
            if not self._touched:
                self._values.restore()
                self._remember()
            clone, refused = self._calling.call(name, cloner, model, context)
            if not self._touched:
                self._look_again(answer)
            if refused is not None:
                answer[part + "_failure"] = refused
                continue
            again = Description(clone, self._observer)
            answer[part] = self._observe_clone(name, again) if part == "twice" else Observation(again.shape)

    # -- training

    def _train(self, observation: Observation, clones: dict[str, Clone]) -> Observation:
        """Train the original and its clones, now that nothing else is asked of them: training leaves many traces."""
        optimizer = None if observation.shape.compiled is None else self._original.model.optimizer
        if not self._costly or self._touched or self._module is None or optimizer is None:
            return observation
        if self._framework.read(optimizer.iterations):  # that of a clone begins anew
            return observation
        trained = self._trained(self._original)
        for name, description in self._descriptions.items() if trained.failure is None else ():
            clone = clones[name].observation
            if clone is not None and clone.shape.compiled is not None:
                clones[name] = replace(clones[name], observation=replace(clone, trained=self._trained(description)))
        return replace(observation, trained=trained)

    def _trained(self, description: Description) -> Trained:
        values, _ = copy(self._original, self._values, description, self._observer)
        trained = train(description, self._original.model, self._arrays, self._targets, self._observer)
        values.restore()
        return trained

    # -- chance

    def _observe_another(self, observation: Observation, answers: dict[str, Clone]) -> Observation:
        """Where a clone differs, observe another build of the source with other seeds: what differs in it is chance."""
        parts = [(answer.observation, answer.again, answer.twice) for answer in answers.values()]
        clones = [clone for clone in (clone for part in parts for clone in part) if clone is not None]
        runs = [part for part in _RUNS if any(_differ(part, observation, clone) for clone in clones)]
        runs += ["inference"] * any(answer.inference_after is not None for answer in answers.values())
        warned = any(warned.beside(self._heard) for warned in self._warned.values())
        if not (runs or warned or any(_may_differ(observation, clone) for clone in clones)):
            return observation
        if self._module is None:
            again = Description(self._original.model, self._observer)
            return replace(observation, another=self._observe(again, self._values))
        self._framework.forget()
        self._framework.reseed(self._observer.seed + 500)
        try:
            description = Description(self._build(), self._observer)
        except Exception:  # a source may be one that runs once only
            return replace(observation, unrepeatable=True)
        description.hold(self._original)
        if not runs and description.shape.facts == observation.shape.facts:
            another = Observation(description.shape, **self._begins(description))
        else:
            another, models = self._observe_clone("", description), [part for part in runs if part != "trained"]
            same = not any(_differ(part, observation, another) for part in models)
            if models and same and not self._repeats(observation, models[0]):
                another = self._observe_clone("", description)  # what counts its calls has gone on
            if "trained" in runs:
                another = replace(another, trained=self._trained(description))
        return replace(observation, another=replace(another, leaks=self._leaks(description)))

    def _repeats(self, observation: Observation, part: str) -> bool:
        """Whether the original gives the same when it runs once more."""
        self._values.restore()
        training = part != "inference"
        return bool(self._run(self._original, self._values, training) == getattr(observation, part))


_RUNS = ("inference", "training", "trained")


def _differ(part: str, original: Observation, clone: Observation) -> bool:
    return getattr(clone, part) not in (None, getattr(original, part))


def _may_differ(original: Observation, clone: Observation) -> bool:
    """Whether a clone holds something else, or begins with other values."""
    values, expected = ([state.value for state in shape.states] for shape in (clone.shape, original.shape))
    return bool(clone.leaks) or not all(clone.fresh) or values != expected or clone.shape.facts != original.shape.facts
