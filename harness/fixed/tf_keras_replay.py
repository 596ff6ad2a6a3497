"""Clones a model of tf_keras, as it is or with the arguments of `clone_model`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras
from tf_keras.src.engine.functional import Functional
from tf_keras.src.engine.keras_tensor import KerasTensor
from tf_keras.src.layers.core.tf_op_layer import TFOpLambda

from .replay import Replay, by_input, copy_values, rolled_back
from .tf_keras import STORES, Layer, Sequential, TfKerasCopier, Values, unbuilt

InputLayer = tf_keras.layers.InputLayer


def clone(
    model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None, weights: bool = False
) -> Any:
    """A clone of a model or layer of tf_keras; see `clone_model`."""
    copier = TfKerasCopier(model)
    if input_tensors is None and clone_function is None:
        copier.copy()
        values = Values(copier)
        values.copy() if weights else values.begin()
        return copier.of(model)
    if not (isinstance(model, Sequential) or getattr(model, "_is_graph_network", False)):
        raise ValueError(
            "Arguments `clone_function` and `input_tensors` are only supported for Sequential models or Functional "
            f"models. Received model of type '{type(model).__name__}'."
        )
    replay = TfKerasReplay(copier, clone_function)
    if input_tensors is not None:
        replay.given = _tensors(model, input_tensors)
    with rolled_back([*model._flatten_layers(), *(tensor._keras_history.layer for tensor in replay.given or ())]):
        new = replay.clone(model)
    if weights:
        copy_values(model, new, _variables(model), _variables(new), lambda variable, other: variable.assign(other))
    return new


def _variables(model: Any) -> list[Any]:
    """The weights of a model in an order that no `trainable` flag changes."""
    layers = list(model._flatten_layers())
    weights = [weight for layer in layers for store in STORES for weight in vars(layer).get(store, ())]
    return list({id(weight): weight for weight in weights}.values())


class TfKerasReplay(Replay):
    """Makes the calls of a model of tf_keras again."""

    LAYER = Layer
    INPUT_LAYER = InputLayer
    SEQUENTIAL = Sequential
    FUNCTIONAL = Functional
    TENSOR = KerasTensor
    given: list[Any] | None = None
    """The tensors that the root is built upon, in the order of its inputs."""

    def clone(self, model: Any) -> Any:
        if self.given is not None and not isinstance(model, Sequential):
            for tensor, new in zip(model.inputs, self.given, strict=True):
                self.memo[id(tensor)] = new
                self.memo[id(tensor._keras_history.layer)] = new._keras_history.layer
        return super().clone(model)

    def operations(self, graph: Any) -> list[Any]:
        return list(graph._flatten_layers(include_self=False, recursive=False))

    def calls(self, graph: Any) -> list[Any]:
        if isinstance(graph, Sequential):
            return []
        nodes = [node for depth in sorted(graph._nodes_by_depth)[::-1] for node in graph._nodes_by_depth[depth]]
        return [node for node in nodes if not isinstance(node.layer, InputLayer)]

    def inputs(self, graph: Any) -> list[Any]:
        if isinstance(graph, Sequential):
            return [layer.output for layer in self.operations(graph) if isinstance(layer, InputLayer)]
        return list(graph.inputs)

    def operation(self, call: Any) -> Any:
        return call.layer

    def arguments(self, call: Any) -> tuple[Any, dict[str, Any]]:
        return call.call_args, call.call_kwargs

    def outputs(self, call: Any) -> list[Any]:
        return list(tf.nest.flatten(call.outputs))

    def leaves(self, structure: Any) -> list[Any]:
        return list(tf.nest.flatten(structure))

    def map(self, function: Callable[[Any], Any], structure: Any) -> Any:
        return tf.nest.map_structure(function, structure)

    def variables(self, layer: Any) -> list[Any]:
        return list(layer.weights) if layer.built else []

    def begin(self) -> None:
        Values(self.copier).begin()  # type: ignore[arg-type]

    def unbuilt(self, layer: Any) -> Any:
        return unbuilt(layer, self.memo)

    def called_on(self, call: Any, operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if isinstance(operation, TFOpLambda):  # a number in it was made a tensor of the dtype of the other operand
            old = [leaf for leaf in self.leaves(self.arguments(call)) if isinstance(leaf, KerasTensor)]
            became = {tensor.dtype: self.memo[id(tensor)].dtype for tensor in old}
            args, kwargs = (self.map(lambda leaf: _cast(leaf, became), part) for part in (args, kwargs))
        return operation(*args, **kwargs)

    def put_together(self, model: Any, new: Any) -> None:
        own = set(vars(new))
        if isinstance(model, Sequential):
            self._add_layers(model, new)
        else:
            inputs, outputs = (self.map(self.copier.of, ends) for ends in (model._nested_inputs, model._nested_outputs))
            Functional.__init__(new, inputs, outputs, name=model.name)
            self._insert_layers(model, new)
        own = set(vars(new)) - {"_dtype_policy", "_trainable", "_supports_masking"}
        own |= {
            "_is_compiled",
            "_self_tracked_trackables",
            "_build_input_shape",
            *self.copier.plan(type(model)).skipped,
        }
        held = {name: value for name, value in vars(model).items() if name not in own and name[:6] != "_self_"}
        self.copier.copy(*held.values())
        self.begin()
        for name, value in held.items():
            setattr(new, name, self.copier.of(value))

    def _add_layers(self, model: Any, new: Any) -> None:
        Sequential.__init__(new, name=model.name)
        listed = [layer for layer in model._self_tracked_trackables if isinstance(layer, Layer)]
        begins = isinstance(listed[0], InputLayer) if listed else False
        first = listed.pop(0) if begins else None
        same = True
        if self.given is not None and model is self.copier.root:
            new.add(_input_layer(self.given[0], model))
            same = bool(model.inputs) and self.described(model.inputs[0]) == self.described(self.given[0])
        elif first is not None and model._has_explicit_input_shape:
            new.add(self.memo[id(first)])
        for layer in listed:
            if not same and self.clone_function is None:
                self.memo[id(layer)] = self.unbuilt(layer)
            new.add(self.memo[id(layer)])
        if model.built and not new.built and model._build_input_shape is not None:
            new.build(model._build_input_shape)

    def _insert_layers(self, model: Any, new: Any) -> None:
        """Add what no output depends on: losses, metrics, and layers that the model holds without calling them."""
        present = set(map(id, self.operations(new)))
        layers = [layer for layer in self.operations(model) if not isinstance(layer, InputLayer)]
        missing = [self.memo[id(layer)] for layer in layers if id(self.memo[id(layer)]) not in present]
        nodes = [node for depth, nodes in model._nodes_by_depth.items() if depth < 0 for node in nodes]
        histories = [self.memo[id(self.outputs(node)[0])]._keras_history for node in nodes]
        if missing or nodes:
            again = [history.layer._inbound_nodes[history.node_index] for history in histories]
            new._insert_layers(missing, relevant_nodes=again)


def _cast(leaf: Any, became: dict[Any, Any]) -> Any:
    """A constant of an operation whose tensors are of another dtype; a number that does not fit stays as it is."""
    if not isinstance(leaf, tf.Tensor) or isinstance(leaf, KerasTensor):
        return leaf
    dtype = became.get(leaf.dtype, leaf.dtype)
    alike = (dtype.is_floating and leaf.dtype.is_floating) or (dtype.is_integer and leaf.dtype.is_integer)
    return tf.cast(leaf, dtype) if alike else leaf


def _input_layer(tensor: Any, model: Any) -> Any:
    layer = tensor._keras_history.layer
    if isinstance(layer, InputLayer):
        return layer
    raise ValueError(
        f"Cannot clone the Sequential model '{model.name}' on top of a tensor that comes from a Keras layer other than "
        f"an `InputLayer`. Call the clone on that tensor instead. Received: input_tensors={tensor}"
    )


def _tensors(model: Any, given: Any) -> list[Any]:
    """The tensors that are given for the inputs of a model, in the order of its inputs."""
    sequential = isinstance(model, Sequential)
    reference = None if sequential else model._nested_inputs
    pairs = by_input(given, reference)
    if pairs is None and not sequential:
        pairs = by_input(given, list(model.inputs))  # as documented: a list
    if pairs is None:
        raise ValueError(
            f"`input_tensors` must be a list of tensors, one for each input of model '{model.name}', or nested as "
            f"these are: {'one tensor' if sequential else reference}. Received: input_tensors={given}"
        )
    found = {id(own): _tensor(own, value, given) for own, value in pairs}
    return [found[id(own)] for own in ([None] if sequential else model.inputs)]


def _tensor(own: Any, value: Any, given: Any) -> Any:
    tensor = value.output if isinstance(value, InputLayer) else value
    if isinstance(tensor, KerasTensor):
        return tensor
    if not tf.is_tensor(tensor):
        raise ValueError(f"All entries in `input_tensors` must be tensors or InputLayers. Received: {given}")
    name = "tensor" if own is None else own._keras_history.layer.name
    return tf_keras.Input(tensor=tensor, name=f"input_wrapper_for_{name}")
