"""A trial's original: its inputs, its values, and how cloners change it."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from clonediff.harness.inside.context import Context
from clonediff.harness.inside.description import Description
from clonediff.harness.inside.digests import are_equal
from clonediff.harness.inside.facts import Facts, objects_in_function
from clonediff.harness.inside.failures import failure
from clonediff.harness.inside.leaks import Objects, common_objects, leaks, owned_objects, referents_of, same_referents
from clonediff.harness.inside.run import run, train
from clonediff.harness.inside.values import input_arrays, specs_of, target_arrays, weight_arrays
from clonediff.harness.observation import Case, Failure, Leak, ModelRun, Observation, Structure, TrainingResults

_SAMPLE_SIZE = 64
"""How many numbers of an array are compared. Fewer integers may be equal by chance."""


class LiveModel(NamedTuple):
    """A user's model, and the user's warning filters."""

    model: Any
    filters: Any


class Original:
    """A model and its observation; clones run on the same inputs and values."""

    def __init__(self, model: Any, case: Case, context: Context, is_live: bool) -> None:
        self.model = model
        self.is_live = is_live
        self.is_changed = self._has_new_objects = False
        """Whether a cloner changed the model, or replaced objects with equal ones."""
        self._context, self._framework = context, context.framework
        self.description = description = Description(model, context)
        layers = description.layers.model_and_layers()[1:]
        context.seeds_backend = self._framework.draws_from_backend(layers, case.source)
        specs = specs_of(description.structure.inputs, list(case.inputs) or None)
        self._arrays = input_arrays(specs, case.batch, context.seed)
        self.values = description.values = randomize(description, context)
        observation = self.observe(description)
        self.inference = observation.inference
        outputs = observation.inference.outputs if observation.inference else ()
        self._targets = target_arrays([leaf.shape for leaf in outputs], context.seed)
        fresh = (True,) * len(description.weights)
        self.observation = replace(observation, keeps_inputs=case.keeps_inputs, is_live=is_live, fresh_weights=fresh)
        self._objects = owned_objects(model)
        self._objects_before = _model_objects(description)
        self._referents: list[Any] = []
        self.snapshot(description.facts)  # `observe` read these facts after the runs

    # -- observing the original and its clones

    def observe(self, description: Description, **freshness: Any) -> Observation:
        inference = training = self.run(description)
        # If no layer uses `training`, both modes have the same result.
        if any(map(self._framework.uses_training, description.layers.model_and_layers()[1:])):
            training = self.run(description, training=True)
        # Attributes are read after the runs, since runs set some of them.
        description.set_facts(None if description.model is self.model else self.description)
        values = description.values.values[: len(description.weights)]
        weights = tuple(map(self._context.digests.digest, values))
        return Observation(description.structure, inference, training, copied_weights=weights, **freshness)

    def observe_clone(self, description: Description) -> Observation:
        freshness = self.freshness(description)
        if self.is_live:
            freshness["fresh_states"] = are_states_fresh(self.description, description)
        description.values, problem = copy_values(self.description, self.values, description, self._context)
        if problem:
            freshness["copy_failure"] = Failure("ValueError", problem)
        return self.observe(description, **freshness)

    def freshness(self, clone: Description) -> dict[str, Any]:
        return {"fresh_weights": are_fresh(self.description, self.values, clone, can_rebuild=not self.is_live)}

    def run(self, description: Description, training: bool = False) -> ModelRun:
        result = run(description, self._arrays, self._context, self.model, training)
        description.values.restore()
        return result

    def leaks(self, clone: Description, known: list[Any]) -> tuple[Leak, ...]:
        """A clone's leaks, without `known` objects and shared layers and variables."""
        known = known + self.description.shared_objects(clone)
        objects = clone.layers.model_and_layers(), self.description.layers.model_and_layers()
        return leaks(*objects, self._objects, known, whole_packages=self.is_live)

    def dependent_runs(self, clone: Description, inference: ModelRun | None) -> dict[str, ModelRun]:
        """One model's runs that differ after a change to the other's variables."""
        runs = {}
        for field, model, other, expected in (
            ("clone_rerun", clone, self.description, inference),
            ("original_rerun", self.description, clone, self.inference),
        ):
            other.values.change()
            result = self.run(model)
            other.values.restore()
            # If a model draws numbers or counts calls, its outputs change anyway.
            if result != expected and self.run(model) == expected:
                runs[field] = result
        return runs

    def can_be_trained(self) -> bool:
        optimizer = None if self.observation.structure.compiled is None else getattr(self.model, "optimizer", None)
        if self.is_changed or self.is_live or optimizer is None:
            return False
        return not self._framework.read(optimizer.iterations)

    def train(self, description: Description) -> TrainingResults:
        """Train a model; nothing else may use it afterwards."""
        values, _ = copy_values(self.description, self.values, description, self._context)
        results = train(description, self.model, self._arrays, self._targets, self._context)
        values.restore()
        return results

    # -- changes by a cloner

    def snapshot(self, facts: Facts | None = None) -> None:
        """Record the state of the original before cloning: runs may change it."""
        if not same_referents(self._referents, self._current_referents()):
            self._structure_before = self._current_structure(facts)
            self._objects_before = _model_objects(self.description)
            self._referents = self._current_referents()

    def find_changes(self, must_run: bool) -> dict[str, Any]:
        """Find changes by a cloner; run the model again if `must_run` or objects are new."""
        changes: dict[str, Any] = {}
        changed = self.values.restore()
        self._has_new_objects = bool(changed) or not same_referents(self._referents, self._current_referents())
        try:
            structure = self._structure_before
            if self._has_new_objects:
                structure = _mark_changed(self._current_structure(), changed)
            self.is_changed = self._has_new_objects and structure != self._structure_before
        except Exception as error:  # the original can no longer be observed
            self.is_changed = True
            return {"inference_after": ModelRun(failure=failure(error))}
        if self.is_changed:
            changes["original_after"] = structure
        inference = self.run(self.description) if must_run or self._has_new_objects else self.inference
        return changes if inference == self.inference else {**changes, "inference_after": inference}

    def find_inserted_objects(self, clone: Description) -> dict[str, Any]:
        """Find whether the original shares a new object with the clone, and so has changed."""
        if not self._has_new_objects or self.is_changed:
            return {}
        objects, clone_objects = map(_model_objects, (self.description, clone))
        self.is_changed = bool(common_objects(objects, clone_objects, self._objects_before))
        return {"original_after": self._structure_before} if self.is_changed else {}

    def is_repeatable(self, training: bool) -> bool:
        self.values.restore()
        expected = self.observation.training if training else self.inference
        return self.run(self.description, training) == expected

    def _current_structure(self, facts: Facts | None = None) -> Structure:
        description = Description(self.model, self._context, reads_values=False)
        description.set_facts(facts=facts)
        return description.structure

    def _current_referents(self) -> list[Any]:
        values = [self._framework.read(variable).tobytes() for variable in self.description.facts.other_variables]
        objects = _objects_in_functions(self.description)
        return referents_of(self._objects_before) + objects + values


