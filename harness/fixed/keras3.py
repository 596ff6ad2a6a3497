"""What the cloner needs to know about Keras 3: classes, attributes, initial values."""

from __future__ import annotations

import inspect
from typing import Any

import keras
from keras.src.backend.common import KerasVariable
from keras.src.initializers.random_initializers import RandomInitializer
from keras.src.layers.input_spec import InputSpec
from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from keras.src.layers.rnn.rnn import RNN
from keras.src.metrics.metric import Metric
from keras.src.models.functional import Functional as Functional
from keras.src.models.model import Trainer
from keras.src.ops.function import Function, make_node_key
from keras.src.ops.node import Node
from keras.src.ops.operation import Operation
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.random.seed_generator import SeedGenerator, make_default_seed
from keras.src.utils.tracking import DotNotTrackScope, Tracker

from clonediff.harness.fixed.copier import Copier
from clonediff.harness.fixed.parts import strategy_of_model, strategy_of_optimizer
from clonediff.harness.fixed.plans import TRACKING_ATTRIBUTES, Marker, Rules
from clonediff.harness.fixed.replay import Replay
from clonediff.harness.fixed.values import Values

Layer, Model, Sequential, KerasTensor = keras.Layer, keras.Model, keras.Sequential, keras.KerasTensor
Input, InputLayer, NEST = keras.Input, keras.layers.InputLayer, keras.tree


def keep_symbolic_mask(mask: Any) -> Any:
    """Return a symbolic mask; leave out a mask that a run computed."""
    name, device = type(mask).__name__, str(getattr(mask, "device", ""))
    is_symbolic = "Symbolic" in name or "Tracer" in name or device == "meta"  # in TensorFlow, JAX, torch
    return mask if mask is None or is_symbolic else Marker.MISSING


COPIED_MODULES = (
    *("keras.src", "tensorflow.python.trackable.data_structures"),
    "tensorflow.python.ops.stateful_random_ops",
    "tensorflow.python.trackable.layer_utils",  # reports changes of TensorFlow's list wrappers
)
VARIABLE, CALL, TENSOR, LAYER, METRIC, OPTIMIZER = KerasVariable, Node, KerasTensor, Layer, Metric, BaseOptimizer
NAME_ATTRIBUTE = "name"
MODEL_PARTS = (Operation, KerasVariable, KerasTensor, Metric, BaseOptimizer, SeedGenerator)
RANDOM_SOURCES = (RandomInitializer, SeedGenerator)
SEARCHED_CLASSES = (list, tuple, dict, Layer)
COMMON_BUILDS = {cls.build for cls in (Layer, Model, Functional, Sequential)}  # none of them creates a weight
CALL_ATTRIBUTES = ("_inbound_nodes", "_outbound_nodes")
SKIPPED_ATTRIBUTES = (
    *("_tracker", "_metrics", "optimizer", "_operations", *CALL_ATTRIBUTES),
    *("_variables", "_learning_rate"),  # attributes of optimizers
)
RESULTS_OF_RUNS = ("train_function", "test_function", "predict_function", "_eval_epoch_iterator", "_jax_state")
COPY_RULES: Rules = {
    Operation: dict.fromkeys(CALL_ATTRIBUTES, Marker.CALLS),
    Layer: {"_losses": [], "_losses_override": [], "_loss_ids": set()},
    Model: {
        **dict.fromkeys(RESULTS_OF_RUNS),
        "_jax_state_synced": True,
        "history": Marker.MISSING,
        "_distribute_strategy": strategy_of_model,
    },
    DropoutRNNCell: dict.fromkeys(("_dropout_mask", "_recurrent_dropout_mask"), keep_symbolic_mask),
    KerasVariable: {"_value": None},
    KerasTensor: {"_keras_history": Marker.MISSING},
    Tracker: {"stored_ids": {}},
    BaseOptimizer: {"_distribution_strategy": strategy_of_optimizer},
}
UNBUILT_COPY_RULES: Rules = {
    Operation: {name: [] for name in CALL_ATTRIBUTES},
    Layer: {
        "built": False,
        "lora_enabled": False,  # `build` enables it
        **dict.fromkeys(("quantize", "_auto_config", *TRACKING_ATTRIBUTES), Marker.MISSING),
    },
    InputSpec: {"shape": None, "axes": {}},
    RNN: {"states": None},
    Tracker: {"locked": False},
    BaseOptimizer: {"built": False, "_trainable_variables": []},
}


