"""Makes the calls of a model of tf_keras again, with the arguments of `clone_model`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras
from tf_keras.src.engine.functional import Functional
from tf_keras.src.engine.keras_tensor import KerasTensor

from .replay import Replay
from .tf_keras import Layer, Sequential, TfKerasCopier, TfKerasValues

InputLayer = tf_keras.layers.InputLayer


class TfKerasReplay(Replay):
    """Makes the calls of a model of tf_keras again."""

    COPIER = TfKerasCopier
    VALUES = TfKerasValues
    LAYER = Layer
    INPUT_LAYER = InputLayer
    SEQUENTIAL = Sequential
    FUNCTIONAL = Functional
    TENSOR = KerasTensor
    NEST = tf.nest

    def layers(self, graph: Any) -> list[Any]:
        return list(graph._flatten_layers(include_self=False, recursive=False))

    def calls(self, graph: Any) -> list[Any]:
        nodes = [node for depth in sorted(graph._nodes_by_depth)[::-1] for node in graph._nodes_by_depth[depth]]
        return [node for node in nodes if not isinstance(node.layer, InputLayer)]

    def input_structures(self, model: Any) -> list[Any]:
        return [model._nested_inputs, list(model.inputs)]

    def arguments(self, call: Any) -> tuple[Any, dict[str, Any]]:
        return call.call_args, call.call_kwargs

    def as_tensor(self, value: Any, own: Any) -> Any:
        if isinstance(value, KerasTensor) or not tf.is_tensor(value):
            return value
        name = "tensor" if own is None else own._keras_history.layer.name
        return tf_keras.Input(tensor=value, name=f"input_wrapper_for_{name}")

    def put_together(self, model: Any, new: Any) -> None:
        if isinstance(model, Sequential):
            self._add_layers(model, new)
        else:
            ends = model._nested_inputs, model._nested_outputs
            inputs, outputs = (self.NEST.map_structure(self.copier.of, part) for part in ends)
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
        self.copy(*held.values())
        for name, value in held.items():
            setattr(new, name, self.copier.of(value))

    def _add_layers(self, model: Any, new: Any) -> None:
        Sequential.__init__(new, name=model.name)
        listed = [layer for layer in model._self_tracked_trackables if isinstance(layer, Layer)]
        first = listed.pop(0) if listed and isinstance(listed[0], InputLayer) else None
        if model._is_graph_network:  # where one that stands there twice is called twice
            listed = [call.layer for call in self.calls(model)]
        same = True
        if self.given is not None and model is self.model:
            new.add(_input_layer(self.given[0], model))
            same = bool(model.inputs) and self._are_alike(model.inputs, self.given)
        elif first is not None and model._has_explicit_input_shape:
            new.add(self.memo[id(first)])
        for layer in listed:
            if not same and self.clone_function is None:
                self.memo[id(layer)] = self._unbuilt(layer)
            new.add(self.memo[id(layer)])
        if model.built and not new.built and model._build_input_shape is not None:
            new.build(model._build_input_shape)

    def _insert_layers(self, model: Any, new: Any) -> None:
        """Add what no output depends on: losses, metrics, and layers that the model holds without calling them."""
        present = set(map(id, self.layers(new)))
        layers = [layer for layer in self.layers(model) if not isinstance(layer, InputLayer)]
        missing = [self.memo[id(layer)] for layer in layers if id(self.memo[id(layer)]) not in present]
        nodes = [node for depth, nodes in model._nodes_by_depth.items() if depth < 0 for node in nodes]
        histories = [self.memo[id(self.leaves(node.outputs)[0])]._keras_history for node in nodes]
        if missing or nodes:
            again = [history.layer._inbound_nodes[history.node_index] for history in histories]
            new._insert_layers(missing, relevant_nodes=again)


def _input_layer(tensor: Any, model: Any) -> Any:
    layer = tensor._keras_history.layer
    if isinstance(layer, InputLayer):
        return layer
    raise ValueError(
        f"Cannot clone the Sequential model '{model.name}' on top of a tensor that comes from a Keras layer other than "
        f"an `InputLayer`. Call the clone on that tensor instead. Received: input_tensors={tensor}"
    )
