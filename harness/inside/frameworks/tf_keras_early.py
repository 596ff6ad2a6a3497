"""The tf.keras of TensorFlow 2.0 to 2.3, whose symbolic tensors are TensorFlow's own, of a graph that Keras keeps."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .tf_keras import TfKeras


def as_number(constant: Any) -> Any:
    """An axis as a number: now and then TensorFlow 2.0 and 2.1 make a list of it, which means the same."""
    is_one = isinstance(constant, np.ndarray) and constant.shape == (1,) and constant.dtype.kind == "i"
    return constant[0] if is_one else constant


class EarlyTfKeras(TfKeras):
    """tf.keras before it had tensors of its own."""

    def _find_parts(self) -> None:
        self._functional = self.keras.Model
        self._tensor = self.tf.Tensor
        self._sparse = self.tf.SparseTensor
        self._ragged = self.tf.RaggedTensor
        self._policies = self._module("mixed_precision.experimental.policy")

    def _forget_graph(self) -> None:
        if isinstance(self._backend._GRAPH, threading.local):  # in 2.3
            super()._forget_graph()
        else:
            self._backend._GRAPH = None

    # -- a model at rest

    def is_graph(self, layer: Any) -> bool:
        return isinstance(layer, self._sequential) or (
            isinstance(layer, self._functional) and bool(getattr(layer, "_is_graph_network", False))
        )

    def held(self, layer: Any) -> list[Any]:
        if hasattr(layer, "_flatten_layers"):
            return super().held(layer)
        return self._layers_in(self._tracked(layer))

    def _layers_in(self, tracked: list[Any]) -> list[Any]:
        found: list[Any] = []
        for each in tracked:
            if isinstance(each, self._layer):
                found.append(each)
            elif hasattr(each, "layers"):  # a list or a dict of layers
                found.extend(self._layers_in(each.layers))
        return found

    def _with_all_below(self, layer: Any) -> list[Any]:
        return [layer] + [below for each in self.held(layer) for below in self._with_all_below(each)]

    def arguments(self, node: Any) -> tuple[Any, Any]:
        if hasattr(node, "call_args"):
            return super().arguments(node)
        # Before 2.3 a node keeps the first argument, and all others by their names.
        return (node.input_tensors,) if node.inbound_layers else (), node.arguments or {}

    def config(self, layer: Any) -> dict[str, Any]:
        config = super().config(layer)
        if isinstance(config.get("arguments"), dict):
            # In 2.0 a Lambda writes the mask of its last call among the arguments of its function.
            config = dict(config, arguments={key: its for key, its in config["arguments"].items() if key != "mask"})
        if isinstance(config.get("constants"), dict):
            config = dict(config, constants={place: as_number(its) for place, its in config["constants"].items()})
        return config

    def outputs(self, node: Any) -> list[Any]:
        return super().outputs(node) if hasattr(node, "outputs") else list(self.tf.nest.flatten(node.output_tensors))

    def is_symbolic(self, value: Any) -> bool:
        return isinstance(value, (self._tensor, self._sparse, self._ragged)) and not self.concrete(value)
