"""Repeats the calls of a model with other tensors, layers or a `call_function`.

Objects that `clone_function` does not replace are copied. The calls of each layer are repeated in their original order,
so that a shared layer is built by the call that built the original.
"""

from __future__ import annotations

import dataclasses
import graphlib
import itertools
from collections.abc import Iterable
from typing import Any

from clonediff.harness.fixed.copier import Copier
from clonediff.harness.fixed.parts import call_of, layer_of
from clonediff.harness.fixed.values import Values


@dataclasses.dataclass(eq=False)
class Replay:
    """Repeats one model's calls; `adapter` is our module `keras3` or `tf_keras`."""

    adapter: Any
    model: Any
    weights: bool
    recursive: bool
    input_tensors: Any
    clone_function: Any
    call_function: Any

    def __post_init__(self) -> None:
        self.copier = Copier(self.adapter, self.model)
        self.memo = self.copier.memo
        self.flatten = self.adapter.NEST.flatten
        self.tensors = None if self.input_tensors is None else self._ordered_tensors(self.input_tensors)
        """The tensors on which to build the clone, in the order of the inputs."""
        self.settled_ids: set[int] = set()
        """The `id`s of layers that `clone_function` replaced, or whose calls have begun."""

    def is_sequential(self, model: Any) -> bool:
        return isinstance(model, self.adapter.Sequential)

    def clone(self) -> Any:
        model = self.model
        memo = self.memo
        if self.tensors is not None and not self.is_sequential(model):
            for tensor, new in zip(model.inputs, self.tensors, strict=True):
                memo[id(tensor)] = new
                memo[id(tensor._keras_history[0])] = new._keras_history[0]
        parts = self._models_to_repeat(model)
        for part in parts:
            cls: Any = type(part)
            memo[id(part)] = cls.__new__(cls)
        layers = [layer for part in parts for layer in self.adapter.layers_of(part)]
        for layer in layers:
            is_operation = isinstance(layer, self.adapter.InputLayer) or not isinstance(layer, self.adapter.LAYER)
            if self.clone_function is not None and not is_operation and id(layer) not in memo:
                self._use_replacement(layer, self.clone_function(layer))
        classes = (self.adapter.TENSOR, self.adapter.VARIABLE)
        inputs = [layer.output for layer in layers if isinstance(layer, self.adapter.InputLayer)]
        for part in parts:
            if not self.is_sequential(part):
                arguments = [self.adapter.arguments_of(call) for call in self.adapter.calls_of(part)]
                inputs += [*part.inputs, *(leaf for leaf in self.flatten(arguments) if not isinstance(leaf, classes))]
        self.copy(*layers, *inputs)
        for part in parts:
            for call in () if self.is_sequential(part) else self._sort_calls(self.adapter.calls_of(part)):
                self._repeat_call(call)
            self._create_model(part, memo[id(part)])
        if self.weights:
            self._copy_values({id(layer): layer for layer in layers if isinstance(layer, self.adapter.LAYER)}.values())
        return memo[id(model)]

    def _models_to_repeat(self, model: Any) -> list[Any]:
        """The models to repeat, each after its nested models."""
        parts: dict[int, Any] = {}
        for layer in self.adapter.layers_of(model) if self.recursive else ():
            if isinstance(layer, (self.adapter.Sequential, self.adapter.Functional)):
                parts.update((id(part), part) for part in self._models_to_repeat(layer))
        return [*parts.values(), model]

    def _use_replacement(self, layer: Any, new: Any) -> None:
        if not isinstance(new, self.adapter.LAYER) or isinstance(new, self.adapter.InputLayer):
            raise ValueError(
                f"`clone_function` returned {new!r} for the layer '{layer.name}' (of type '{type(layer).__name__}'). "
                "Return the layer or model to use instead; an InputLayer cannot replace a layer."
            )
        self.memo[id(layer)] = new
        self.settled_ids.add(id(layer))

    def copy(self, *objects: Any) -> None:
        """Copy objects without a copy, and give the copies' variables values."""
        self.copier.copy(*objects)
        Values(self.copier).run(self.weights)

    def _repeat_call(self, call: Any) -> None:
        layer = layer_of(call)
        arguments = self.adapter.arguments_of(call)
        is_layer = isinstance(layer, self.adapter.LAYER)
        args, kwargs = (self.adapter.NEST.map_structure(self._new_argument, part) for part in arguments)
        if is_layer and id(layer) not in self.settled_ids and not self.are_alike(arguments, (args, kwargs)):
            self.memo[id(layer)] = Values(self.copier).unbuilt_copy(layer)
        self.settled_ids.add(id(layer))
        new = self.memo[id(layer)]
        uses_function = self.call_function is not None and is_layer
        outputs = self.call_function(new, *args, **kwargs) if uses_function else new(*args, **kwargs)
        tensors = self.flatten(call.outputs)
        outputs = self.flatten(outputs)
        if len(outputs) != len(tensors) or not all(isinstance(output, self.adapter.TENSOR) for output in outputs):
            caller = "`call_function`" if self.call_function else str(new)
            raise ValueError(
                f"{caller} returned {len(outputs)} outputs, {outputs}, for a call of '{layer.name}', but the original "
                f"returned {len(tensors)} tensors. Return as many."
            )
        self.memo.update(zip(map(id, tensors), outputs, strict=True))
        for pair in zip(tensors, outputs, strict=True):
            self._rename_mask(*(getattr(tensor, "_keras_mask", None) for tensor in pair))

    def _rename_mask(self, mask: Any, new: Any) -> None:
        """Give operations that computed the clone's mask the names of the original's."""
        calls = call_of(mask), call_of(new)
        operation, new_operation = (call and layer_of(call) for call in calls)
        is_called = isinstance(operation, self.adapter.LAYER) or id(operation) in self.settled_ids
        if None not in calls and type(operation) is type(new_operation) and not is_called:
            new_operation.name = operation.name
            for tensors in zip(*(call.input_tensors for call in calls), strict=True):
                self._rename_mask(*tensors)

    def _create_model(self, model: Any, new: Any) -> None:
        """Initialize `new`, an empty model, with the clone's layers and tensors."""
        adapter = self.adapter
        if self.is_sequential(model):
            adapter.Sequential.__init__(new, self._sequential_layers(model), name=model.name)
            operations = [getattr(getattr(root, "_functional", None), "_operations", ()) for root in (model, new)]
            for operation, new_operation in zip(*operations, strict=False):  # operations that compute masks
                if type(operation) is type(new_operation) and not isinstance(operation, adapter.LAYER):
                    new_operation.name = operation.name
        else:
            ends = adapter.endpoints_of(model)
            inputs, outputs = (adapter.NEST.map_structure(self.copier.copy_of, end) for end in ends)
            adapter.Functional.__init__(new, inputs, outputs, name=model.name)
        adapter.copy_attributes(self, model, new)

    def _sequential_layers(self, model: Any) -> list[Any]:
        layers = self.adapter.layers_of(model)
        if self.tensors is None or model is not self.model:
            return [self.memo[id(layer)] for layer in layers]
        tensor = self.tensors[0]
        if not isinstance(tensor._keras_history[0], self.adapter.InputLayer):
            # A Sequential cannot begin with the output of another layer.
            tensor = self.adapter.Input(batch_shape=tuple(tensor.shape), dtype=tensor.dtype, name=tensor.name)
        layers = [layer for layer in layers if not isinstance(layer, self.adapter.InputLayer)]
        if not model.built or not self.are_alike(model.inputs, self.tensors):
            copies = [layer for layer in layers if id(layer) not in self.settled_ids]
            self.memo.update((id(layer), Values(self.copier).unbuilt_copy(layer)) for layer in copies)
        return [tensor._keras_history[0], *(self.memo[id(layer)] for layer in layers)]

    def are_alike(self, old: Any, new: Any) -> bool:
        """Whether two structures have tensors of equal shapes and dtypes."""

        def signature(structure: Any) -> list[Any]:
            tensors = [leaf for leaf in self.flatten(structure) if isinstance(leaf, self.adapter.TENSOR)]
            return [(tuple(tensor.shape[1:]), tensor.dtype) for tensor in tensors]

        return signature(old) == signature(new)

    def _new_argument(self, leaf: Any) -> Any:
        if isinstance(leaf, self.adapter.VARIABLE) and id(leaf) not in self.memo:
            raise ValueError(
                f"A call takes the variable '{getattr(leaf, 'path', leaf.name)}', which belongs to no copied layer: "
                "clone without `clone_function`."
            )
        return self.copier.copy_of(leaf)

    def _sort_calls(self, calls: list[Any]) -> list[Any]:
        """Sort calls: inputs come first, and the calls of a layer keep their order."""
        producers = {id(tensor): call for call in calls for tensor in self.flatten(call.outputs)}
        needs: dict[Any, list[Any]] = {}
        for call in calls:
            arguments = map(id, self.flatten(self.adapter.arguments_of(call)))
            needs[call] = [producers[number] for number in arguments if number in producers]
        predecessors = {call: list(calls) for call, calls in needs.items()}
        for layer in {id(layer): layer for layer in map(layer_of, calls)}.values():
            for earlier, later in itertools.pairwise(call for call in layer._inbound_nodes if call in needs):
                predecessors[later].append(earlier)
        try:
            return list(graphlib.TopologicalSorter(predecessors).static_order())
        except graphlib.CycleError:  # a model made of a part of another may need another order
            return list(graphlib.TopologicalSorter(needs).static_order())

    def copy_attributes(self, model: Any, new: Any, names: Iterable[str]) -> None:
        attributes = {name: vars(model)[name] for name in names}
        self.copy(*attributes.values())
        for name, value in attributes.items():
            setattr(new, name, self.copier.copy_of(value))

    def _copy_values(self, layers: Iterable[Any]) -> None:
        copies = [(layer, new := self.memo[id(layer)], self.pairs_of_variables(layer, new)) for layer in layers]
        misfits = [f"'{old.name}' ({_shapes(old)}, now {_shapes(new)})" for old, new, pairs in copies if pairs is None]
        if misfits:
            raise ValueError(
                f"clone_model: weights=True: the shapes of variables differ from the original in these layers: "
                f"{', '.join(misfits)}. Clone without `weights`, then copy the variables that fit."
            )
        for _, new, pairs in copies:
            for variable, new_variable in pairs or ():
                new_variable.assign(variable)
            for part in new._flatten_layers():
                if hasattr(part, "finalize_state"):  # it derives attributes from the weights
                    part.finalize_state()

    def pairs_of_variables(self, layer: Any, new: Any) -> list[tuple[Any, Any]] | None:
        """The pairs of variables of a layer and its replacement; None if shapes differ."""
        values = Values(self.copier)
        variables = values.variables_in(layer)
        copies = values.variables_in(new)
        shapes, new_shapes = ({place: part[place].shape for place in part} for part in (variables, copies))
        return [(variables[place], copies[place]) for place in variables] if shapes == new_shapes else None

    def _ordered_tensors(self, input_tensors: Any) -> list[Any]:
        """The tensors of `input_tensors` in the order of the model's inputs."""
        is_sequential = self.is_sequential(self.model)
        inputs: list[Any] = ["a tensor"] if is_sequential else list(self.model.inputs)
        structure = inputs if is_sequential else self.adapter.endpoints_of(self.model)[0]
        names = [] if is_sequential else [tensor._keras_history[0].name for tensor in inputs]
        if isinstance(input_tensors, dict) and not isinstance(structure, dict) and input_tensors.keys() == set(names):
            input_tensors = [input_tensors[name] for name in names]
        if skeleton(input_tensors) not in (skeleton(structure), skeleton(inputs)):
            raise ValueError(
                f"`input_tensors` must have the same structure as the inputs of model '{self.model.name}', with one "
                f"tensor for each: {structure}. Received: {input_tensors}"
            )
        values = self.flatten(input_tensors)  # by sorted keys, like the inputs of a model
        tensors = [value.output if isinstance(value, self.adapter.InputLayer) else value for value in values]
        if not all(isinstance(end, self.adapter.TENSOR) and getattr(end, "_keras_history", None) for end in tensors):
            raise ValueError(
                "All entries in `input_tensors` must be outputs of an `Input` or a layer, or InputLayers. "
                f"Received: {input_tensors}"
            )
        return tensors