def prepare_copies(copier: Copier) -> None:
    """Give copies empty torch parameter lists: parameters have no values yet."""
    for layer, _ in copier.pairs(Layer):
        parameters = vars(layer).get("_modules", {}).get("_torch_params")
        copier.memo.update({} if parameters is None else {id(parameters): type(parameters)()})


def complete_copies(copier: Copier) -> None:
    """Recreate tables keyed by `id`; draw seeds that the user did not choose."""
    for _, tracker in copier.pairs(Tracker):
        tracker.stored_ids = {name: set(map(id, store)) for name, (_, store) in tracker.config.items()}
    for _, graph in copier.pairs(Function):
        nodes = [node for nodes in graph._nodes_by_depth.values() for node in nodes]
        graph.__dict__["_nodes"] = {
            make_node_key(node.operation, node.operation._inbound_nodes.index(node)) for node in nodes
        }
        if "_nnx_op_mapping" in vars(graph):
            graph._nnx_op_mapping = {id(operation): operation for operation in graph._operations}
    for original, initializer in copier.pairs(RandomInitializer):
        if original._init_seed is None and "seed" in vars(initializer):
            initializer.seed = make_default_seed()


def update_dependents(copier: Copier) -> None:
    """Register new values with torch and optimizers, and advance seeds as `build` would."""
    for original, initializer in copier.pairs(RandomInitializer):
        if isinstance(original.seed, SeedGenerator) and not keras.ops.any(initializer.seed.state[1:]):
            initializer.seed.state.assign(original.seed.state)  # the values were drawn with another generator
    for original, layer in copier.pairs(Layer):
        parameters = vars(original).get("_modules", {}).get("_torch_params")
        if parameters is not None:
            layer._track_variables()
            for path in set(layer._torch_params) - set(parameters):
                layer._torch_params.pop(path)
    for _, optimizer in copier.pairs(BaseOptimizer):
        if "_trainable_variables_indices" in vars(optimizer):
            keys = map(optimizer._var_key, optimizer._trainable_variables)
            optimizer._trainable_variables_indices = {key: index for index, key in enumerate(keys)}


def apply_setting(copier: Copier, layer: Any, variable: Any, name: str) -> None:
    """Give the clone's weight a regularizer or constraint replaced on the layer."""
    setting = name.rpartition("_")[2]
    if getattr(variable, setting) is not vars(layer)[name]:
        setattr(copier.copy_of(variable), setting, vars(copier.copy_of(layer))[name])


def variables_of(values: Values, layer: Any) -> list[Any]:
    stores = ("_trainable_variables", "_non_trainable_variables")
    return [variable for store in stores for variable in getattr(layer, store, ())]


def build_like(layer: Any, new: Any) -> Any:
    """Build `new` for the input shapes of a layer, and return it."""
    type(layer).build(new, **(layer._build_shapes_dict or {}))
    return new


def set_value(copier: Copier, variable: Any, new: Any, initial: Any) -> None:
    """Give `new`, the copy of a variable, the value of `initial`: an array or a variable."""
    parameter = copier.memo.get(id(variable._value))
    if parameter is not None:  # the variable shares it with a torch module
        new._initialize(parameter)
        new.assign(initial)
    elif initial is not variable and initial._dtype == variable._dtype and initial._value is not None:
        new._initialize(initial._value)
    else:
        value = initial._value if initial._value is not None else initial.value
        # With a TensorFlow strategy, a variable has a value on each device.
        value = keras.ops.convert_to_numpy(value.read_value() if hasattr(value, "read_value") else value)
        new._initialize(new._convert_to_tensor(value, dtype=variable._dtype))


def reset_states(values: Values) -> None:
    for generator, _ in values.copier.pairs(SeedGenerator):
        new = SeedGenerator(generator._initial_seed, name=generator.name, backend=generator.backend)
        values.set_value(generator.state, new.state)


def fresh_optimizer(values: Values, optimizer: Any) -> Any:
    """Create and build an optimizer with another's settings, not its state."""
    new = values.unbuilt_copy(optimizer)
    vars(new)["_iterations"] = keras.Variable(0, dtype=optimizer._iterations.dtype, trainable=False)
    if optimizer.built:
        new.build([values.copier.copy_of(variable) for variable in optimizer._trainable_variables])
    return new


