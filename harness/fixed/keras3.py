"""Copies a model of Keras 3, on any of its backends."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import keras
from keras.src.backend.common import KerasVariable
from keras.src.initializers.random_initializers import RandomInitializer
from keras.src.layers.input_spec import InputSpec
from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from keras.src.layers.rnn.rnn import RNN
from keras.src.metrics.metric import Metric
from keras.src.models.functional import Functional
from keras.src.ops.function import Function, make_node_key
from keras.src.ops.node import KerasHistory, Node
from keras.src.ops.operation import Operation
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.random.seed_generator import SeedGenerator, make_default_seed
from keras.src.utils.tracking import Tracker

from .copier import Copier, copied_resource
from .places import Place, matched, variables_under
from .walk import MISSING, Plan

KerasTensor, Layer, Model, Sequential = keras.KerasTensor, keras.Layer, keras.Model, keras.Sequential
STORES = ("_trainable_variables", "_non_trainable_variables")
NOT_LED_THROUGH = ("_tracker", "_metrics", "optimizer", "_inbound_nodes", "_outbound_nodes", "_operations")
FOLLOWED_BY_TENSORFLOW = (
    *("unconditional_checkpoint_dependencies", "unconditional_dependency_names", "unconditional_deferred_dependencies"),
    *("name_based_restores", "saveable_object_factories", "update_uid"),
)
DEFAULT_BUILDS = (Layer.build, Model.build, Functional.build, Sequential.build)
NOT_BUILT: tuple[tuple[Any, str, Any], ...] = (
    (Layer, "built", False),
    (Layer, "lora_enabled", False),  # `build` enables it
    (RNN, "states", None),
    (InputSpec, "axes", {}),
    (InputSpec, "shape", None),
)
"""What a layer has before it is built, where it has the attribute at all."""


def of_no_run(mask: Any) -> Any:
    """A mask that was made with the graph; none that a run has made."""
    return mask if mask is None or "Symbolic" in type(mask).__name__ else MISSING


class Keras3Copier(Copier):
    """Copies what one object of Keras 3 leads to."""

    MODULES = ("keras.src", "tensorflow.python.trackable.data_structures")
    VARIABLE = (KerasVariable,)
    CALL = Node
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

    def followed(self, thing: Any) -> Iterator[Any]:
        if isinstance(thing, KerasTensor):
            node = node_of(thing)
            if node is not None:
                yield node

    def of_framework(self, thing: Any) -> Any:
        return copied_resource(thing, self.memo)

    def copy(self, *roots: Any) -> None:
        super().copy(*roots)
        self._number_calls()
        self._key_by_id()
        for original, initializer in self.pairs(RandomInitializer):
            if original._init_seed is None and "seed" in vars(initializer):
                initializer.seed = make_default_seed()

    def _number_calls(self) -> None:
        """Let each tensor know the call that gave it: calls of other graphs are left out, so their numbers change."""
        numbers: dict[int, int] = {}
        for _, operation in self.pairs(Operation):
            numbers.update((id(node), number) for number, node in enumerate(operation._inbound_nodes))
            if "_called" in vars(operation):
                operation.__dict__["_called"] = bool(operation._inbound_nodes)
        for tensor, new in self.pairs(KerasTensor):
            history: Any = getattr(tensor, "_keras_history", None)
            node = node_of(tensor)
            if node is not None:
                call = self.memo[id(node)]
                new._keras_history = KerasHistory(call.operation, numbers[id(call)], history.tensor_index)
            elif history is not None:
                new._keras_history = KerasHistory(None, *history[1:])

    def _key_by_id(self) -> None:
        for _, tracker in self.pairs(Tracker):
            tracker.stored_ids = {name: set(map(id, store)) for name, (_, store) in tracker.config.items()}
        for _, graph in self.pairs(Function):
            nodes = [node for nodes in graph._nodes_by_depth.values() for node in nodes]
            graph.__dict__["_nodes"] = {
                make_node_key(node.operation, node.operation._inbound_nodes.index(node)) for node in nodes
            }
            if "_nnx_op_mapping" in vars(graph):
                graph._nnx_op_mapping = {id(operation): operation for operation in graph._operations}


class Unbuilt(Keras3Copier):
    """Copies a layer as it is before it is built: without variables and calls."""

    OF_GRAPHS = ()
    LEFT_BY_RUNS = (
        *Keras3Copier.LEFT_BY_RUNS,
        (Operation, "_inbound_nodes", []),
        (Operation, "_outbound_nodes", []),
    )

    def new(self, thing: Any) -> Any:
        return None if isinstance(thing, KerasVariable) else super().new(thing)

    def is_whole(self, thing: Any) -> bool:
        return isinstance(thing, KerasVariable)

    def copy(self, *roots: Any) -> None:
        super().copy(*roots)
        for _, part in self.pairs((Layer, InputSpec)):
            for cls, name, value in NOT_BUILT:
                if isinstance(part, cls) and name in vars(part):
                    part.__dict__[name] = value
            for store in STORES if isinstance(part, Layer) else ():
                vars(part)[store][:] = [variable for variable in vars(part)[store] if variable is not None]
        for _, tracker in self.pairs(Tracker):
            tracker.locked = False


class Twin(Unbuilt):
    """Copies a layer that is built for its values alone: TensorFlow need not follow what is in it."""

    LEFT_BY_RUNS = (*Unbuilt.LEFT_BY_RUNS, *((Layer, f"_self_{name}", MISSING) for name in FOLLOWED_BY_TENSORFLOW))


class Values:
    """Gives the variables of a clone their values: those with which a new model begins, or those of the original."""

    def __init__(self, copier: Keras3Copier) -> None:
        self.copier = copier
        pairs = copier.pairs(KerasVariable)
        self.plans: dict[type, Plan] = {}
        """Of all twins."""
        self.left = {id(variable): (variable, new) for variable, new in pairs if variable._value is not None}
        self.drawing = {id(thing): new for thing, new in copier.pairs((RandomInitializer, SeedGenerator))}
        """What draws numbers, and goes on drawing while layers are built."""

    def copy(self) -> None:
        """Give each variable the value of its original."""
        for variable, _ in list(self.left.values()):
            self._copy_value(variable)
        self._number_variables()

    def _number_variables(self) -> None:
        """Let optimizers find the variables that they train, by what is theirs alone."""
        for _, optimizer in self.copier.pairs(BaseOptimizer):
            if "_trainable_variables_indices" in vars(optimizer):
                numbered = enumerate(optimizer._trainable_variables)
                optimizer._trainable_variables_indices = {optimizer._var_key(each): place for place, each in numbered}

    def begin(self) -> None:
        for generator, _ in self.copier.pairs(SeedGenerator):
            self._give(generator.state, SeedGenerator(seed=generator._initial_seed, name=generator.name).state)
        if id(self.copier.root) in self.copier.fresh:
            self._begin_layer(self.copier.root)
        for layer, _ in self.copier.pairs(Layer):
            self._begin_layer(layer)
        for optimizer, _ in self.copier.pairs(BaseOptimizer):
            self._begin_optimizer(optimizer)
        self.copy()  # of those that belong to no layer
        for _, metric in self.copier.pairs(Metric):
            metric.reset_state()

    def _begin_layer(self, layer: Any) -> None:
        """Give the weights of a layer, and of those within it, the values that they have when it is built anew."""
        if not isinstance(layer, Layer) or not self._left_under(layer):
            return
        error: Exception | None = None
        if type(layer).build not in DEFAULT_BUILDS:
            error = self._try(layer, self._built)
        for part in [*layer._layers]:
            self._begin_layer(part)
        if self._own(layer):
            error = self._try(layer, self._from_config) or error
        for variable in self._own(layer):
            if "/" not in variable.path:  # no layer has made it: it was handed to this one, and keeps its value
                continue
            raise ValueError(
                f"clone_model: nobody knows how the weight '{variable.path}' of the layer '{layer.name}' (class "
                f"`{type(layer).__name__}`) begins: neither its `build` nor its config makes it"
                f"{f' ({type(error).__name__}: {error})' if error else ''}. Make it in `build`, or copy its value "
                "with `weights=True`."
            ) from error

    def _try(self, layer: Any, make: Any) -> Exception | None:
        """Take over the values of the variables of a layer that `make` makes anew; the error, if it fails."""
        missing = {place: variable for place, variable in places(layer).items() if id(variable) in self.left}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                twin = make(layer)
            except Exception as error:
                return error
        for key, other in matched(missing, places(twin), lambda variable: variable.name).items():
            self._give(self.left[key][0], other)
        return None

    def _built(self, layer: Any) -> Any:
        """A copy of a layer that is not built, which is built as the layer was."""
        copier = Twin(layer)
        copier.plans = self.plans
        copier.memo.update(self.drawing)
        copier.copy()
        twin = copier.memo[id(layer)]
        type(layer).build(twin, **(layer._build_shapes_dict or {}))
        return twin

    def _from_config(self, layer: Any) -> Any:
        """The layer that its constructor, or its config, makes, built as the layer was."""
        parts = [*vars(layer).values(), *map(type, vars(layer).values())]
        named = {part.__name__: part for part in parts if hasattr(part, "__name__") and callable(part)}
        with keras.saving.custom_object_scope({name: part for name, part in named.items() if name != "<lambda>"}):
            recorded = getattr(layer, "_auto_config", None)  # plain values that the constructor was given
            if recorded is not None:
                twin = type(layer)(**recorded.config)
            else:
                twin = type(layer).from_config(layer.get_config())
        if not twin.built and layer.get_build_config():
            twin.build_from_config(layer.get_build_config())
        return twin

    def _begin_optimizer(self, optimizer: Any) -> None:
        """Give the variables of an optimizer the values that they have when it is built anew, and its rate its own."""
        count, rate = vars(optimizer).get("_iterations"), vars(optimizer).get("_learning_rate")
        self._give(count, keras.Variable(0, dtype=count._dtype))
        if id(rate) in self.left:
            self._copy_value(rate)
        made = [variable for variable in optimizer._variables if id(variable) in self.left]
        others: list[Any] = []
        if made:
            copier = Unbuilt(optimizer)
            copier.copy()
            twin = copier.memo[id(optimizer)]
            twin.__dict__.update(built=False)
            twin._variables[:] = []
            twin.build([self.copier.of(variable) for variable in optimizer._trainable_variables])
            others = list(twin._variables)
        if len(made) != len(others):
            raise ValueError(
                f"clone_model: nobody knows how the variables of the optimizer `{type(optimizer).__name__}` begin: its "
                f"`build` makes {len(others)} of {len(made)}. Make them in `build`, or copy their values with "
                "`weights=True`."
            )
        for variable, other in zip(made, others, strict=True):
            self._give(variable, other)

    def _left_under(self, layer: Any) -> bool:
        return any(id(variable) in self.left for variable in layer.variables)

    def _own(self, layer: Any) -> list[Any]:
        own = [variable for store in STORES for variable in getattr(layer, store)]
        return [variable for variable in own if id(variable) in self.left]

    def _give(self, variable: Any, other: Any) -> None:
        """Give the clone of a variable the value of another variable, which is not used any more."""
        _, new = self.left.pop(id(variable))
        if other._dtype == variable._dtype and other._value is not None:
            new._initialize(other._value)
        else:
            new._initialize(new._convert_to_tensor(other, dtype=variable._dtype))

    def _copy_value(self, variable: Any) -> None:
        _, new = self.left.pop(id(variable))
        value = keras.ops.convert_to_numpy(variable._value)
        new._initialize(new._convert_to_tensor(value, dtype=variable._dtype))


def node_of(tensor: Any) -> Any:
    """The call that gave a tensor."""
    history = getattr(tensor, "_keras_history", None)
    if history is None or history.operation is None:
        return None
    nodes = history.operation._inbound_nodes
    return nodes[history.node_index] if history.node_index < len(nodes) else None


def places(layer: Any) -> dict[Place, Any]:
    """The variables of a layer, and of those within it, by where they are."""
    return variables_under(layer, lambda value: isinstance(value, KerasVariable), _leads_on)


def _leads_on(name: str, value: Any) -> bool:
    return isinstance(value, list | tuple | dict | Layer) and name not in NOT_LED_THROUGH


def unbuilt(layer: Any, memo: dict[int, Any]) -> Any:
    """A copy of a layer as it is before it is built, which draws numbers as what is in `memo` does."""
    copier = Unbuilt(layer)
    copier.walk(layer)
    drawing = [thing for thing in copier.owned.values() if isinstance(thing, SeedGenerator)]
    copier.owned.clear()
    copier.memo.update((id(thing), memo[id(thing)]) for thing in drawing if id(thing) in memo)
    copier.copy()
    for _, part in copier.pairs(Layer):
        followed = getattr(part, "_self_unconditional_checkpoint_dependencies", None) or []
        followed[:] = [reference for reference in followed if reference.ref is not None]
        named = getattr(part, "_self_unconditional_dependency_names", None) or {}
        for name in [name for name, value in named.items() if value is None]:
            del named[name]
    return copier.memo[id(layer)]
