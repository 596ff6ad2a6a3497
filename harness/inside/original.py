"""The original of a trial: its inputs, its values, and changes by a cloner."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from clonediff.harness.inside.description import Description
from clonediff.harness.inside.digests import same
from clonediff.harness.inside.facts import Facts, held_by
from clonediff.harness.inside.failures import failure
from clonediff.harness.inside.leaks import Objects, contents, in_common, leaks, owned, same_contents
from clonediff.harness.inside.observer import Observer
from clonediff.harness.inside.run import run, train
from clonediff.harness.inside.values import input_arrays, specs_of, target_arrays, weight_arrays
from clonediff.harness.observation import Case, Failure, Leak, ModelRun, Observation, Shape, Trained

_MANY = 64
"""Integers: arrays with fewer numbers may be equal by chance."""


class Live(NamedTuple):
    """An existing model, which may have been trained, and the warning filters of its user."""

    model: Any
    filters: Any


class Original:
    """A model and its observation; clones run on the same inputs and values."""

    def __init__(self, model: Any, case: Case, observer: Observer, live: bool) -> None:
        self.model = model
        self.is_live = live
        self.is_changed = self._is_touched = False
        """Whether a cloner has changed the model, or replaced objects by equal ones."""
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
        self._owned, self._owned_before = owned(model), _all_owned(description)
        self._contents: list[Any] = []
        self.snapshot(description.facts)  # read after the last run

    # -- observing the original and its clones

    def observe(self, description: Description, **begins: Any) -> Observation:
        inference = training = self.run(description)
        # If no layer uses `training`, a call in training mode gives the same.
        if any(map(self._framework.trains, description.layers.objects()[1:])):
            training = self.run(description, training=True)
        # Attributes are read after the runs, since runs set some of them.
        description.read_facts(None if description.model is self.model else self.description)
        values = description.values.values[: len(description.weights)]
        weights = tuple(map(self._observer.digests.digest, values))
        return Observation(description.shape, inference, training, copied_weights=weights, **begins)

    def observe_clone(self, description: Description) -> Observation:
        begins = self.begins(description)
        if self.is_live:
            begins["fresh_states"] = fresh_states(self.description, description)
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
        """The leaks of a clone, except through `known` or shared layers and variables."""
        known = known + self.description.shared_with(clone)
        objects = clone.layers.objects(), self.description.layers.objects()
        return leaks(*objects, self._owned, known, whole_packages=self.is_live)

    def dependent(self, clone: Description, inference: ModelRun | None) -> dict[str, ModelRun]:
        """Runs of either model that differ after all variables of the other have changed."""
        runs = {}
        for part, model, other, expected in (
            ("clone_dependent", clone, self.description, inference),
            ("original_dependent", self.description, clone, self.inference),
        ):
            other.values.change()
            result = self.run(model)
            other.values.restore()
            # The outputs of a model that draws or counts its calls change by themselves.
            if result != expected and self.run(model) == expected:
                runs[part] = result
        return runs

    def can_be_trained(self) -> bool:
        optimizer = None if self.observation.shape.compiled is None else getattr(self.model, "optimizer", None)
        if self.is_changed or self.is_live or optimizer is None:
            return False
        return not self._framework.read(optimizer.iterations)

    def train(self, description: Description) -> Trained:
        """Train a model; afterwards it cannot be observed any more."""
        values, _ = copy(self.description, self.values, description, self._observer)
        trained = train(description, self.model, self._arrays, self._targets, self._observer)
        values.restore()
        return trained

    # -- changes by a cloner

    def snapshot(self, facts: Facts | None = None) -> None:
        """Record the state of the original before cloning, since runs may have changed it."""
        if not same_contents(self._contents, self._contents_now()):
            self._before = self._shape_now(facts)
            self._owned_before = _all_owned(self.description)
            self._contents = self._contents_now()

    def find_changes(self, runs: bool) -> dict[str, Any]:
        """The changes by a cloner: structure, variables and, if it `runs`, outputs."""
        after: dict[str, Any] = {}
        written = self.values.restore()
        self._is_touched = bool(written) or not same_contents(self._contents, self._contents_now())
        try:
            shape = _marked(self._shape_now(), written) if self._is_touched else self._before
            self.is_changed = shape is not self._before and shape != self._before
        except Exception as error:  # the original can no longer be observed
            self.is_changed = True
            return {"inference_after": ModelRun(failure=failure(error))}
        if self.is_changed:
            after["original_after"] = shape
        inference = self.run(self.description) if runs or self._is_touched else self.inference
        return after if inference == self.inference else {**after, "inference_after": inference}

    def find_inserted(self, clone: Description) -> dict[str, Any]:
        """Mark the original as changed if the clone shares an object added to it."""
        if not self._is_touched or self.is_changed:
            return {}
        self.is_changed = bool(in_common(_all_owned(self.description), _all_owned(clone), self._owned_before))
        return {"original_after": self._before} if self.is_changed else {}

    def is_repeatable(self, training: bool) -> bool:
        self.values.restore()
        expected = self.observation.training if training else self.inference
        return self.run(self.description, training) == expected

    def _shape_now(self, facts: Facts | None = None) -> Shape:
        now = Description(self.model, self._observer, values=False)
        now.read_facts(facts=facts)
        return now.shape

    def _contents_now(self) -> list[Any]:
        others = self.description.facts.other_variables
        held = _held_by_functions(self.description)
        return contents(self._owned_before) + held + [self._framework.read(one).tobytes() for one in others]


def _all_owned(description: Description) -> Objects:
    return owned(description.model, _held_by_functions(description))


def _held_by_functions(description: Description) -> list[Any]:
    return [thing for function in description.facts.functions for _, thing in held_by(function)]


def _marked(shape: Shape, written: list[int]) -> Shape:
    """Mark the variables that were written to."""
    variables, count = [*shape.weights, *shape.states], len(shape.weights)
    for number in written[: len(variables)]:
        variables[number] = replace(variables[number], value="changed")
    return replace(shape, weights=tuple(variables[:count]), states=tuple(variables[count:]))


# -- the values of variables


class VariableValues:
    """Variables of a model, with their values at the beginning of every run."""

    def __init__(self, observer: Observer) -> None:
        self._framework = observer.framework
        self.variables: list[Any] = []
        self.values: list[Any] = []

    def keep(self, variable: Any, value: Any) -> None:
        self.variables.append(variable)
        self.values.append(value)

    def restore(self) -> list[int]:
        """Restore the variables that have changed, and return their numbers."""
        read, changed = self._framework.read, []
        for number, (variable, value) in enumerate(zip(self.variables, self.values, strict=False)):
            if not same(read(variable), value):
                changed.append(number)
                self._framework.write(variable, value)
        return changed

    def change(self) -> None:
        """Give each numeric variable another value."""
        for variable, value in zip(self.variables, self.values, strict=False):
            if value.dtype.kind not in "OSU":
                other = ~value if value.dtype.kind == "b" else (value * 0.5 + 1.0).astype(value.dtype)
                self._framework.write(variable, other)


def randomize(description: Description, observer: Observer) -> VariableValues:
    """Give every float weight a random value that no initializer draws."""
    framework, values = observer.framework, VariableValues(observer)
    # The shape of the value, since a variable's own shape may have open dimensions.
    weights = zip(description.shape.weights, description.initial, strict=False)
    shapes = [(weight.name.lower(), first.shape, weight.dtype) for weight, first in weights]
    arrays = weight_arrays(shapes, observer.seed)
    for weight, array, first in zip(description.weights, arrays, description.initial, strict=False):
        if array is None or None in list(weight.shape):  # a variable with an open shape holds adapted state
            values.keep(weight, first)
            continue
        framework.write(weight, array)
        values.keep(weight, array if array.dtype == first.dtype else framework.read(weight))
    framework.weights_written(description.model)
    for state, first in zip(description.states, description.first_states, strict=False):
        values.keep(state, first)
    return values


def copy(
    original: Description, values: VariableValues, clone: Description, observer: Observer
) -> tuple[VariableValues, str]:
    """Copy weights and states to a clone; return its values, and a problem if any."""
    framework, copied = observer.framework, VariableValues(observer)
    counts = len(original.weights), len(clone.weights)
    problem = "" if counts[0] == counts[1] else f"the original has {counts[0]} weights, the clone {counts[1]}"
    weights, states = values.values[: counts[0]], values.values[counts[0] :]
    for number, (variable, value) in enumerate(zip(clone.weights, clone.initial, strict=False)):
        if number < counts[0]:
            if weights[number].shape == value.shape or _fits(variable, weights[number]):
                framework.write(variable, weights[number])
                value = weights[number] if weights[number].dtype == value.dtype else framework.read(variable)
            else:
                shapes = f"has shape {weights[number].shape} in the original, {value.shape} in the clone"
                problem = problem or f"weight {number} {shapes}"
        copied.keep(variable, value)
    if not problem:
        framework.weights_written(clone.model, original.model)
    ours, theirs = ([(value.shape, value.dtype) for value in values] for values in (states, clone.first_states))
    states = states if ours == theirs else clone.first_states
    for variable, first, value in zip(clone.states, clone.first_states, states, strict=False):
        if not same(value, first):
            framework.write(variable, value)
        copied.keep(variable, value)
    return copied, problem


def _fits(variable: Any, value: Any) -> bool:
    """Whether a value fits the shape of a variable, which may have open dimensions."""
    shape = list(variable.shape)
    return len(shape) == value.ndim and all(
        size in (None, have) for size, have in zip(shape, value.shape, strict=False)
    )


# -- fresh values


def fresh(original: Description, values: VariableValues, clone: Description, repeats: bool) -> tuple[bool, ...]:
    """For each weight of the clone, whether its initial value is fresh.

    A weight with the current value of the original was copied. A weight with the initial value of the original was
    copied, or has a seed: then another build of the source, if there is one, `repeats` the value.
    """

    def is_fresh(first: Any, of_original: Any, value: Any) -> bool:
        if value is not of_original and same(first, value) and not same(value, of_original):
            return False
        return not (repeats and same(first, of_original) and _looks_drawn(first))

    more = len(clone.initial) - len(original.initial)
    return (*map(is_fresh, clone.initial, original.initial, values.values), *[True] * more)


def fresh_states(original: Description, clone: Description) -> tuple[bool, ...]:
    """For each state of the clone, whether it is not a state after a run.

    States of layers start with zeros. Seeds, and variables of no layer, are not checked.
    """
    return tuple(
        not (state.owner >= 0 and ours.dtype.kind == "f" and ours.any() and same(ours, theirs))
        for state, ours, theirs in zip(original.shape.states, original.first_states, clone.first_states, strict=False)
    )


def _looks_drawn(value: Any) -> bool:
    """Whether most numbers of an array differ, so that it is no constant."""
    if value.size < 2 or (value.dtype.kind in "iu" and value.size < _MANY):
        return False
    few = value.reshape(-1)[:_MANY].tolist()
    return len(set(few)) * 2 > len(few)
