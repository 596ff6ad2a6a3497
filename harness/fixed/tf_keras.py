"""What the cloner needs to know about tf_keras; `keras3` documents the functions."""

from __future__ import annotations

import weakref
from functools import partial
from types import FunctionType
from typing import Any

import tensorflow as tf
import tf_keras
from tensorflow.python.framework.ops import uid
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable
from tf_keras.src.backend import ContextValueCache, RandomGenerator, name_scope
from tf_keras.src.engine.functional import Functional, _make_node_key
from tf_keras.src.engine.input_spec import InputSpec
from tf_keras.src.engine.keras_tensor import KerasTensor
from tf_keras.src.engine.node import Node
from tf_keras.src.initializers.initializers import Initializer
from tf_keras.src.metrics.base_metric import Metric
from tf_keras.src.mixed_precision.loss_scale_optimizer import _DynamicLossScaleState
from tf_keras.src.optimizers.legacy.optimizer_v2 import OptimizerV2
from tf_keras.src.optimizers.optimizer import Optimizer
from tf_keras.src.optimizers.schedules.learning_rate_schedule import LearningRateSchedule

from clonediff.harness.fixed.copier import Copier
from clonediff.harness.fixed.parts import call_of, contents, strategy_of_model, strategy_of_optimizer
from clonediff.harness.fixed.plans import TRACKING_ATTRIBUTES, Marker, Rules
from clonediff.harness.fixed.replay import Replay
from clonediff.harness.fixed.values import Values, value_of

Layer, Model, Sequential = tf_keras.layers.Layer, tf_keras.Model, tf_keras.Sequential
Input, InputLayer, NEST = tf_keras.Input, tf_keras.layers.InputLayer, tf.nest
RESULTS_OF_RUNS = ("train_function", "test_function", "predict_function", "train_tf_function", "history")
COUNTERS = ("_train_counter", "_test_counter", "_predict_counter")
COMMON_BUILDS = {cls.build for cls in (Layer, Model, Functional, Sequential)}
CALL_ATTRIBUTES = ("_inbound_nodes_value", "_outbound_nodes_value")
COPIED_MODULES = (
    *("tf_keras.src", "tensorflow.python.trackable.data_structures", "tensorflow.python.module.module"),
    *("tensorflow.python.util.object_identity", "tensorflow.python.trackable.layer_utils"),
    *("tensorflow.python.ops.stateful_random_ops", "tensorflow.python.util.tf_decorator"),
    "tensorflow.python.eager.polymorphic_function.tf_method_target",
)
VARIABLE, CALL, TENSOR, LAYER, METRIC = tf.Variable, Node, KerasTensor, Layer, Metric
NAME_ATTRIBUTE = "_name"
OPTIMIZER = (Optimizer, OptimizerV2)
MODEL_PARTS = (Layer, tf.Variable, KerasTensor, Optimizer, OptimizerV2, RandomGenerator, tf.random.Generator)
RANDOM_SOURCES = (Initializer, RandomGenerator)
SEARCHED_CLASSES = (list, tuple, dict, tf.Module, tf.Variable, _DynamicLossScaleState)
SKIPPED_ATTRIBUTES = (
    *("_learning_rate", "_weights", "_slots", "_hyper"),
    "_coalesced_children",  # in an optimizer that wraps another; TensorFlow sets it
    *("_metrics", "optimizer", "compiled_loss", "compiled_metrics", "_checkpoint", "_losses", "_callable_losses"),
    *("inputs", "outputs", "_nodes_by_depth", "_created_nodes", *CALL_ATTRIBUTES, *COUNTERS, *TRACKING_ATTRIBUTES),
)
COPY_RULES: Rules = {
    Layer: dict.fromkeys(CALL_ATTRIBUTES, Marker.CALLS),
    Model: {**dict.fromkeys((*RESULTS_OF_RUNS, "_checkpoint")), "_distribution_strategy": strategy_of_model},
    Functional: {f"_output_{name}_cache": {} for name in ("mask", "tensor", "shape")},
    Initializer: {"_used": Marker.MISSING},
    Metric: {"_call_result": Marker.MISSING},
    BaseResourceVariable: {"_handle": None},
    KerasTensor: {"_keras_history": Marker.MISSING},
    ContextValueCache: {"data": {}},
    OptimizerV2: {"_distribution_strategy": strategy_of_model},
    Optimizer: {"_distribution_strategy": strategy_of_optimizer},
}
UNBUILT_COPY_RULES: Rules = {
    Layer: {
        "built": False,
        "_build_input_shape": None,
        **{name: [] for name in (*CALL_ATTRIBUTES, "_callable_losses")},
        **dict.fromkeys((*TRACKING_ATTRIBUTES, "_obj_reference_counts_dict"), Marker.MISSING),
    },
    InputSpec: {"shape": None, "axes": {}},
    tf_keras.layers.RNN: {"state_spec": None, "_states": None},
}


