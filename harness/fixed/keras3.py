"""Copies a model of Keras 3, on any of its backends."""

from __future__ import annotations

from typing import Any

import keras
from keras.src.backend.common import KerasVariable
from keras.src.initializers.random_initializers import RandomInitializer
from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from keras.src.layers.rnn.rnn import RNN
from keras.src.metrics.metric import Metric
from keras.src.models.functional import Functional
from keras.src.ops.function import Function, make_node_key
from keras.src.ops.node import Node
from keras.src.ops.operation import Operation
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.random.seed_generator import SeedGenerator, make_default_seed
from keras.src.utils.tracking import Tracker

from .copier import Copier
from .values import FOLLOWED, Unbuilt, Values
from .walk import MISSING

KerasTensor, Layer, Model, Sequential = keras.KerasTensor, keras.Layer, keras.Model, keras.Sequential


def of_no_run(mask: Any) -> Any:
    """A mask that was made with the graph; none that a run has made."""
    name, device = type(mask).__name__, str(getattr(mask, "device", ""))
    is_symbolic = "Symbolic" in name or "Tracer" in name or device == "meta"  # in TensorFlow, JAX, torch
    return mask if mask is None or is_symbolic else MISSING


class Keras3Copier(Copier):
    """Copies what one object of Keras 3 leads to."""

    MODULES = (
        *("keras.src", "tensorflow.python.trackable.data_structures"),
        "tensorflow.python.trackable.layer_utils",  # what TensorFlow's lists tell of a change to those around them
    )
    VARIABLE = (KerasVariable,)
    CALL = (Node,)
    TENSOR = (KerasTensor,)
    OWNING = (Operation, KerasVariable, KerasTensor, Metric, BaseOptimizer, SeedGenerator)
    LEFT_BY_RUNS: tuple[tuple[Any, str, Any], ...] = (
        (Model, "train_function", None),
        (Model, "test_function", None),
        (Model, "predict_function", None),
        (Model, "history", MISSING),
        (Model, "_jax_state", None),
        (Model, "_jax_state_synced", True),
        (Model, "_eval_epoch_iterator", None),
        (Layer, "_losses", []),
        (Layer, "_loss_ids", set()),
        (Layer, "_losses_override", []),
        (DropoutRNNCell, "_dropout_mask", of_no_run),
        (DropoutRNNCell, "_recurrent_dropout_mask", of_no_run),
        (KerasVariable, "_value", None),
        (KerasTensor, "_keras_history", MISSING),
        (Tracker, "stored_ids", {}),
    )
    OF_GRAPHS: tuple[tuple[Any, str], ...] = ((Operation, "_inbound_nodes"), (Operation, "_outbound_nodes"))

    def copy(self, *roots: Any) -> None:
        super().copy(*roots)
        self._key_by_id()
        for original, initializer in self.pairs(RandomInitializer):
            if original._init_seed is None and "seed" in vars(initializer):
                initializer.seed = make_default_seed()

    def _key_by_id(self) -> None:
        """Make again what is keyed by the `id` of an object."""
        for _, operation in self.pairs(Operation):
            if "_called" in vars(operation):
                operation.__dict__["_called"] = bool(operation._inbound_nodes)
        for _, tracker in self.pairs(Tracker):
            tracker.stored_ids = {name: set(map(id, store)) for name, (_, store) in tracker.config.items()}
        for _, graph in self.pairs(Function):
            nodes = [node for nodes in graph._nodes_by_depth.values() for node in nodes]
            graph.__dict__["_nodes"] = {
                make_node_key(node.operation, node.operation._inbound_nodes.index(node)) for node in nodes
            }
            if "_nnx_op_mapping" in vars(graph):
                graph._nnx_op_mapping = {id(operation): operation for operation in graph._operations}


class Keras3Unbuilt(Unbuilt, Keras3Copier):
    """Copies a layer, or an optimizer, as it is before it is built."""

    NOT_BUILT = (
        (Layer, "built", False),
        (Layer, "lora_enabled", False),  # `build` enables it
        (RNN, "states", None),
        (Tracker, "locked", False),
        (BaseOptimizer, "built", False),
    )
    STORES = ("_trainable_variables", "_non_trainable_variables", "_variables")
    LEFT_BY_RUNS = (
        *Keras3Copier.LEFT_BY_RUNS,
        (Operation, "_inbound_nodes", []),
        (Operation, "_outbound_nodes", []),
        (BaseOptimizer, "_trainable_variables", []),
        *((Layer, name, MISSING) for name in FOLLOWED),
    )


class Keras3Values(Values):
    """Gives the variables of a clone of Keras 3 their values."""

    LAYER = Layer
    METRIC = Metric
    OPTIMIZER = BaseOptimizer
    DRAWING = (RandomInitializer, SeedGenerator)
    LEADING = (list, tuple, dict, Layer)
    NOT_LEADING = ("_tracker", "_metrics", "optimizer", "_inbound_nodes", "_outbound_nodes", "_operations")
    UNBUILT = Keras3Unbuilt
    DEFAULT_BUILDS = (Layer.build, Model.build, Functional.build, Sequential.build)
    SCOPE = keras.saving.custom_object_scope

    def is_given(self, variable: Any) -> bool:
        return "/" not in variable.path

    def give(self, variable: Any, other: Any) -> None:
        _, new = self.left.pop(id(variable))
        if other is not variable and other._dtype == variable._dtype and other._value is not None:
            new._initialize(other._value)
        else:
            value = keras.ops.convert_to_numpy(other._value if other._value is not None else other.value)
            new._initialize(new._convert_to_tensor(value, dtype=variable._dtype))

    def build(self, layer: Any, twin: Any) -> None:
        type(layer).build(twin, **(layer._build_shapes_dict or {}))

    def copy(self) -> None:
        super().copy()
        for original, layer in self.copier.pairs(Layer):
            followed = vars(original).get("_modules", {}).get("_torch_params")
            if followed is not None:  # the values of its variables, for torch to find
                layer._track_variables()
                for path in set(layer._torch_params) - set(followed):
                    layer._torch_params.pop(path)
        for _, optimizer in self.copier.pairs(BaseOptimizer):
            if "_trainable_variables_indices" in vars(optimizer):
                numbered = enumerate(optimizer._trainable_variables)
                optimizer._trainable_variables_indices = {optimizer._var_key(each): place for place, each in numbered}

    def begin_generators(self) -> None:
        for generator, _ in self.copier.pairs(SeedGenerator):
            fresh = SeedGenerator(generator._initial_seed, name=generator.name, backend=generator.backend)
            self.give(generator.state, fresh.state)

    def begin_optimizer(self, optimizer: Any) -> None:
        """Give the variables of an optimizer the values that they have when it is built anew, and its rate its own."""
        count, rate = vars(optimizer).get("_iterations"), vars(optimizer).get("_learning_rate")
        self.give(count, keras.Variable(0, dtype=count._dtype, trainable=False))
        if id(rate) in self.left:
            self.give(rate, rate)
        made = [variable for variable in optimizer._variables if id(variable) in self.left]
        others: list[Any] = []
        if made:
            twin = self.unbuilt(optimizer)
            twin.build([self.copier.of(variable) for variable in optimizer._trainable_variables])
            others = list(twin._variables)
        self.refuse_unknown(optimizer, len(made), len(others))
        for variable, other in zip(made, others, strict=True):
            self.give(variable, other)
