"""Keras 2 on TensorFlow 2: the package `tf_keras`."""

from __future__ import annotations

import contextlib
import functools
import importlib
import weakref
from typing import Any

import numpy as np

from clonediff.harness.inside.frameworks.backends import TensorFlow
from clonediff.harness.inside.frameworks.interface import Framework

_RANDOM_ATTRIBUTES = ("rate", "stddev", "dropout", "recurrent_dropout", "_dropout", "_random_generator")
"""If a layer has one of these attributes, it draws random numbers."""


class _SeedCounter:
    """The seed counter of a layer, with the interface of a variable."""

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


class TfKeras(Framework):
    """Any release of tf_keras, in eager mode."""

    generation = "tf_keras"
    _training_attribute = "_expects_training_arg"

    def __init__(self) -> None:
        keras: Any = importlib.import_module("tf_keras")
        self.keras = keras
        self.tensors = TensorFlow()
        self._seed_counters: Any = weakref.WeakKeyDictionary()
        tf = self.tf = self.tensors.tf
        self._settings = backend = self._module("backend")
        self._policies: Any = self._module("mixed_precision.policy")
        registration = self._module("saving.object_registration")
        self._registries = [registration._GLOBAL_CUSTOM_OBJECTS, registration._GLOBAL_CUSTOM_NAMES]
        names = ("_GRAPH", "PER_GRAPH_OBJECT_NAME_UIDS", "OBSERVED_NAMES", "_GRAPH_LEARNING_PHASES", "_SEED_GENERATOR")
        setting_names, config = ("_FLOATX", "_EPSILON", "_IMAGE_DATA_FORMAT"), self._module("backend_config")
        self._global_state = [
            *((backend, name) for name in names),
            *((config, name) for name in setting_names),
            (self._policies, "_global_policy"),
        ]
        self.layer_class = keras.layers.Layer
        self.variable_class = tf.Variable
        self._sequential_class = keras.Sequential
        self._functional_class = self._module("engine.functional").Functional
        self._hooked_classes = [(self.layer_class, ())]
        self.tensor_class = self._module("engine.keras_tensor").KerasTensor
        self._pack_values = tf.nest.pack_sequence_as
        self._create_scope = lambda device: tf.device("/" + device)
        super().__init__()
        # A failure is identified by frames of Keras, which filtering would remove.
        tf.debugging.disable_traceback_filtering()

    @staticmethod
    def _module(name: str) -> Any:
        return importlib.import_module("tf_keras.src." + name)

    # -- the process

    def speed_up(self) -> None:
        # In symbolic calls, GRU and LSTM also trace a GPU function, which Keras discards.
        module = self._module("layers.rnn.gru_lstm_utils")
        register = module.function_register

        @functools.wraps(register)
        def register_unless_scratch(*args: Any, **kwargs: Any) -> Any:
            graph = self.tf.compat.v1.get_default_graph()
            is_scratch = getattr(graph, "name", "").endswith("_scratch_graph")
            return None if is_scratch else register(*args, **kwargs)

        module.function_register = register_unless_scratch

    def forget(self) -> None:
        # As `clear_session`, without clearing kernels: that takes long.
        backend = self._settings
        backend._GRAPH.graph = None
        backend._DUMMY_EAGER_GRAPH.learning_phase_is_set = False
        backend._GRAPH_LEARNING_PHASES.clear()
        backend.reset_uids()
        self._policies._global_policy = None
        super().forget()

    def forget_names(self) -> None:
        self._settings.reset_uids()

    def draws_from_backend(self, layers: list[Any], source: str) -> bool:
        return "random" in source or any(getattr(layer, name, None) for layer in layers for name in _RANDOM_ATTRIBUTES)

    # -- static structure

    def members(self, graph: Any) -> list[Any]:
        return [layer for layer in self._tracked(graph) if isinstance(layer, self.layer_class)]

    @staticmethod
    def _tracked(layer: Any) -> list[Any]:
        return getattr(layer, "_self_tracked_trackables", None) or []

    def sublayers(self, layer: Any) -> list[Any]:
        return list(layer._flatten_layers(recursive=False, include_self=False)) if self._tracked(layer) else []

    def graph_nodes(self, graph: Any) -> list[Any]:
        return [node for nodes in (getattr(graph, "_nodes_by_depth", None) or {}).values() for node in nodes]

    def arguments(self, node: Any) -> tuple[Any, Any]:
        return tuple(node.call_args), node.call_kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(self.tf.nest.flatten(node.outputs))

    def endpoints(self, model: Any) -> tuple[list[Any], list[Any]]:
        return list(getattr(model, "inputs", None) or ()), list(getattr(model, "outputs", None) or ())

    def structures(self, model: Any) -> tuple[Any, Any]:
        inputs, outputs = self.endpoints(model)
        return getattr(model, "_nested_inputs", inputs or None), getattr(model, "_nested_outputs", outputs or None)

    def dtype(self, value: Any) -> str:
        return str(value.dtype.name)

    def compile_config(self, model: Any) -> dict[str, Any] | None:
        if not getattr(model, "_is_compiled", False):
            return None
        try:
            return model.get_compile_config() or {}
        except Exception:  # an argument has no config
            return self.compile_arguments(model)

    # -- variables

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        if any(isinstance(part, self._sequential_class) and not part.built for part in model._flatten_layers()):
            # A Sequential that is not built has no `weights`, nor has a model around it.
            by_id = {id(weight): weight for layer in model._flatten_layers() for weight in self._own_weights(layer)}
            weights = list(by_id.values())
            return weights, {id(weight) for weight in weights if weight.trainable}
        weights, trainable = super().weights(model)
        # tf_keras lists an adapted lookup layer's table as a weight, which it is not.
        return [weight for weight in weights if hasattr(weight, "numpy")], trainable

    @staticmethod
    def _tables(model: Any) -> list[Any]:
        layers = model._flatten_layers()
        weights = [weight for layer in layers for weight in getattr(layer, "_non_trainable_weights", ())]
        return list({id(table): table for table in weights if hasattr(table, "get_tensors")}.values())

    def finish_writing_weights(self, model: Any, original: Any = None) -> None:
        if original is not None:
            for table, new_table in zip(self._tables(original), self._tables(model), strict=False):
                new_table.set_weights(table.get_tensors())
        for layer in model._flatten_layers():
            if hasattr(layer, "finalize_state"):
                with contextlib.suppress(TypeError):  # a Discretization may have neither boundaries nor bins
                    layer.finalize_state()

    def own_variables(self, layer: Any) -> list[Any]:
        return self._own_weights(layer) + [state for state, _ in self._own_states(layer)]

    @staticmethod
    def _own_weights(layer: Any) -> list[Any]:
        weights = [*getattr(layer, "_trainable_weights", ()), *getattr(layer, "_non_trainable_weights", ())]
        return [weight for weight in weights if hasattr(weight, "numpy")]

    def states(self, model: Any) -> list[tuple[Any, bool]]:
        return [state for layer in model._flatten_layers() for state in self._own_states(layer)]

    def _own_states(self, layer: Any) -> list[tuple[Any, bool]]:
        states: list[tuple[Any, bool]] = []
        seeds: Any = getattr(layer, "_random_generator", None)
        generator = getattr(seeds, "_generator", None)
        if generator is not None:
            states.append((generator._state_var, seeds._seed is None))
        elif getattr(seeds, "_seed", None) is not None:
            states.append((self._seed_counters.setdefault(seeds, _SeedCounter(seeds)), True))
        if getattr(layer, "_stateful", False):
            batch_states = self.tf.nest.flatten(getattr(layer, "_states", None))
            states += [(state, False) for state in batch_states if isinstance(state, self.variable_class)]
        return states

    def read(self, variable: Any) -> Any:
        return variable.read() if isinstance(variable, _SeedCounter) else np.asarray(self.tensors.array(variable))