COMPILE_ATTRIBUTES = {
    *vars(Trainer.__base__()),
    *("optimizer", "_compile_config", "_compiled_trainable_state", "stop_training"),
    *("_trainable", "autocast", "supports_jit", "_supports_masking"),
}
"""Attributes that `compile` sets, and flags that cannot be derived from the graph."""
KERAS_ADDS_TRAINING = tuple(map(int, keras.__version__.split(".")[:2])) < (3, 16)


def layers_of(model: Any) -> list[Any]:
    return list(model._layers if isinstance(model, Sequential) else model._operations)


def endpoints_of(model: Any) -> tuple[Any, Any]:
    return model._inputs_struct, model._outputs_struct


def calls_of(model: Any) -> list[Any]:
    """The calls that lead to the outputs, without those only for masks."""
    tensor_ids = {id(tensor) for tensor in model.outputs}
    calls: list[Any] = []
    nodes = [node for depth in sorted(model._nodes_by_depth) for node in model._nodes_by_depth[depth]]
    for node in nodes:  # from the last call to the first
        if not node.is_input and any(id(tensor) in tensor_ids for tensor in node.outputs):
            calls.append(node)
            tensor_ids.update(map(id, NEST.flatten(arguments_of(node))))
    return calls[::-1]


def arguments_of(call: Any) -> tuple[Any, dict[str, Any]]:
    """The user's arguments, without masks and `training` that Keras added."""
    args, kwargs = call.arguments.args, call.arguments.kwargs
    layer = call.operation
    parameters = inspect.signature(layer.call).parameters
    masks = [id(getattr(leaf, "_keras_mask", None)) for leaf in NEST.flatten((args, kwargs))]
    converts = getattr(layer, "_convert_input_args", True)
    is_tensor = len(args) == 1 and isinstance(args[0], KerasTensor)
    is_unconverted = is_tensor and args[0].dtype == getattr(layer, "input_dtype", args[0].dtype)
    context = [name for name in getattr(layer, "_call_context_args", ("training",)) if name in parameters]
    has_no_additions = KERAS_ADDS_TRAINING and is_unconverted and converts and not kwargs.keys() >= set(context)
    if not isinstance(layer, Layer):
        return args, kwargs  # operations get no arguments from Keras
    if has_no_additions:  # Keras added only masks that are None
        return args, {name: value for name, value in kwargs.items() if value is not None or name[-4:] != "mask"}

    def is_added_by_keras(name: str, value: Any) -> bool:
        if name in context:
            return KERAS_ADDS_TRAINING and value is parameters[name].default and (is_unconverted or not converts)
        return f"_{name}".endswith("_mask") and all(leaf is None or id(leaf) in masks for leaf in NEST.flatten(value))

    user_kwargs = {name: value for name, value in kwargs.items() if not is_added_by_keras(name, value)}
    return args, kwargs if converts and (user_kwargs or not is_unconverted) else user_kwargs  # Keras added nothing


def copy_attributes(replay: Replay, model: Any, new: Any) -> None:
    """Copy the original's attributes, but not its graph, to a new model."""
    excluded = {*vars(new), *replay.copier.plan(type(model)).rules, "_functional"} - {"_dtype_policy", "_auto_config"}
    excluded |= {*COMPILE_ATTRIBUTES, *TRACKING_ATTRIBUTES}
    with DotNotTrackScope():  # as `compile` sets them
        if model.compiled:
            _retarget_optimizer(replay, model, new)
        replay.copy_attributes(model, new, COMPILE_ATTRIBUTES.intersection(vars(model)))
    replay.copy_attributes(model, new, [name for name in vars(model) if name not in excluded])


def _retarget_optimizer(replay: Replay, model: Any, new: Any) -> None:
    """Make a clone's optimizer train the clone's weights."""
    for layer in layers_of(model):
        pairs = replay.pairs_of_variables(layer, replay.memo[id(layer)]) if isinstance(layer, Layer) else None
        replay.memo.update((id(variable), new_variable) for variable, new_variable in pairs or ())
    variables = getattr(model.optimizer, "inner_optimizer", model.optimizer)._trainable_variables
    if any(id(variable) not in replay.memo for variable in variables):
        replay.memo[id(model.optimizer)] = optimizer = Values(replay.copier).unbuilt_copy(model.optimizer)
        optimizer.build(new.trainable_variables)
