"""Keras 2 on TensorFlow 2: the package `tf_keras`."""

from __future__ import annotations

import copy
import functools
import importlib
import threading
import weakref
from typing import Any

import numpy as np

from ..configs import parts
from .backends import TensorFlow
from .eager import Eager
from .interface import Framework


def load() -> Framework:
    """tf_keras as it is installed."""
    return TfKeras()


_SEEDED = ("rate", "stddev", "dropout", "recurrent_dropout", "_dropout", "_random_generator")
"""The attributes that tell a layer that draws."""


class _Position:
    """Where a seeded layer is in its random numbers: a count that it keeps in Python, read and set as a variable is."""

    name = "random_position"
    shape = ()
    dtype = np.dtype("int64")

    def __init__(self, generator: Any) -> None:
        self._generator = weakref.ref(generator)

    def read(self) -> Any:
        generator: Any = self._generator()
        return np.asarray(generator._seed, "int64")

    def assign(self, value: Any) -> None:
        generator: Any = self._generator()
        generator._seed = int(value)


class TfKeras(Eager):
    """tf_keras, whichever release; its backend is always TensorFlow, eager."""

    generation = "tf_keras"
    backend = "tensorflow"
    _takes_training = "_expects_training_arg"

    def __init__(self) -> None:
        self.keras: Any = importlib.import_module("tf_keras")
        self.tensors = TensorFlow()
        self._positions: Any = weakref.WeakKeyDictionary()
        self.tf = self.tensors.tf
        self._variable: Any = self.tf.Variable
        self._pack: Any = self.tf.nest.pack_sequence_as
        self._drops_out = ("tf_keras.src.layers.rnn.", "tf_keras.src.layers.attention.")
        self._backend = self._module("backend")
        self._settings: Any = self._module("backend_config")
        self._layer: Any = self.keras.layers.Layer
        self._sequential: Any = self.keras.Sequential
        self._functional: Any = self._module("engine.functional").Functional
        self._tensor: Any = self._module("engine.keras_tensor").KerasTensor
        self._sparse: Any = self._module("engine.keras_tensor").SparseKerasTensor
        self._ragged: Any = self._module("engine.keras_tensor").RaggedKerasTensor
        self._policies: Any = self._module("mixed_precision.policy")
        self._registry: Any = self._module("saving.object_registration")
        self._plain_calls = {self._functional.call, self._sequential.call}
        self._plain_configs = {self._functional.get_config, self._sequential.get_config}
        self._safe_mode = self._module("saving.serialization_lib").SafeModeScope
        # Frames of Keras are what a failure is known by; filtering takes them out.
        self.tf.debugging.disable_traceback_filtering()

    def speed_up(self) -> None:
        # GRU and LSTM register a second function, for a GPU, with the graph that a call on symbolic tensors is traced
        # in. Keras throws that graph away, and tracing it took a fifth of the time of all trials.
        module = self._module("layers.rnn.gru_lstm_utils")
        register = module.function_register

        @functools.wraps(register)
        def for_a_graph_that_is_kept(*args: Any, **kwargs: Any) -> Any:
            graph = self.tf.compat.v1.get_default_graph()
            kept = not getattr(graph, "name", "").endswith("_scratch_graph")
            return register(*args, **kwargs) if kept else None

        module.function_register = for_a_graph_that_is_kept

    def registries(self) -> list[Any]:
        return [self._registry._GLOBAL_CUSTOM_OBJECTS, self._registry._GLOBAL_CUSTOM_NAMES]

    @staticmethod
    def _module(name: str) -> Any:
        return importlib.import_module("tf_keras.src." + name)

    # -- the process

    def versions(self) -> dict[str, str]:
        own, tensorflow = str(self.keras.__version__), self.tensors.version
        return {"keras": own, "backend": self.backend, "backend_version": tensorflow}

    def _scope(self, device: str) -> Any:
        return self.tf.device("/" + device)

    def forget(self) -> None:
        # clear_session without the kernel cache, which costs more than the rest of a trial. The graph in which every
        # symbolic call of this generation leaves its operations is what grows without end.
        backend = self._backend
        backend._GRAPH.graph = None
        backend._DUMMY_EAGER_GRAPH.learning_phase_is_set = False
        backend._GRAPH_LEARNING_PHASES.clear()
        backend.reset_uids()
        self._policies._global_policy = None
        self.reset_settings(backend)
        self._forget_registered(self.registries())

    def kept_apart(self) -> list[tuple[Any, str]]:
        names = ("_GRAPH", "PER_GRAPH_OBJECT_NAME_UIDS", "OBSERVED_NAMES", "_GRAPH_LEARNING_PHASES", "_SEED_GENERATOR")
        values = [(self._settings, name) for name in ("_FLOATX", "_EPSILON", "_IMAGE_DATA_FORMAT")]
        own = [*((self._backend, name) for name in names), (self._policies, "_global_policy"), *values]
        return own + self.tensors.kept_apart()

    def begin_apart(self) -> None:
        backend = self._backend
        backend._GRAPH = threading.local()
        backend.PER_GRAPH_OBJECT_NAME_UIDS = weakref.WeakKeyDictionary()
        backend.OBSERVED_NAMES = set()
        phases = backend._GRAPH_LEARNING_PHASES  # a plain dict, once a session was cleared
        made_with = [phases.default_factory] if hasattr(phases, "default_factory") else []
        backend._GRAPH_LEARNING_PHASES = type(phases)(*made_with)
        backend._SEED_GENERATOR = threading.local()
        self.tensors.begin_apart()
        self._policies._global_policy = None
        self.reset_settings(backend)

    def begin_beside(self) -> None:
        self.tensors.begin_apart()
        backend = self._backend
        equal: Any = weakref.WeakKeyDictionary()
        for graph, names in backend.PER_GRAPH_OBJECT_NAME_UIDS.items():
            equal[graph] = copy.copy(names)
        backend.PER_GRAPH_OBJECT_NAME_UIDS = equal
        backend.OBSERVED_NAMES = set(backend.OBSERVED_NAMES)

    def forget_names(self) -> None:
        self._backend.reset_uids()

    def forget_kernels(self) -> None:
        self.tf.compat.v1.reset_default_graph()
        self.tensors.forget_kernels()

    def draws(self, layers: list[Any], source: str) -> bool:
        return "random" in source or any(getattr(layer, name, None) for layer in layers for name in _SEEDED)

    # -- a model at rest

    def members(self, layer: Any) -> list[Any]:
        return [each for each in self._tracked(layer) if isinstance(each, self._layer)]

    @staticmethod
    def _tracked(layer: Any) -> list[Any]:
        return getattr(layer, "_self_tracked_trackables", None) or []

    def held(self, layer: Any) -> list[Any]:
        if not self._tracked(layer):
            return []
        return list(layer._flatten_layers(recursive=False, include_self=False))

    def graph_nodes(self, model: Any) -> list[Any]:
        by_depth = getattr(model, "_nodes_by_depth", None) or {}
        return [node for nodes in by_depth.values() for node in nodes]

    def begins_inside(self, graph: Any) -> bool:
        return not all(layer.is_placeholder for layer in getattr(graph, "_input_layers", ()))

    def arguments(self, node: Any) -> tuple[Any, Any]:
        return tuple(node.call_args), node.call_kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(self.tf.nest.flatten(node.outputs))

    def policy(self, layer: Any) -> Any:
        policy = getattr(layer, "_dtype_policy", None)
        return "" if policy is None else policy.name

    def structures(self, model: Any) -> tuple[Any, Any]:
        inputs, outputs = self.ends(model)
        return getattr(model, "_nested_inputs", inputs or None), getattr(model, "_nested_outputs", outputs or None)

    def end_options(self, tensor: Any) -> tuple[bool, bool, bool]:
        optional = bool(getattr(self.origin(tensor)[0], "optional", False))
        return optional, isinstance(tensor, self._sparse), isinstance(tensor, self._ragged)

    def dtype(self, thing: Any) -> str:
        return str(thing.dtype.name)

    def shape(self, tensor: Any) -> tuple[Any, ...] | None:
        return None if tensor.shape.rank is None else tuple(tensor.shape.as_list())

    def cast(self, tensor: Any, dtype: str) -> Any:
        return self.tf.cast(tensor, dtype)

    def compiled(self, model: Any) -> Any:
        if not getattr(model, "_is_compiled", False):
            return None
        try:
            told = model.get_compile_config()
        except Exception:  # of an object that has no config
            told = getattr(getattr(model, "_compile_config", None), "config", None)
        return parts(told or {})

    # -- variables

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        if isinstance(model, self._sequential) and not model.built:  # which does not tell them, nor does one within it
            weights = self._weights_in_order(model)
            return weights, {id(weight) for weight in weights if weight.trainable}
        weights, trains = super().weights(model)
        # The table of a lookup that was adapted poses as a weight.
        return [weight for weight in weights if hasattr(weight, "numpy")], trains

    def _weights_in_order(self, model: Any) -> list[Any]:
        held = [weight for layer in self._with_all_below(model) for weight in self._own_weights(layer)]
        return list({id(weight): weight for weight in held}.values())

    def _tables(self, model: Any) -> list[Any]:
        """The tables of lookups, which pose as weights that are not trained."""
        layers = self._with_all_below(model)
        held = [weight for layer in layers for weight in getattr(layer, "_non_trainable_weights", ())]
        return list({id(weight): weight for weight in held if hasattr(weight, "get_tensors")}.values())

    def weights_written(self, model: Any, original: Any = None) -> None:
        if original is not None:
            for table, mine in zip(self._tables(original), self._tables(model)):
                mine.set_weights(table.get_tensors())
        for layer in self._with_all_below(model):
            if hasattr(layer, "finalize_state"):
                layer.finalize_state()

    def own_variables(self, layer: Any) -> list[Any]:
        return self._own_weights(layer) + [state for state, _ in self._own_states(layer)]

    @staticmethod
    def _own_weights(layer: Any) -> list[Any]:
        own = [*getattr(layer, "_trainable_weights", ()), *getattr(layer, "_non_trainable_weights", ())]
        return [weight for weight in own if hasattr(weight, "numpy")]

    def states(self, model: Any) -> list[tuple[Any, bool]]:
        return [state for layer in self._with_all_below(model) for state in self._own_states(layer)]

    def _with_all_below(self, layer: Any) -> list[Any]:
        return list(layer._flatten_layers())

    def _own_states(self, layer: Any) -> list[tuple[Any, bool]]:
        found: list[tuple[Any, bool]] = []
        random_generator: Any = getattr(layer, "_random_generator", None)
        generator = getattr(random_generator, "_generator", None)
        if generator is not None:
            found.append((generator._state_var, random_generator._seed is None))
        elif getattr(random_generator, "_seed", None) is not None:
            found.append((self._position(random_generator), True))
        if getattr(layer, "_stateful", False):
            states = self.tf.nest.flatten(getattr(layer, "_states", None))
            found.extend((state, False) for state in states if isinstance(state, self.tf.Variable))
        return found

    def _position(self, generator: Any) -> "_Position":
        position: _Position = self._positions.setdefault(generator, _Position(generator))
        return position

    def name(self, variable: Any) -> str:
        return str(variable.name)

    def read(self, variable: Any) -> Any:
        if isinstance(variable, _Position):
            return variable.read()
        return np.asarray(self.tensors.array(variable)[0])