def _shapes(layer: Any) -> str:
    return ", ".join(str(tuple(weight.shape)) for weight in layer.weights) or "none"


def skeleton(structure: Any) -> Any:
    """A structure's nesting: tuples count as lists, a list of one item as that item."""
    if isinstance(structure, dict):
        return {key: skeleton(value) for key, value in structure.items()}
    parts = [skeleton(value) for value in structure] if isinstance(structure, list | tuple) else [None]
    return parts[0] if len(parts) == 1 else parts


def clone(adapter: Any, model: Any, weights: bool, recursive: bool, **arguments: Any) -> Any:
    names = [name for name, value in arguments.items() if value is not None]
    if not names:
        copier = Copier(adapter, model)
        copier.copy()
        Values(copier).run(weights)
        return copier.copy_of(model)
    if not isinstance(model, (adapter.Sequential, adapter.Functional)):
        raise ValueError(f"{names} are only supported for Sequential or Functional models. Received: model={model!r}")
    if isinstance(model, adapter.Sequential) and "call_function" in names:
        raise ValueError(f"`call_function` is not supported with Sequential models. Received: model={model!r}")
    replay = Replay(adapter, model, weights, recursive, **arguments)
    operations = [part for layer in model._flatten_layers() for part in getattr(layer, "_operations", [layer])]
    operations += [tensor._keras_history[0] for tensor in replay.tensors or ()]
    counts = [(operation, len(operation._inbound_nodes), len(operation._outbound_nodes)) for operation in operations]
    try:
        return replay.clone()
    except BaseException:
        for operation, inbound, outbound in counts:  # remove the calls that the clone added
            del operation._inbound_nodes[inbound:]
            del operation._outbound_nodes[outbound:]
        raise