def _model_objects(description: Description) -> Objects:
    return owned_objects(description.model, _objects_in_functions(description))


def _objects_in_functions(description: Description) -> list[Any]:
    return [item for function in description.facts.functions for _, item in objects_in_function(function)]


def _mark_changed(structure: Structure, indices: list[int]) -> Structure:
    """Mark the variables with these indices as changed."""
    variables, count = [*structure.weights, *structure.states], len(structure.weights)
    for index in indices[: len(variables)]:
        variables[index] = replace(variables[index], value="changed")
    return replace(structure, weights=tuple(variables[:count]), states=tuple(variables[count:]))


# -- the values of variables


class VariableValues:
    """A model's variables, with their values before each run."""

    def __init__(self, context: Context) -> None:
        self._framework = context.framework
        self.variables: list[Any] = []
        self.values: list[Any] = []

    def add(self, variable: Any, value: Any) -> None:
        self.variables.append(variable)
        self.values.append(value)

    def restore(self) -> list[int]:
        """Restore variables that have changed, and return their indices."""
        read, changed = self._framework.read, []
        for number, (variable, value) in enumerate(zip(self.variables, self.values, strict=False)):
            if not are_equal(read(variable), value):
                changed.append(number)
                self._framework.write(variable, value)
        return changed

    def change(self) -> None:
        for variable, value in zip(self.variables, self.values, strict=False):
            if value.dtype.kind not in "OSU":
                new_value = ~value if value.dtype.kind == "b" else (value * 0.5 + 1.0).astype(value.dtype)
                self._framework.write(variable, new_value)