def prepare_copies(copier: Copier) -> None:
    """Map names with `id`s to new names; recreate variables of another strategy in this one."""
    for tensor, new in copier.pairs(KerasTensor):
        copier.new_names[str(id(tensor))] = str(id(new))
    for variable, _ in copier.pairs(BaseResourceVariable):
        copier.new_names[variable._unique_id] = f"{variable._handle_name.partition(':')[0]}_{uid()}"
    for variable, _ in copier.pairs(tf.Variable):
        strategy = getattr(variable, "_distribute_strategy", None)
        is_part = hasattr(vars(variable).get("_handle"), "_distributed_container")
        if strategy is not strategy_of_model(None) and not is_part and hasattr(variable, "_unique_id"):
            new = _variable_of_this_strategy(variable, copier)
            copier.strategy_variables[id(variable)] = copier.memo[id(variable)] = new
            copier.new_names[variable._unique_id] = new._unique_id


def _variable_of_this_strategy(variable: Any, copier: Copier) -> Any:
    with tf.init_scope():
        return tf.Variable(
            tf.zeros([size or 0 for size in variable.shape], variable.dtype),
            shape=variable.shape,
            trainable=variable.trainable,
            name=variable.name.partition(":")[0],
            constraint=copier.copy_of(variable.constraint),
            synchronization=variable.synchronization,
            aggregation=variable.aggregation,
        )


def complete_copies(copier: Copier) -> None:
    """Recreate tables of calls, checkpoints, and generators whose seed was drawn."""
    for _, graph in copier.pairs(Functional):
        if "_nodes_by_depth" in vars(graph):
            nodes = [node for nodes in graph._nodes_by_depth.values() for node in nodes]
            graph.__dict__["_network_nodes"] = {
                _make_node_key(node.layer.name, node.layer._inbound_nodes_value.index(node)) for node in nodes
            }
            graph.__dict__["_input_coordinates"] = [tuple(tensor._keras_history) for tensor in graph.inputs]
            graph.__dict__["_output_coordinates"] = [tuple(tensor._keras_history) for tensor in graph.outputs]
    for original, initializer in copier.pairs(Initializer):
        generator = vars(initializer).get("_random_generator")
        if isinstance(generator, RandomGenerator) and vars(original).get("seed", 0) is None:
            generator._seed, generator._built = None, False
    for _, model in copier.pairs(Model):
        model.__dict__["_checkpoint"] = tf.train.Checkpoint(root=weakref.ref(model))
        references = vars(model).get(TRACKING_ATTRIBUTES[0], [])
        references[:] = [reference for reference in references if reference.name not in RESULTS_OF_RUNS]
        for name in RESULTS_OF_RUNS:
            vars(model).get(TRACKING_ATTRIBUTES[1], {}).pop(name, None)


