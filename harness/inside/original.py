"""The original of a trial: the numbers that it and its clones run on, and whether a cloner has left it as it was."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from ..observation import Case, Failure, Leak, ModelRun, Observation, Shape, Trained
from .description import Description
from .facts import Facts, held_by
from .failures import failure
from .leaks import Objects, contents, in_common, leaks, owned, same_contents
from .observer import Observer
from .run import run, train
from .values import input_arrays, specs_of, target_arrays
from .variable_values import copy, fresh, randomize


class Live(NamedTuple):
    """A model that is there already, and was run and trained before, with the filters of warnings around the trial."""

    model: Any
    filters: Any


class Original:
    """A model, observed before it is cloned; its clones are observed on the same numbers."""

    def __init__(self, model: Any, case: Case, observer: Observer, live: bool) -> None:
        self.model = model
        self.is_live = live
        self.is_changed = self._is_other = False
        """Whether a cloner has changed it, and whether it holds other objects, be they alike."""
        self._observer, self._framework = observer, observer.framework
        self.description = description = Description(model, observer)
        observer.backend_draws = self._framework.draws(description.layers.objects()[1:], case.source)
        specs = specs_of(description.shape.inputs, list(case.inputs) or None)
        self._arrays = input_arrays(specs, case.batch, observer.seed)
        self.values = description.values = randomize(description, observer)
        observation = self.observe(description)
        self.inference = observation.inference
        outputs = observation.inference.outputs if observation.inference else ()
        self._targets = target_arrays([leaf.shape for leaf in outputs], observer.seed)
        first = (True,) * len(description.weights)
        self.observation = replace(observation, keeps_inputs=case.keeps_inputs, live=live, fresh=first)
        self._owned, self._used = owned(model), _used(description)
        self._contents: list[Any] = []
        self.remember(description.facts)  # which were read after the last run

    # -- it and its clones

    def observe(self, description: Description, **begins: Any) -> Observation:
        inference = training = self.run(description)
        # Where no layer takes `training`, a call in training mode is the call that was just made.
        if any(map(self._framework.trains, description.layers.objects()[1:])):
            training = self.run(description, training=True)
        # By now both have run: what a run sets in a model, a clone of it is to have after a run.
        description.hold(None if description.model is self.model else self.description)
        values = description.values.values[: len(description.weights)]
        weights = tuple(map(self._observer.digests.digest, values))
        return Observation(description.shape, inference, training, copied_weights=weights, **begins)

    def observe_clone(self, description: Description) -> Observation:
        begins = self.begins(description)
        description.values, problem = copy(self.description, self.values, description, self._observer)
        if problem:
            begins["copied"] = Failure("ValueError", problem)
        return self.observe(description, **begins)

    def begins(self, clone: Description) -> dict[str, Any]:
        return {"fresh": fresh(self.description, self.values, clone, repeats=not self.is_live)}

    def run(self, description: Description, training: bool = False) -> ModelRun:
        result = run(description, self._arrays, self._observer, self.model, training)
        description.values.restore()
        return result

    def leaks(self, clone: Description, known: list[Any]) -> tuple[Leak, ...]:
        """What of the original a clone reaches, but for what is `known`, what both hold, and modules have."""
        known = known + self.description.shared_with(clone)
        return leaks(clone.layers.objects(), self._owned, known, whole_packages=self.is_live)

    def dependent(self, clone: Description, inference: ModelRun | None) -> dict[str, ModelRun]:
        """The runs of a clone and of the original that differ once all variables of the other one have changed."""
        runs = {}
        for part, model, other, expected in (
            ("clone_dependent", clone, self.description, inference),
            ("original_dependent", self.description, clone, self.inference),
        ):
            other.values.change()
            result = self.run(model)
            other.values.restore()
            # A model that draws, or counts its calls, gives something else by itself.
            if result != expected and self.run(model) == expected:
                runs[part] = result
        return runs

    def can_be_trained(self) -> bool:
        optimizer = None if self.observation.shape.compiled is None else getattr(self.model, "optimizer", None)
        if self.is_changed or self.is_live or optimizer is None:
            return False
        return not self._framework.read(optimizer.iterations)

    def train(self, description: Description) -> Trained:
        """What training a model gives; of one that was trained nothing else is to be asked."""
        values, _ = copy(self.description, self.values, description, self._observer)
        trained = train(description, self.model, self._arrays, self._targets, self._observer)
        values.restore()
        return trained

    # -- before and after cloning

    def remember(self, facts: Facts | None = None) -> None:
        """Remember it as a cloner is given it, since runs may have set something in it."""
        if not same_contents(self._contents, self._contents_now()):
            self._before = self._shape_now(facts)
            self._used = _used(self.description)
            self._contents = self._contents_now()

    def look_again(self, runs: bool) -> dict[str, Any]:
        """What a cloner has changed in it: its shape, its variables and, where it `runs`, what it gives."""
        after: dict[str, Any] = {}
        written = self.values.restore()
        self._is_other = bool(written) or not same_contents(self._contents, self._contents_now())
        try:
            shape = _with_written(self._shape_now(), written) if self._is_other else self._before
            self.is_changed = shape is not self._before and shape != self._before
        except Exception as error:  # it can no longer be observed
            self.is_changed = True
            return {"inference_after": ModelRun(failure=failure(error))}
        if self.is_changed:
            after["original_after"] = shape
        inference = self.run(self.description) if runs or self._is_other else self.inference
        return after if inference == self.inference else {**after, "inference_after": inference}

    def look_for(self, clone: Description) -> dict[str, Any]:
        """Whether a cloner has put something into it that the clone has, too."""
        if not self._is_other or self.is_changed or not in_common(_used(self.description), _used(clone), self._used):
            return {}
        self.is_changed = True
        return {"original_after": self._before}

    def repeats(self, training: bool) -> bool:
        self.values.restore()
        expected = self.observation.training if training else self.inference
        return self.run(self.description, training) == expected

    def _shape_now(self, facts: Facts | None = None) -> Shape:
        now = Description(self.model, self._observer, values=False)
        now.hold(facts=facts)
        return now.shape

    def _contents_now(self) -> list[Any]:
        others = self.description.facts.other_variables
        held = _held(self.description)
        return contents(self._used) + held + [self._framework.read(one).tobytes() for one in others]


def _used(description: Description) -> Objects:
    return owned(description.model, _held(description))


def _held(description: Description) -> list[Any]:
    return [thing for function in description.facts.functions for _, thing in held_by(function)]


def _with_written(shape: Shape, written: list[int]) -> Shape:
    """A shape with the variables marked to which something was written."""
    variables, count = [*shape.weights, *shape.states], len(shape.weights)
    for number in written[: len(variables)]:
        variables[number] = replace(variables[number], value="changed")
    return replace(shape, weights=tuple(variables[:count]), states=tuple(variables[count:]))
