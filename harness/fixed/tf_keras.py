"""Copies a model of tf_keras, which is Keras 2 on TensorFlow."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

import tensorflow as tf
import tf_keras
from tensorflow.python.framework.ops import uid
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable
from tf_keras.src.backend import ContextValueCache, RandomGenerator, name_scope
from tf_keras.src.engine.functional import Functional, _make_node_key
from tf_keras.src.engine.keras_tensor import KerasTensor
from tf_keras.src.engine.node import Node
from tf_keras.src.initializers.initializers import Initializer
from tf_keras.src.metrics.base_metric import Metric
from tf_keras.src.mixed_precision.loss_scale_optimizer import _DynamicLossScaleState
from tf_keras.src.optimizers.legacy.optimizer_v2 import OptimizerV2
from tf_keras.src.optimizers.optimizer import Optimizer

from .copier import Copier
from .places import Place, matched
from .values import FOLLOWED, Unbuilt, Values
from .walk import MISSING

Layer, Model, Sequential = tf_keras.layers.Layer, tf_keras.Model, tf_keras.Sequential
CALLS = ("_inbound_nodes_value", "_outbound_nodes_value")
COUNTERS = ("_train_counter", "_test_counter", "_predict_counter")
FUNCTIONS_OF_RUNS = ("train_function", "test_function", "predict_function", "train_tf_function")
RESULTS_OF_RUNS = (*FUNCTIONS_OF_RUNS, "history")


class TfKerasCopier(Copier):
    """Copies what one object of tf_keras leads to."""

    MODULES = (
        *("tf_keras.src", "tensorflow.python.trackable.data_structures", "tensorflow.python.module.module"),
        *("tensorflow.python.util.object_identity", "tensorflow.python.trackable.layer_utils"),
        *("tensorflow.python.ops.stateful_random_ops", "tensorflow.python.util.tf_decorator"),
        "tensorflow.python.eager.polymorphic_function.tf_method_target",
    )
    VARIABLE = (tf.Variable,)
    CALL = (Node,)
    TENSOR = (KerasTensor,)
    OWNING = (Layer, tf.Variable, KerasTensor, Optimizer, OptimizerV2, RandomGenerator, tf.random.Generator)
    LEFT_BY_RUNS: tuple[tuple[Any, str, Any], ...] = (
        *((Model, name, None) for name in RESULTS_OF_RUNS),
        (Model, "_checkpoint", None),
        (Functional, "_output_mask_cache", {}),
        (Functional, "_output_tensor_cache", {}),
        (Functional, "_output_shape_cache", {}),
        (Initializer, "_used", MISSING),
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

    def copy(self, *roots: Any) -> None:
        super().copy(*roots)
        self._key_by_call()
        for original, initializer in self.pairs(Initializer):
            generator = vars(initializer).get("_random_generator")
            if isinstance(generator, RandomGenerator) and vars(original).get("seed", 0) is None:
                generator._seed, generator._built = None, False
        for _, model in self.pairs(Model):
            model.__dict__["_checkpoint"] = tf.train.Checkpoint(root=weakref.ref(model))
            references = vars(model).get(FOLLOWED[0], [])
            references[:] = [reference for reference in references if reference.name not in RESULTS_OF_RUNS]
            for name in RESULTS_OF_RUNS:
                vars(model).get(FOLLOWED[1], {}).pop(name, None)

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


class TfKerasUnbuilt(Unbuilt, TfKerasCopier):
    """Copies a layer as it is before it is built."""

    NOT_BUILT = ((Layer, "built", False), (Layer, "_build_input_shape", None))
    STORES = ("_trainable_weights", "_non_trainable_weights")
    LEFT_BY_RUNS = (
        *TfKerasCopier.LEFT_BY_RUNS,
        *((Layer, name, []) for name in (*CALLS, "_callable_losses")),
        *((Layer, name, MISSING) for name in (*FOLLOWED, "_obj_reference_counts_dict")),
    )


class TfKerasValues(Values):
    """Gives the variables of a clone of tf_keras their values."""

    LAYER = Layer
    METRIC = Metric
    OPTIMIZER = (Optimizer, OptimizerV2)
    DRAWING = (Initializer, RandomGenerator)
    LEADING = (list, tuple, dict, tf.Module, tf.Variable, _DynamicLossScaleState)
    NOT_LEADING = (
        "_coalesced_children",  # of an optimizer: what TensorFlow found in the one around it
        *("_metrics", "optimizer", "compiled_loss", "compiled_metrics", "_checkpoint", "_losses", "_callable_losses"),
        *("inputs", "outputs", "_nodes_by_depth", "_created_nodes", *CALLS, *COUNTERS, *FOLLOWED),
    )
    UNBUILT = TfKerasUnbuilt
    DEFAULT_BUILDS = (Layer.build, Model.build, Functional.build, Sequential.build)
    SCOPE = tf_keras.utils.custom_object_scope

    def own(self, layer: Any) -> list[Any]:
        parts = layer._flatten_modules(recursive=False, include_self=False)
        stores = [layer._trainable_weights, layer._non_trainable_weights]
        stores += [part.variables for part in parts if not isinstance(part, Layer)]
        return list(self.places(stores).values())  # those that hold another one are that one

    def scope(self, variable: Any) -> Any:
        strategy = variable._distribute_strategy
        return contextlib.nullcontext() if strategy is None else strategy.scope()

    def build(self, layer: Any, twin: Any) -> None:
        with name_scope(layer.name):
            type(layer).build(twin, tf.nest.map_structure(lambda part: part, layer._build_input_shape))

    def begin(self) -> None:
        for model, _ in self.copier.pairs(Model):
            for counter in (vars(model).get(name) for name in COUNTERS):
                if counter is not None and id(counter) in self.left:
                    self.give(counter, tf.zeros_like(counter))
        super().begin()

    def begin_generators(self) -> None:
        """Begin all random numbers again; those of old operations count on, and did where the graph was made."""
        for layer, new in self.copier.pairs(Layer):
            generator = vars(new).get("_random_generator")
            if "seed" in vars(layer) and getattr(generator, "_rng_type", "") == RandomGenerator.RNG_LEGACY_STATEFUL:
                drawn = [call for call in layer._inbound_nodes_value if given_training(call) is True]
                generator._seed = layer.seed if layer.seed is None else layer.seed + len(drawn)
        for original, generator in self.copier.pairs(RandomGenerator):
            random = vars(original).get("_generator")
            if random is not None and id(random._state_var) in self.left:
                seed = generator._create_seed(generator._seed)
                fresh = tf.random.Generator.from_seed(seed, alg=random.algorithm)
                self.give(random._state_var, fresh._state_var)

    def begin_optimizer(self, optimizer: Any) -> None:
        """Give an optimizer counts and slots that are new; its learning rate is as it is."""
        is_old = isinstance(optimizer, OptimizerV2)  # which makes its variables when they are needed
        if is_old:
            new = vars(self.copier.of(optimizer))
            begins: dict[str, Any] = {"_weights": [], "_slots": {}, "_iterations": None, "_hypers_created": False}
            new.update((name, value) for name, value in begins.items() if name in new)
        own = {place: variable for place, variable in self.places(optimizer).items() if is_begun(place, is_old)}
        if not own:
            return
        with self.scope(next(iter(own.values()))):
            config = tf.nest.map_structure(lambda part: part, optimizer.get_config())  # with lists of its own
            twin = type(optimizer).from_config(config)
            if "_index_dict" in vars(optimizer):
                # A variable that holds another one has the same name, and comes before it.
                by_name = {variable._unique_id: new for variable, new in reversed(self.copier.pairs(tf.Variable))}
                twin.build([by_name[name] for name in optimizer._index_dict])
        found = matched(own, self.places(twin))
        self.refuse_unknown(optimizer, len(own), len(found))
        for key, other in found.items():
            self.give(self.left[key][0], other)

    def give(self, variable: Any, other: Any) -> None:
        _, new = self.left.pop(id(variable))
        is_variable = isinstance(other, BaseResourceVariable)
        alike = is_variable and all(
            getattr(variable, name) == getattr(other, name) for name in ("dtype", "shape", "device")
        )
        if other is variable or not alike:
            value = other.read_value() if isinstance(other, tf.Variable) else other
            with tf.init_scope(), tf.device(variable.device):
                other = ResourceVariable(tf.cast(value, variable.dtype), shape=variable.shape, name="variable")
        new._handle = handle = other._handle
        handle._parent_trackable = weakref.ref(new)
        handle._name, handle._unique_id = new._handle_name, new._unique_id
        if hasattr(variable._handle, "_distributed_container"):  # it is a part of another one
            handle._distributed_container = weakref.ref(self.copier.of(variable._handle._distributed_container()))


def is_begun(place: Place, is_old: bool) -> bool:
    """Whether the variable at a place of an optimizer begins anew with a value."""
    return place[0] == "_loss_scale" if is_old else place != ("_learning_rate",)


def given_training(call: Any) -> Any:
    """What a call was given as `training`."""
    spec = call.layer._call_spec
    is_given = spec.arg_was_passed("training", call.call_args, call.call_kwargs)
    return spec.get_arg_value("training", call.call_args, call.call_kwargs) if is_given else None