def apply_setting(copier: Copier, layer: Any, variable: Any, name: str) -> None:
    value, new, new_variable = vars(layer)[name], copier.copy_of(layer), copier.copy_of(variable)
    if name.endswith("_constraint"):
        new_variable._constraint = vars(new)[name]
        return
    id_sets = [_held_ids(loss) for loss in layer._callable_losses]
    for index in reversed([index for index, ids in enumerate(id_sets) if id(variable) in ids and id(value) not in ids]):
        del new._callable_losses[index]
    if value is not None and not any({id(variable), id(value)} <= ids for ids in id_sets):
        new._handle_weight_regularization(name.rpartition("_")[0], new_variable, vars(new)[name])


def _held_ids(function: Any) -> set[int]:
    """The `id`s of objects in a function, and in functions among them."""
    parts = contents(function)
    return {*map(id, parts)}.union(*(_held_ids(part) for part in parts if isinstance(part, FunctionType | partial)))


def update_dependents(copier: Copier) -> None:
    """Derive attributes of Normalization from its weights, as `set_weights` does."""
    for _, layer in copier.pairs(Layer):
        if hasattr(layer, "adapt_mean") and layer.built:
            layer.finalize_state()


def variables_of(values: Values, layer: Any) -> list[Any]:
    parts = layer._flatten_modules(recursive=False, include_self=False)
    stores = [layer._trainable_weights, layer._non_trainable_weights]
    stores += [part.variables for part in parts if not isinstance(part, Layer)]
    return list(values.variables_in(stores).values())


def build_like(layer: Any, new: Any) -> Any:
    with name_scope(layer.name):
        type(layer).build(new, tf.nest.map_structure(lambda part: part, layer._build_input_shape))
    return new


def set_value(copier: Copier, variable: Any, new: Any, initial: Any) -> None:
    if id(variable) in copier.strategy_variables:
        new.assign(initial.numpy() if isinstance(initial, tf.Variable) else initial)
        return
    names = ("dtype", "shape", "device")
    is_variable = isinstance(initial, BaseResourceVariable) and initial is not variable
    if not is_variable or any(getattr(variable, name) != getattr(initial, name) for name in names):
        value = initial.read_value() if isinstance(initial, tf.Variable) else initial
        with tf.init_scope(), tf.device(variable.device):
            initial = ResourceVariable(tf.cast(value, variable.dtype), shape=variable.shape, name="variable")
    new._handle = handle = initial._handle
    handle._parent_trackable = weakref.ref(new)
    handle._name, handle._unique_id = new._handle_name, new._unique_id
    if hasattr(variable._handle, "_distributed_container"):  # part of another variable
        handle._distributed_container = weakref.ref(copier.copy_of(variable._handle._distributed_container()))


def reset_states(values: Values) -> None:
    for model, _ in values.copier.pairs(Model):
        for counter in (vars(model).get(name) for name in COUNTERS):
            if counter is not None and id(counter) in values.empty_copies:
                values.set_value(counter, tf.zeros_like(counter))
    for original, optimizer in values.copier.pairs(OptimizerV2):  # creates its variables on first use
        state: dict[str, Any] = {"_weights": [], "_slots": {}, "_iterations": None, "_hypers_created": False}
        vars(optimizer).update((name, value) for name, value in state.items() if name in vars(optimizer))
        for variable in original.variables():
            values.empty_copies.pop(id(variable), None)
    for original, generator in values.copier.pairs(RandomGenerator):
        random = vars(original).get("_generator")
        if random is not None and id(random._state_var) in values.empty_copies:
            new = tf.random.Generator.from_seed(generator._create_seed(generator._seed), alg=random.algorithm)
            values.set_value(random._state_var, new._state_var)