def randomize(description: Description, context: Context) -> VariableValues:
    """Give float weights random values that no initializer would draw."""
    framework, values = context.framework, VariableValues(context)
    # A variable may have unknown dimensions, but its value has none.
    weights = zip(description.structure.weights, description.initial_weights, strict=False)
    shapes = [(weight.name.lower(), initial.shape, weight.dtype) for weight, initial in weights]
    arrays = weight_arrays(shapes, context.seed)
    for weight, array, initial in zip(description.weights, arrays, description.initial_weights, strict=False):
        if array is None or None in list(weight.shape):  # it holds adapted state, whose size is unknown
            values.add(weight, initial)
            continue
        framework.write(weight, array)
        values.add(weight, array if array.dtype == initial.dtype else framework.read(weight))
    framework.finish_writing_weights(description.model)
    for state, initial in zip(description.states, description.initial_states, strict=False):
        values.add(state, initial)
    return values


def copy_values(
    original: Description, values: VariableValues, clone: Description, context: Context
) -> tuple[VariableValues, str]:
    """Copy weights and states to a clone; return its values, and a problem or ""."""
    framework, clone_values = context.framework, VariableValues(context)
    counts = len(original.weights), len(clone.weights)
    problem = "" if counts[0] == counts[1] else f"the original has {counts[0]} weights, the clone {counts[1]}"
    weights, states = values.values[: counts[0]], values.values[counts[0] :]
    for number, (variable, value) in enumerate(zip(clone.weights, clone.initial_weights, strict=False)):
        if number < counts[0]:
            if weights[number].shape == value.shape or _fits(variable, weights[number]):
                framework.write(variable, weights[number])
                value = weights[number] if weights[number].dtype == value.dtype else framework.read(variable)
            else:
                shapes = f"has shape {weights[number].shape} in the original, {value.shape} in the clone"
                problem = problem or f"weight {number} {shapes}"
        clone_values.add(variable, value)
    if not problem:
        framework.finish_writing_weights(clone.model, original.model)
    types = [[(value.shape, value.dtype) for value in values] for values in (states, clone.initial_states)]
    states = states if types[0] == types[1] else clone.initial_states
    for variable, initial, value in zip(clone.states, clone.initial_states, states, strict=False):
        if not are_equal(value, initial):
            framework.write(variable, value)
        clone_values.add(variable, value)
    return clone_values, problem


def _fits(variable: Any, value: Any) -> bool:
    """Whether a value fits a variable's shape, which may have unknown dimensions."""
    shape = list(variable.shape)
    return len(shape) == value.ndim and all(
        size in (None, found) for size, found in zip(shape, value.shape, strict=False)
    )


# -- fresh values


def are_fresh(original: Description, values: VariableValues, clone: Description, can_rebuild: bool) -> tuple[bool, ...]:
    """For each weight of the clone, whether its initial value is fresh.

    A value is not fresh if it is the original's current value. If it is the original's initial value, it was copied or
    comes from a seed: if the source `can_rebuild` the model, it is not fresh, and the null model shows which is true.
    """

    def is_fresh(initial: Any, original_initial: Any, value: Any) -> bool:
        if value is not original_initial and are_equal(initial, value) and not are_equal(value, original_initial):
            return False
        return not (can_rebuild and are_equal(initial, original_initial) and _looks_drawn(initial))

    extra_count = len(clone.initial_weights) - len(original.initial_weights)
    return (*map(is_fresh, clone.initial_weights, original.initial_weights, values.values), *[True] * extra_count)


def are_states_fresh(original: Description, clone: Description) -> tuple[bool, ...]:
    """For each state, False if the clone starts with a value that a run of the original left.

    States of layers should start with zeros. Seeds, and variables of no layer, are not checked.
    """
    return tuple(
        not (state.owner >= 0 and initial.dtype.kind == "f" and initial.any() and are_equal(initial, clone_initial))
        for state, initial, clone_initial in zip(
            original.structure.states, original.initial_states, clone.initial_states, strict=False
        )
    )


def _looks_drawn(value: Any) -> bool:
    """Whether most numbers of an array differ, unlike a constant's."""
    if value.size < 2 or (value.dtype.kind in "iu" and value.size < _SAMPLE_SIZE):
        return False
    numbers = value.reshape(-1)[:_SAMPLE_SIZE].tolist()
    return len(set(numbers)) * 2 > len(numbers)
