"""What of two layers or models of Keras 3 can be compared, attribute by attribute."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import keras

from ..comparison import Comparison

# Of a graph, and what `compile` and `fit` leave behind; the rest of Keras's own attributes is asked of Keras.
_GRAPH = frozenset(
    ("_inputs", "_inputs_struct", "_layers", "_nodes", "_nodes_by_depth", "_operations", "_operations_by_depth")
    + ("_outputs", "_outputs_struct", "output_names", "_compile_config", "_compiled_trainable_state", "optimizer")
    + ("_optimizer", "stop_training", "stop_evaluating", "stop_predicting", "history", "_eval_epoch_iterator")
    + ("_compile_loss", "_compile_metrics", "_loss_tracker")  # in early releases, only what was compiled has them
    + ("states", "lora_alpha")
)


@lru_cache(maxsize=1)
def keras_attributes() -> frozenset[str]:
    """The names of the attributes that Keras itself gives to layers and models."""
    return _GRAPH.union(vars(keras.layers.Layer(name="bare")), vars(keras.Sequential(name="bare")))


def is_of_keras(attribute: str) -> bool:
    """Whether Keras gives layers and models such an attribute, or TensorFlow, in which it records what they hold."""
    return attribute in keras_attributes() or attribute.startswith("_self_")


def is_part(value: Any) -> bool:
    """Whether a value is a part of a model that a clone has of its own."""
    parts = (keras.Layer, keras.KerasTensor, keras.Variable, keras.random.SeedGenerator, keras.metrics.Metric)
    return isinstance(value, (*parts, keras.optimizers.Optimizer))


def is_state(value: Any) -> bool:
    """Whether a value is compared by other means than by itself, or not at all."""
    return is_part(value) or bool(keras.ops.is_tensor(value))


def is_layer(value: Any) -> bool:
    return isinstance(value, keras.Layer)


def is_own(kind: Any) -> bool:
    """Whether a class is one of Keras."""
    return str(kind.__module__).startswith("keras.")


def comparison() -> Comparison:
    return Comparison(is_state, keras_attributes(), is_layer)
