"""Keras 3, on TensorFlow, JAX, torch or NumPy."""

from __future__ import annotations

import collections
import contextlib
import importlib
import re
import threading
from collections.abc import Iterator
from typing import Any

from clonediff.harness.inside.frameworks.backends import load_backend
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.structure import leaves

_NUMBERED_SEED = re.compile(r"\bseed_generator_\d+\b")


class Keras3(Framework):
    generation = "keras"
    keeps_adapted_state = True
    _training_attribute = "_call_has_training_arg"

    def __init__(self) -> None:
        load: Any = importlib.import_module
        keras: Any = load("keras")
        self.keras = keras
        self.tensors = load_backend(str(keras.backend.backend()))
        self._settings = keras.config
        self._state_module: Any = load("keras.src.backend.common.global_state")
        registration = load("keras.src.saving.object_registration")
        self._registries = [registration.GLOBAL_CUSTOM_OBJECTS, registration.GLOBAL_CUSTOM_NAMES]
        self._global_state = [
            *((self._state_module, name) for name in ("GLOBAL_STATE_TRACKER", "GLOBAL_SETTINGS_TRACKER")),
            *((load("keras.src.backend.config"), name) for name in ("_FLOATX", "_EPSILON", "_IMAGE_DATA_FORMAT")),
        ]
        self.layer_class = load("keras.src.layers.layer").Layer
        self._hooked_classes = [(self.layer_class, ()), (load("keras.src.ops.operation").Operation, self.layer_class)]
        backend = load("keras.src.backend")
        self.tensor_class, self.variable_class = backend.KerasTensor, backend.Variable
        self._functional_class = load("keras.src.models.functional").Functional
        self._sequential_class = load("keras.src.models.sequential").Sequential
        self._pack_values, self._create_scope = keras.tree.pack_sequence_as, keras.device
        super().__init__()

    # -- the process

    def forget(self) -> None:
        # Like `clear_session`, but keeps compiled functions and garbage: they take long.
        self._state_module.GLOBAL_STATE_TRACKER = threading.local()
        if hasattr(self._state_module, "GLOBAL_SETTINGS_TRACKER"):
            self._state_module.GLOBAL_SETTINGS_TRACKER = threading.local()
        super().forget()
        self._settings.disable_traceback_filtering()

    @contextlib.contextmanager
    def isolated(self) -> Iterator[None]:
        with super().isolated():
            # A failure is identified by frames of Keras, which filtering would remove.
            self._settings.disable_traceback_filtering()
            yield

    def forget_names(self) -> None:
        self._state_module.set_global_attribute("object_name_uids", collections.defaultdict(int))

    def draws_from_backend(self, layers: list[Any], source: str) -> bool:
        # On most backends, Keras 3 draws from its own seeds, but functions in the source may not.
        return self.tensors.uses_own_generator or "tf.random" in source or "torch.rand" in source

    def reseed(self, seed: int, seeds_backend: bool = False) -> None:
        super().reseed(seed, seeds_backend)
        self._state_module.set_global_attribute("global_seed_generator", None)

    # -- static structure

    def _functional_of(self, model: Any) -> Any:
        return model if isinstance(model, self._functional_class) else getattr(model, "_functional", None)

    def members(self, graph: Any) -> list[Any]:
        functional = self._functional_of(graph)
        return list(graph._layers if functional is None else functional._operations)

    def sublayers(self, layer: Any) -> list[Any]:
        return list(getattr(layer, "_layers", ()))

    def graph_nodes(self, graph: Any) -> list[Any]:
        functional = self._functional_of(graph)
        return [] if functional is None else [node for nodes in functional._nodes_by_depth.values() for node in nodes]

    def arguments(self, node: Any) -> tuple[Any, Any]:
        return node.arguments.args, node.arguments.kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(node.outputs)

    def endpoints(self, model: Any) -> tuple[list[Any], list[Any]]:
        functional = self._functional_of(model)
        return ([], []) if functional is None else (list(functional._inputs), list(functional._outputs))

    def structures(self, model: Any) -> tuple[Any, Any]:
        functional = self._functional_of(model)
        return (None, None) if functional is None else (functional._inputs_struct, functional._outputs_struct)

    def dtype(self, value: Any) -> str:
        return str(getattr(value, "_dtype", None) or value.dtype)

    def compile_config(self, model: Any) -> dict[str, Any] | None:
        if not getattr(model, "compiled", False):
            return None
        arguments = self.compile_arguments(model)
        return {**arguments, **{name: getattr(model, name) for name in ("optimizer", "jit_compile", "run_eagerly")}}

    # -- variables

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        weights = model.weights
        return weights, {id(weight) for weight in weights if weight.trainable} if model.trainable else set()

    def own_variables(self, layer: Any) -> list[Any]:
        weights = [*getattr(layer, "_trainable_variables", ()), *getattr(layer, "_non_trainable_variables", ())]
        return [*weights, *(state for state, _ in self._own_states(layer))]

    def _own_states(self, layer: Any) -> list[tuple[Any, bool]]:
        """A layer's seeds and recurrent states, each with whether it is random."""
        seeds = getattr(layer, "_seed_generators", ())
        states = leaves(getattr(layer, "states", None)) if getattr(layer, "stateful", False) else ()
        return [
            *((generator.state, generator._initial_seed is None) for generator in seeds),
            *((state, False) for state in states if isinstance(state, self.variable_class)),
        ]

    def states(self, model: Any) -> list[tuple[Any, bool]]:
        layers = model._flatten_layers() if hasattr(model, "_flatten_layers") else []
        states = [state for layer in layers for state in self._own_states(layer)]
        if getattr(model, "compiled", False):
            # The loss tracker has variables from the start; metrics create theirs in training.
            states += [(state, False) for state in getattr(getattr(model, "_loss_tracker", None), "variables", ())]
        return states

    def names(self, variable: Any) -> tuple[str, str]:
        # Keras numbers unnamed seed generators, across all models.
        return _NUMBERED_SEED.sub("seed_generator", str(variable.path)), str(variable.name)

    def read(self, variable: Any) -> Any:
        value = getattr(variable, "_value", variable)  # `iterations` of some optimizers is a tensor
        return self.tensors.array(value if value is not None else variable.value)

    # -- running

    def mask(self, tensor: Any) -> Any:
        mask = super().mask(tensor)
        masks = getattr(self._state_module.GLOBAL_STATE_TRACKER, "_keras_mask_dict", {})
        return masks.get(id(tensor)) if mask is None else mask
