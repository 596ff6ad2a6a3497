"""The parts of Keras 3, for the shared part of the fixed cloners."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import keras
import numpy as np

from ..adapter import Adapter
from .release import Function, policy_of

# Of a graph, and what `compile` and `fit` leave behind; the rest of Keras's own attributes is asked of Keras.
_GRAPH = frozenset(
    ("_inputs", "_inputs_struct", "_layers", "_nodes", "_nodes_by_depth", "_operations", "_operations_by_depth")
    + ("_outputs", "_outputs_struct", "output_names", "_compile_config", "_compiled_trainable_state", "optimizer")
    + ("_optimizer", "stop_training", "stop_evaluating", "stop_predicting", "history", "_eval_epoch_iterator")
    + ("_compile_loss", "_compile_metrics", "_loss_tracker")  # in early releases, only what was compiled has them
    + ("states", "lora_alpha")
)


@lru_cache(maxsize=1)
def _keras_attributes() -> frozenset[str]:
    return _GRAPH.union(vars(keras.layers.Layer(name="bare")), vars(keras.Sequential(name="bare")))


class Keras3Adapter(Adapter):
    """Keras 3, where a graph has operations besides layers, and a Sequential model has a graph in it."""

    keras = keras
    keras_modules = ("keras.",)

    def keras_attributes(self) -> frozenset[str]:
        return _keras_attributes()

    def is_symbolic(self, value: Any) -> bool:
        return isinstance(value, keras.KerasTensor)

    def is_found_by_name(self, function: Any) -> bool:
        # An activation goes by its name, and some of the operations have the name of one, but other defaults.
        of_operations = str(getattr(function, "__module__", "")).startswith(("keras.src.ops.", "keras.src.random."))
        return super().is_found_by_name(function) and not of_operations

    def is_part(self, value: Any) -> bool:
        parts = (keras.Layer, keras.KerasTensor, keras.Variable, keras.random.SeedGenerator, keras.metrics.Metric)
        return isinstance(value, (*parts, keras.optimizers.Optimizer))

    def is_state(self, value: Any) -> bool:
        return self.is_part(value) or bool(keras.ops.is_tensor(value))

    def constant(self, value: Any) -> Any:
        return np.asarray(keras.ops.convert_to_numpy(value)) if keras.ops.is_tensor(value) else None

    def graph_of(self, operation: Any) -> Any:
        if isinstance(operation, keras.Sequential):
            return operation._functional
        return operation if isinstance(operation, Function) else None

    def sublayers(self, layer: Any) -> list[Any]:
        return list(layer._layers)

    def nested_layers(self, layer: Any) -> list[Any]:
        return list(layer._flatten_layers()) if self.is_layer(layer) else [layer]

    def traits(self, layer: Any) -> Any:
        own = [*layer._trainable_variables, *layer._non_trainable_variables]
        return getattr(policy_of(layer), "name", None), [(tuple(each.shape), str(each.dtype)) for each in own]

    def operations(self, graph: Any) -> list[Any]:
        return list(graph.operations)

    def operation(self, node: Any) -> Any:
        return node.operation

    def inputs(self, node: Any) -> list[Any]:
        return list(node.input_tensors)

    def arguments(self, node: Any) -> Any:
        return node.arguments.args, node.arguments.kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(node.outputs)

    def ends(self, graph: Any) -> Any:
        return graph._inputs_struct, graph._outputs_struct

    def weight_shapes(self, layer: Any) -> list[Any]:
        return [tuple(weight.shape) for weight in layer.weights]


ADAPTER = Keras3Adapter()
