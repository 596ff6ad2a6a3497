"""Copies a model of tf_keras, which is Keras 2 on TensorFlow."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
import tf_keras
from tensorflow.python.framework.ops import uid
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable
from tf_keras.src.backend import ContextValueCache, RandomGenerator, name_scope
from tf_keras.src.engine.functional import Functional, _make_node_key
from tf_keras.src.engine.input_spec import InputSpec
from tf_keras.src.engine.keras_tensor import KerasTensor
from tf_keras.src.engine.node import KerasHistory, Node
from tf_keras.src.initializers.initializers import Initializer
from tf_keras.src.metrics.base_metric import Metric
from tf_keras.src.optimizers.legacy.optimizer_v2 import OptimizerV2
from tf_keras.src.optimizers.optimizer import Optimizer

from .copier import Copier, copied_resource
from .places import Place, matched, variables_under
from .walk import MISSING, Plan

Layer, Model, Sequential = tf_keras.layers.Layer, tf_keras.Model, tf_keras.Sequential
STORES = ("_trainable_weights", "_non_trainable_weights")
CALLS = ("_inbound_nodes_value", "_outbound_nodes_value")
COUNTERS = ("_train_counter", "_test_counter", "_predict_counter")
FUNCTIONS_OF_RUNS = ("train_function", "test_function", "predict_function", "train_tf_function")
RESULTS_OF_RUNS = (*FUNCTIONS_OF_RUNS, "history")
FOLLOWED, FOLLOWED_BY_NAME = "_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names"
"""Where TensorFlow lists the attributes that it follows."""
FOLLOWED_BY_TENSORFLOW = (
    *(FOLLOWED, FOLLOWED_BY_NAME, "_self_unconditional_deferred_dependencies", "_self_name_based_restores"),
    *("_self_saveable_object_factories", "_self_update_uid", "_obj_reference_counts_dict"),
)
NOT_LED_THROUGH = (
    *("_metrics", "optimizer", "compiled_loss", "compiled_metrics", "_checkpoint", "_losses", "_callable_losses"),
    *("inputs", "outputs", "_nodes_by_depth", "_created_nodes", *CALLS, *COUNTERS, *FOLLOWED_BY_TENSORFLOW),
)
NOT_BUILT: tuple[tuple[Any, str, Any], ...] = (
    (Layer, "built", False),
    (Layer, "_build_input_shape", None),
)
"""What a layer has before it is built, where it has the attribute at all."""
DEFAULT_BUILDS = (Layer.build, Model.build, Functional.build, Sequential.build)


class TfKerasCopier(Copier):
    """Copies what one object of tf_keras leads to."""

    MODULES = (
        *("tf_keras.src", "tensorflow.python.trackable.data_structures", "tensorflow.python.module.module"),
        *("tensorflow.python.util.object_identity", "tensorflow.python.trackable.layer_utils"),
        *("tensorflow.python.ops.stateful_random_ops", "tensorflow.python.util.tf_decorator"),
        "tensorflow.python.eager.polymorphic_function.tf_method_target",
    )
    VARIABLE = (tf.Variable,)
    CALL = Node
    OWNING = (Layer, tf.Variable, KerasTensor, Optimizer, OptimizerV2, RandomGenerator, tf.random.Generator)
    LEFT_BY_RUNS: tuple[tuple[Any, str, Any], ...] = (
        *((Model, name, None) for name in RESULTS_OF_RUNS),
        (Model, "_checkpoint", None),
        (Functional, "_output_mask_cache", {}),
        (Functional, "_output_tensor_cache", {}),
        (Functional, "_output_shape_cache", {}),
        (Initializer, "_used", MISSING),
        (OptimizerV2, "_weights", []),
        (OptimizerV2, "_slots", {}),
        (OptimizerV2, "_iterations", None),
        (OptimizerV2, "_hypers_created", False),
        (Metric, "_call_result", MISSING),
        (Metric, "update_state", MISSING),  # these two are made with the object, around methods of its class
        (Metric, "result", MISSING),
        (BaseResourceVariable, "_handle", None),
        (KerasTensor, "_keras_history", MISSING),
        *((ContextValueCache, name, MISSING) for name in vars(ContextValueCache(None)) if name != "default_factory"),
    )
    OF_GRAPHS = tuple((Layer, name) for name in CALLS)

    def new(self, thing: Any) -> Any:
        if isinstance(thing, Metric):
            return Metric.__new__(type(thing))
        if isinstance(thing, ContextValueCache):
            return ContextValueCache(None)
        new = super().new(thing)
        if isinstance(thing, KerasTensor):
            self.names[str(id(thing))] = str(id(new))
        elif isinstance(thing, BaseResourceVariable):
            self.names[thing._unique_id] = f"{thing._handle_name.partition(':')[0]}_{uid()}"
        return new

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
        self._key_by_call()
        for original, initializer in self.pairs(Initializer):
            generator = vars(initializer).get("_random_generator")
            if isinstance(generator, RandomGenerator) and vars(original).get("seed", 0) is None:
                generator._seed, generator._built = None, False
        for _, model in self.pairs(Model):
            model.__dict__["_checkpoint"] = tf.train.Checkpoint(root=weakref.ref(model))
            if FOLLOWED in vars(model):
                references = vars(model)[FOLLOWED]
                references[:] = [reference for reference in references if reference.name not in RESULTS_OF_RUNS]
                for name in RESULTS_OF_RUNS:
                    vars(model)[FOLLOWED_BY_NAME].pop(name, None)

    def _number_calls(self) -> None:
        """Let each tensor know the call that gave it: calls of other graphs are left out, so their numbers change."""
        numbers: dict[int, int] = {}
        for _, layer in self.pairs(Layer):
            numbers.update((id(node), number) for number, node in enumerate(layer._inbound_nodes_value))
        for tensor, new in self.pairs(KerasTensor):
            history: Any = getattr(tensor, "_keras_history", None)
            node = node_of(tensor)
            if node is not None:
                call = self.memo[id(node)]
                new._keras_history = KerasHistory(call.layer, numbers[id(call)], history.tensor_index)
            elif history is not None:
                new._keras_history = KerasHistory(self.of(history.layer), *history[1:])

    def _key_by_call(self) -> None:
        for _, graph in self.pairs(Functional):
            if "_nodes_by_depth" in vars(graph):
                nodes = [node for nodes in graph._nodes_by_depth.values() for node in nodes]
                graph.__dict__["_network_nodes"] = {
                    _make_node_key(node.layer.name, node.layer._inbound_nodes_value.index(node)) for node in nodes
                }
                graph.__dict__["_input_coordinates"] = [tuple(tensor._keras_history) for tensor in graph.inputs]
                graph.__dict__["_output_coordinates"] = [tuple(tensor._keras_history) for tensor in graph.outputs]
        root = self.memo.get(id(self.root))
        if isinstance(root, Functional) and id(self.root) in self.fresh:
            # The graphs within it were called when it was made.
            root.__dict__["_called"] = bool(root._inbound_nodes_value)


class Unbuilt(TfKerasCopier):
    """Copies a layer as it is before it is built: without variables and calls."""

    OF_GRAPHS = ()
    LEFT_BY_RUNS = (
        *TfKerasCopier.LEFT_BY_RUNS,
        *((Layer, name, []) for name in (*CALLS, "_callable_losses")),
    )

    def new(self, thing: Any) -> Any:
        return None if isinstance(thing, tf.Variable) else super().new(thing)

    def is_whole(self, thing: Any) -> bool:
        return isinstance(thing, tf.Variable)

    def copy(self, *roots: Any) -> None:
        Copier.copy(self, *roots)
        for _, part in self.pairs(Layer):
            for cls, name, value in NOT_BUILT:
                if isinstance(part, cls) and name in vars(part):
                    part.__dict__[name] = value
            for spec in tf.nest.flatten(vars(part).get("_input_spec")):
                if isinstance(spec, InputSpec):
                    spec.shape, spec.axes = None, {}
            for store in STORES:
                vars(part)[store][:] = [variable for variable in vars(part)[store] if variable is not None]
            for reference in list(vars(part).get(FOLLOWED) or ()):
                if reference.ref is None:
                    vars(part)[FOLLOWED].remove(reference)
                    del vars(part)[FOLLOWED_BY_NAME][reference.name]


class Twin(Unbuilt):
    """Copies a layer that is built for its values alone: TensorFlow need not follow what is in it."""

    LEFT_BY_RUNS = (*Unbuilt.LEFT_BY_RUNS, *((Layer, name, MISSING) for name in FOLLOWED_BY_TENSORFLOW))


class Values:
    """Gives the variables of a clone their values: those with which a new model begins, or those of the original."""

    def __init__(self, copier: TfKerasCopier) -> None:
        self.copier = copier
        self.plans: dict[type, Plan] = {}
        """Of all twins."""
        variables = copier.pairs(BaseResourceVariable)
        self.left = {id(variable): (variable, new) for variable, new in variables if variable._handle is not None}
        self.drawing = {id(thing): new for thing, new in copier.pairs((Initializer, RandomGenerator))}
        """What draws numbers, and goes on drawing while layers are built."""

    def copy(self) -> None:
        for variable, _ in list(self.left.values()):
            self._give(variable, variable)

    def begin(self) -> None:
        self._begin_generators()
        for metric, new in self.copier.pairs(Metric):
            for variable in places(metric).values():
                if id(variable) in self.left:
                    self._give(variable, variable)
            new.reset_state()
        if id(self.copier.root) in self.copier.fresh:
            self._begin_layer(self.copier.root)
        for layer, _ in self.copier.pairs(Layer):
            self._begin_layer(layer)
        for optimizer, _ in self.copier.pairs(Optimizer):
            self._begin_optimizer(optimizer)
        for model, _ in self.copier.pairs(Model):
            for counter in (vars(model).get(name) for name in COUNTERS):
                if counter is not None and id(counter) in self.left:
                    self._give(counter, tf.zeros_like(counter))
        self.copy()  # of those that belong to no layer

    def _begin_generators(self) -> None:
        """Begin all random numbers again; those of old operations count on, and did where the graph was made."""
        for layer, new in self.copier.pairs(Layer):
            generator = vars(new).get("_random_generator")
            if "seed" in vars(layer) and getattr(generator, "_rng_type", "") == RandomGenerator.RNG_LEGACY_STATEFUL:
                drawn = [node for node in layer._inbound_nodes_value if given_training(node) is True]
                generator._seed = layer.seed if layer.seed is None else layer.seed + len(drawn)
        for original, generator in self.copier.pairs(RandomGenerator):
            random = vars(original).get("_generator")
            if random is not None and id(random._state_var) in self.left:
                seed = generator._create_seed(generator._seed)
                fresh = tf.random.Generator.from_seed(seed, alg=random.algorithm)
                self._give(random._state_var, fresh._state_var)

    def _begin_layer(self, layer: Any) -> None:
        """Give the weights of a layer, and of those within it, the values that they have when it is built anew."""
        if not isinstance(layer, Layer) or not any(map(self._own, layer._flatten_layers())):
            return
        error: Exception | None = None
        if type(layer).build not in DEFAULT_BUILDS:
            error = self._try(layer, self._built)
        for part in layer._flatten_layers(recursive=False, include_self=False):
            self._begin_layer(part)
        if self._own(layer):
            error = self._try(layer, self._from_config) or error
        for variable in self._own(layer):
            raise ValueError(
                f"clone_model: nobody knows how the weight '{variable.name}' of the layer '{layer.name}' (class "
                f"`{type(layer).__name__}`) begins: neither its `build` nor its config makes it"
                f"{f' ({type(error).__name__}: {error})' if error else ''}. Make it in `build`, or copy its value "
                "with `weights=True`."
            ) from error

    def _try(self, layer: Any, make: Any) -> Exception | None:
        """Take over the values of the variables of a layer that `make` makes anew; the error, if it fails."""
        missing = {place: variable for place, variable in places(layer).items() if id(variable) in self.left}
        with warnings.catch_warnings(), scope_of(missing):
            warnings.simplefilter("ignore")
            try:
                twin = make(layer)
            except Exception as error:
                return error
        for key, other in matched(missing, places(twin), lambda variable: variable.name.rpartition("/")[2]).items():
            self._give(self.left[key][0], other)
        return None

    def _built(self, layer: Any) -> Any:
        """A copy of a layer that is not built, which is built as the layer was."""
        copier = Twin(layer)
        copier.plans = self.plans
        copier.memo.update(self.drawing)
        copier.copy()
        twin = copier.memo[id(layer)]
        with name_scope(layer.name):
            type(layer).build(twin, tf.nest.map_structure(lambda part: part, layer._build_input_shape))
        return twin

    def _from_config(self, layer: Any) -> Any:
        """The layer that its config makes, built as the layer was."""
        parts = [*vars(layer).values(), *map(type, vars(layer).values())]
        named = {part.__name__: part for part in parts if hasattr(part, "__name__") and callable(part)}
        with tf_keras.utils.custom_object_scope({name: part for name, part in named.items() if name != "<lambda>"}):
            twin = type(layer).from_config(layer.get_config())
        if not twin.built and layer._build_input_shape is not None:
            twin.build(layer._build_input_shape)
        return twin

    def _begin_optimizer(self, optimizer: Any) -> None:
        """Give an optimizer counts and slots that are new; its learning rate is as it is."""
        own = {place: variable for place, variable in places(optimizer).items() if place != ("_learning_rate",)}
        with scope_of(own):
            twin = type(optimizer).from_config(optimizer.get_config())
            if "_index_dict" in vars(optimizer):
                # A variable that holds another one has the same name, and comes before it.
                by_name = {variable._unique_id: new for variable, new in reversed(self.copier.pairs(tf.Variable))}
                twin.build([by_name[name] for name in optimizer._index_dict])
        found = matched(own, places(twin), lambda variable: variable.name)
        for variable in own.values():
            if id(variable) not in found:
                raise ValueError(
                    f"clone_model: nobody knows how the variable '{variable.name}' of the optimizer "
                    f"`{type(optimizer).__name__}` begins: neither its config nor its `build` makes it. Make it in "
                    "`build`, or copy its value with `weights=True`."
                )
            self._give(variable, found[id(variable)])

    def _left_in(self, variables: list[Any]) -> list[Any]:
        """The variables of which the clone has no value yet; those that hold another one are such a variable."""
        return [variable for variable in places(variables).values() if id(variable) in self.left]

    def _own(self, layer: Any) -> list[Any]:
        parts = layer._flatten_modules(recursive=False, include_self=False)
        stores = [vars(layer).get(store) for store in STORES]
        return self._left_in([stores, [part.variables for part in parts if not isinstance(part, Layer)]])

    def _give(self, variable: Any, other: Any) -> None:
        """Give the clone of a variable a value, or the handle of another variable, which is not used any more."""
        _, new = self.left.pop(id(variable))
        is_alike = isinstance(other, BaseResourceVariable) and other is not variable
        if not is_alike or (other.dtype, other.shape, other.device) != (
            variable.dtype,
            variable.shape,
            variable.device,
        ):
            value = other.read_value() if isinstance(other, tf.Variable) else other
            with tf.init_scope(), tf.device(variable.device):
                other = ResourceVariable(tf.cast(value, variable.dtype), shape=variable.shape, name="variable")
        new._handle = handle = other._handle
        handle._parent_trackable = weakref.ref(new)
        handle._name, handle._unique_id = new._handle_name, new._unique_id
        if hasattr(variable._handle, "_distributed_container"):  # it is a part of another one
            handle._distributed_container = weakref.ref(self.copier.of(variable._handle._distributed_container()))


def scope_of(variables: dict[Place, Any]) -> Any:
    """The scope of the strategy under which variables were made."""
    strategy = next((variable._distribute_strategy for variable in variables.values()), None)
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def node_of(tensor: Any) -> Any:
    """The call that gave a tensor."""
    history = getattr(tensor, "_keras_history", None)
    if history is None or history.layer is None:
        return None
    nodes = history.layer._inbound_nodes_value
    return nodes[history.node_index] if history.node_index < len(nodes) else None


def given_training(node: Any) -> Any:
    """What a call was given as `training`."""
    spec = node.layer._call_spec
    is_given = spec.arg_was_passed("training", node.call_args, node.call_kwargs)
    return spec.get_arg_value("training", node.call_args, node.call_kwargs) if is_given else None


def places(thing: Any) -> dict[Place, Any]:
    """The variables of a layer, and of those within it, by where they are."""
    return variables_under(thing, lambda value: isinstance(value, BaseResourceVariable), _leads_on)


def _leads_on(name: str, value: Any) -> bool:
    return isinstance(value, list | tuple | dict | tf.Module | tf.Variable) and name not in NOT_LED_THROUGH


def unbuilt(layer: Any, memo: dict[int, Any]) -> Any:
    """A copy of a layer as it is before it is built."""
    copier = Unbuilt(layer)
    copier.copy()
    return copier.memo[id(layer)]