def fresh_optimizer(values: Values, optimizer: Any, variables: Any = None) -> Any:
    config = tf.nest.map_structure(lambda part: part, optimizer.get_config())  # with copied lists
    if isinstance(schedule := vars(optimizer).get("_learning_rate"), LearningRateSchedule):
        config["learning_rate"] = values.copier.copy_of(schedule)
    cls: Any = type(optimizer)
    try:
        new = cls.from_config(config)
    except TypeError:  # its constructor does not take its config
        new = next(base for base in cls.__mro__ if base.__module__[:8] == "tf_keras").from_config(config)
    if variables is not None and hasattr(new, "build"):
        new.build(variables)
    elif "_index_dict" in vars(optimizer):
        pairs = values.copier.pairs(tf.Variable)
        pairs.sort(key=lambda pair: value_of(pair[0]) is None)  # wrappers last: their variables have the same names
        by_name = {variable._unique_id: new_variable for variable, new_variable in pairs}
        new.build([by_name[name] for name in optimizer._index_dict])
    return new


def layers_of(model: Any) -> list[Any]:
    if not isinstance(model, Sequential):
        return list(model._flatten_layers(include_self=False, recursive=False))
    layers = [layer for layer in model._self_tracked_trackables if isinstance(layer, Layer)]
    inputs = layers[:1] if model._has_explicit_input_shape and isinstance(layers[0], InputLayer) else []
    others = [layer for layer in layers if not isinstance(layer, InputLayer)]
    return inputs + ([call.layer for call in calls_of(model)] if model._is_graph_network else others)


def endpoints_of(model: Any) -> tuple[Any, Any]:
    return model._nested_inputs, model._nested_outputs


def calls_of(model: Any) -> list[Any]:
    nodes = [node for depth in sorted(model._nodes_by_depth)[::-1] for node in model._nodes_by_depth[depth]]
    return [node for node in nodes if not isinstance(node.layer, InputLayer)]


def arguments_of(call: Any) -> tuple[Any, dict[str, Any]]:
    return call.call_args, call.call_kwargs


def copy_attributes(replay: Replay, model: Any, new: Any) -> None:
    if model._is_compiled and getattr(model, "_compile_config", None) is not None:
        _compile_clone(replay, model, new)
    if not isinstance(model, Sequential):
        _insert_layers(replay, model, new)
    elif model.built and not new.built and model._build_input_shape is not None:
        new.build(model._build_input_shape)
    excluded = {*vars(new), *replay.copier.plan(type(model)).rules, "_is_compiled", "_build_input_shape"}
    excluded = excluded - {"_dtype_policy", "_trainable", "_supports_masking"} | {"_self_tracked_trackables"}
    replay.copy_attributes(model, new, [name for name in vars(model) if name not in excluded and name[:6] != "_self_"])


def _compile_clone(replay: Replay, model: Any, new: Any) -> None:
    """Compile a new model like the original, with a new optimizer."""
    config = {name: value for name, value in model._compile_config.config.items() if name != "optimizer"}
    replay.copy(*config.values())
    optimizer = fresh_optimizer(Values(replay.copier), model.optimizer, new.trainable_variables)
    new.compile(optimizer, **{name: replay.copier.copy_of(value) for name, value in config.items()})
    variables = [part.variables for part in (model.optimizer, optimizer)]
    old_variables, new_variables = (part() if callable(part) else part for part in variables)
    if replay.weights and [old.shape for old in old_variables] == [new.shape for new in new_variables]:
        for variable, new_variable in zip(old_variables, new_variables, strict=True):
            new_variable.assign(variable)


def _insert_layers(replay: Replay, model: Any, new: Any) -> None:
    """Add what no output depends on: losses, metrics, and layers without a call."""
    layer_ids = set(map(id, layers_of(new)))
    layers = [replay.memo[id(layer)] for layer in layers_of(model) if not isinstance(layer, InputLayer)]
    missing = [layer for layer in layers if id(layer) not in layer_ids]
    nodes = [node for depth, nodes in model._nodes_by_depth.items() if depth < 0 for node in nodes]
    tensors = [replay.memo[id(NEST.flatten(node.outputs)[0])] for node in nodes]
    if missing or nodes:
        new._insert_layers(missing, relevant_nodes=list(map(call_of, tensors)))
