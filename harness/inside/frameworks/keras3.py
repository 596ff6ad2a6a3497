"""Keras 3, on TensorFlow, JAX, torch or NumPy."""

from __future__ import annotations

import collections
import copy
import functools
import importlib
import inspect
import re
import threading
from typing import Any

from ..configs import parts
from ..structure import leaves
from .backends import Backend, load_backend
from .eager import Eager
from .interface import Framework

_NUMBERED_SEED = re.compile(r"\bseed_generator_\d+\b")


def load() -> Framework:
    """Keras 3 as it is installed."""
    return Keras3()


def _tells_itself(model: Any, base: Any) -> bool:
    """Whether the class of a model has a method of its own for what it was compiled with."""
    return inspect.getattr_static(type(model), "get_compile_config") is not inspect.getattr_static(
        base, "get_compile_config"
    )


def _metrics(model: Any) -> list[Any]:
    """The metrics that a model was given, and not those that it makes of names and functions."""
    given = getattr(getattr(model, "_compile_config", None), "config", None) or {}
    found = list(leaves([given.get("metrics"), given.get("weighted_metrics")]))
    return [each for each in found if hasattr(each, "update_state")]


class Keras3(Eager):
    """Keras 3, whichever release and backend."""

    generation = "keras"
    learns_apart = True
    _takes_training = "_call_has_training_arg"
    _drops_out = ("keras.src.layers.rnn.", "keras.src.layers.attention.")

    def __init__(self) -> None:
        self.keras: Any = importlib.import_module("keras")
        self.backend = str(self.keras.backend.backend())
        self.tensors: Backend = load_backend(self.backend)
        source = importlib.import_module
        self._state: Any = source("keras.src.backend.common.global_state")
        self._config: Any = self.keras.config
        self._floats: Any = source("keras.src.backend.config")
        registration = source("keras.src.saving.object_registration")
        self._registries = [registration.GLOBAL_CUSTOM_OBJECTS, registration.GLOBAL_CUSTOM_NAMES]
        self._layer: Any = source("keras.src.layers.layer").Layer
        self._operation: Any = source("keras.src.ops.operation").Operation
        self._tensor: Any = source("keras.src.backend").KerasTensor
        self._variable: Any = source("keras.src.backend").Variable
        self._functional: Any = source("keras.src.models.functional").Functional
        self._sequential: Any = source("keras.src.models.sequential").Sequential
        self._pack: Any = self.keras.tree.pack_sequence_as
        self._scope = self.keras.device
        self._safe_mode = source("keras.src.saving.serialization_lib").SafeModeScope
        self._plain_calls = {self._functional.call, self._sequential.call}
        self._plain_configs = {self._functional.get_config, self._sequential.get_config}

    # -- the process

    def versions(self) -> dict[str, str]:
        return {"keras": str(self.keras.__version__), "backend": self.backend, "backend_version": self.tensors.version}

    def repeat_kernels(self) -> None:
        self.tensors.repeat_kernels()

    def speed_up(self) -> None:
        self.tensors.compile_once()
        saving: Any = importlib.import_module("keras.src.saving.saving_lib")
        # Since 3.6 it is kept under one name and looked for under another: a layer is made for each that is saved.
        found = getattr(saving, "get_attr_skipset", None)
        if found is not None:
            saving.get_attr_skipset = functools.lru_cache(maxsize=None)(found)

    def forget(self) -> None:
        # clear_session without its kernel cache and its gc.collect, which cost more than the rest of a trial.
        self._state.GLOBAL_STATE_TRACKER = threading.local()
        if hasattr(self._state, "GLOBAL_SETTINGS_TRACKER"):
            self._state.GLOBAL_SETTINGS_TRACKER = threading.local()
        self.reset_settings(self._config)
        self._forget_registered(self._registries)
        # Frames of Keras are what a failure is known by; filtering takes them out.
        self._config.disable_traceback_filtering()

    def registries(self) -> list[Any]:
        return self._registries

    def kept_apart(self) -> list[tuple[Any, str]]:
        values = [(self._floats, name) for name in ("_FLOATX", "_EPSILON", "_IMAGE_DATA_FORMAT")]
        return [
            (self._state, "GLOBAL_STATE_TRACKER"),
            (self._state, "GLOBAL_SETTINGS_TRACKER"),
            *values,
            *self.tensors.kept_apart(),
        ]

    def begin_apart(self) -> None:
        self.tensors.begin_apart()
        self.forget()

    def begin_beside(self) -> None:
        self.tensors.begin_apart()
        for name in ("GLOBAL_STATE_TRACKER", "GLOBAL_SETTINGS_TRACKER"):
            if hasattr(self._state, name):
                equal = threading.local()
                for key, value in vars(getattr(self._state, name)).items():
                    setattr(equal, key, copy.copy(value) if isinstance(value, (dict, list, set)) else value)
                setattr(self._state, name, equal)
        self._config.disable_traceback_filtering()

    def forget_names(self) -> None:
        self._state.set_global_attribute("object_name_uids", collections.defaultdict(int))

    def forget_kernels(self) -> None:
        self.tensors.forget_kernels()

    def draws(self, layers: list[Any], source: str) -> bool:
        # Keras 3 draws statelessly from seeds of its own, on most backends; a graph's own functions can do otherwise.
        return self.tensors.draws_at_large or "tf.random" in source or "torch.rand" in source

    def reseed(self, seed: int, backend: bool = False) -> None:
        super().reseed(seed, backend)
        self._state.set_global_attribute("global_seed_generator", None)

    # -- a model at rest

    def _function(self, model: Any) -> Any:
        return model if isinstance(model, self._functional) else getattr(model, "_functional", None)

    def members(self, layer: Any) -> list[Any]:
        function = self._function(layer)
        return list(layer._layers if function is None else function._operations)

    def held(self, layer: Any) -> list[Any]:
        return list(getattr(layer, "_layers", ()))

    def graph_nodes(self, model: Any) -> list[Any]:
        function = self._function(model)
        if function is None:
            return []
        return [node for nodes in function._nodes_by_depth.values() for node in nodes]

    def arguments(self, node: Any) -> tuple[Any, Any]:
        return node.arguments.args, node.arguments.kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(node.outputs)

    def origin(self, tensor: Any) -> tuple[Any, Any, int]:
        layer, node, place = tensor._keras_history
        return layer, (layer._inbound_nodes[node] if layer is not None else None), place

    def begins_inside(self, graph: Any) -> bool:
        return any(str(output.name).endswith("_clone") for output in self.ends(graph)[1])

    def policy(self, layer: Any) -> Any:
        policy = getattr(layer, "_dtype_policy", None) or getattr(layer, "dtype_policy", None)
        if policy is None:
            return ""
        return policy if type(policy).__name__ == "DTypePolicyMap" else policy.name

    def ends(self, model: Any) -> tuple[list[Any], list[Any]]:
        function = self._function(model)
        return ([], []) if function is None else (list(function._inputs), list(function._outputs))

    def structures(self, model: Any) -> tuple[Any, Any]:
        function = self._function(model)
        return (None, None) if function is None else (function._inputs_struct, function._outputs_struct)

    def end_options(self, tensor: Any) -> tuple[bool, bool, bool]:
        optional = bool(getattr(tensor._keras_history[0], "optional", False))
        return optional, bool(getattr(tensor, "sparse", False)), bool(getattr(tensor, "ragged", False))

    def cast(self, tensor: Any, dtype: str) -> Any:
        return self.keras.ops.cast(tensor, dtype)

    def trains(self, layer: Any) -> bool:
        return self.is_layer(layer) and super().trains(layer)

    def dtype(self, thing: Any) -> str:
        return str(getattr(thing, "_dtype", None) or thing.dtype)

    def compiled(self, model: Any) -> Any:
        if not getattr(model, "compiled", False):
            return None
        given = getattr(getattr(model, "_compile_config", None), "config", None)
        if given is None or _tells_itself(model, self.keras.Model):
            return parts(model.get_compile_config())
        told = {name: getattr(model, name) for name in ("optimizer", "jit_compile", "run_eagerly")}
        return parts(dict(given, **told))

    def compiled_with(self, model: Any) -> list[Any]:
        if not getattr(model, "compiled", False):
            return []
        return [each for each in (getattr(model, "optimizer", None), *_metrics(model)) if each is not None]

    # -- variables

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        weights = model.weights
        trains = model.trainable
        return weights, {id(weight) for weight in weights if weight.trainable} if trains else set()

    def own_variables(self, layer: Any) -> list[Any]:
        own = list(getattr(layer, "_trainable_variables", ())) + list(getattr(layer, "_non_trainable_variables", ()))
        own.extend(generator.state for generator in getattr(layer, "_seed_generators", ()))
        return own + self._kept_states(layer)

    def _kept_states(self, layer: Any) -> list[Any]:
        """What a recurrent layer keeps from batch to batch, which Keras 3 counts among no variables."""
        kept = leaves(getattr(layer, "states", None)) if getattr(layer, "stateful", False) else ()
        return [each for each in kept if isinstance(each, self._variable)]

    def states(self, model: Any) -> list[tuple[Any, bool]]:
        found: list[tuple[Any, bool]] = []
        layers = model._flatten_layers() if hasattr(model, "_flatten_layers") else []
        for layer in layers:
            for generator in getattr(layer, "_seed_generators", ()):
                found.append((generator.state, generator._initial_seed is None))
            found.extend((state, False) for state in self._kept_states(layer))
        if getattr(model, "compiled", False):
            # Those of metrics are made when it is first trained, which its clone is not.
            tracker = getattr(model, "_loss_tracker", None)
            found.extend((variable, False) for variable in getattr(tracker, "variables", ()))
        return found

    def name(self, variable: Any) -> str:
        path = str(variable.path)
        # An unnamed seed generator is numbered by how many there were before it, in whichever model.
        return _NUMBERED_SEED.sub("seed_generator", path) if "seed_generator_" in path else path

    def short_name(self, variable: Any) -> str:
        return str(variable.name)

    def read(self, variable: Any) -> Any:
        value = getattr(variable, "_value", variable)  # an optimizer that accumulates gradients computes its iterations
        return self.tensors.array(value if value is not None else variable.value)[0]

    # -- a model that runs

    def install_hooks(self) -> None:
        super().install_hooks()
        self._tell_of_calls(self._operation, but_not=self._layer)

    def mask(self, tensor: Any) -> Any:
        mask = super().mask(tensor)
        if mask is None:
            kept = getattr(self._state.GLOBAL_STATE_TRACKER, "_keras_mask_dict", None)
            return kept.get(id(tensor)) if kept else None
        return mask

    def symbolic_like(self, shape: tuple[Any, ...], dtype: str, options: dict[str, bool]) -> Any:
        # One that no layer gives is made in a tenth of the time.
        return (
            super().symbolic_like(shape, dtype, options) if options else self.keras.KerasTensor((None, *shape), dtype)
        )
