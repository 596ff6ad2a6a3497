"""The interface to Keras, with code that both generations share."""

from __future__ import annotations

import contextlib
import copy
import functools
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from clonediff.harness.inside.frameworks.backends import Backend

Listener = Callable[[Any, Any], None]
"""A function called with a layer and its result, for each call that returns."""


class Framework:
    """A generation of Keras on a backend. Subclasses define the declared attributes."""

    generation: Literal["keras", "tf_keras"]
    keras: Any
    tensors: Backend
    keeps_adapted_state = False
    """Whether state from `adapt`, such as a vocabulary, is outside the weights of a layer."""

    _hooked_classes: list[tuple[Any, Any]]
    """Classes whose calls are reported, each with its subclasses to skip."""
    layer_class: Any
    variable_class: Any
    tensor_class: Any
    """The classes of layers, variables and symbolic tensors."""
    _functional_class: Any
    _sequential_class: Any
    """The classes of models with a graph."""
    _pack_values: Any
    _create_scope: Any
    """Functions that pack values into a structure, or create a device scope."""
    _settings: Any
    """The module with `floatx` and `image_data_format`."""
    _registries: list[dict[Any, Any]]
    """Tables of custom objects."""
    _global_state: list[tuple[Any, str]]
    """The objects and attributes that hold global state of the process."""
    _training_attribute: str
    """A layer's attribute: whether `call` has a `training` argument."""

    forget_names: Callable[[], None]
    """Restart the counters of layer names."""
    draws_from_backend: Callable[[list[Any], str], bool]
    """Whether layers, or the source that built them, draw from the backend's own generator."""
    members: Callable[[Any], list[Any]]
    sublayers: Callable[[Any], list[Any]]
    """The layers and operations of a graph in order; the sublayers of any layer."""
    graph_nodes: Callable[[Any], list[Any]]
    arguments: Callable[[Any], tuple[Any, Any]]
    outputs: Callable[[Any], list[Any]]
    """The nodes of a graph; the arguments of a node; its output tensors."""
    structures: Callable[[Any], tuple[Any, Any]]
    endpoints: Callable[[Any], tuple[list[Any], list[Any]]]
    """The symbolic inputs and outputs of a model: nested (or None), and flat."""
    dtype: Callable[[Any], str]
    """The name of the dtype of a tensor or variable."""
    compile_config: Callable[[Any], dict[str, Any] | None]
    """The `compile` arguments of a model; None if the model is not compiled."""
    own_variables: Callable[[Any], list[Any]]
    """The weights and states of a layer, but not of its sublayers."""
    states: Callable[[Any], list[tuple[Any, bool]]]
    """Variables other than weights, each with whether its initial value is random."""
    read: Callable[[Any], Any]
    """The value of a variable as an array."""

    def __init__(self) -> None:
        root = self.keras.__name__ + ".src.layers."
        self._dropout_packages = root + "rnn.", root + "attention."
        self._plain_calls = {self._functional_class.call, self._sequential_class.call}
        self._plain_configs = {self._functional_class.get_config, self._sequential_class.get_config}
        self.listener: Listener | None = None
        self.failed_ids: list[int] = []
        """The `id`s of layers whose calls raised, innermost first."""
        self.keeps_hooks = False
        """Whether hooks stay installed: changing a class with subclasses is slow."""
        self._original_calls: list[tuple[Any, Any]] = []

    # -- the process

    def speed_up(self) -> None:
        """Disable work whose result Keras discards. For child processes."""

    def versions(self) -> dict[str, str]:
        backend = self.tensors
        return {"keras": str(self.keras.__version__), "backend": backend.name, "backend_version": backend.version}

    def device_scope(self, device: str | None) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if device is None else self._create_scope(device)

    def forget(self) -> None:
        """Reset names, settings and registrations of earlier models."""
        if self._settings.floatx() != "float32":
            self._settings.set_floatx("float32")
        if self._settings.image_data_format() != "channels_last":
            self._settings.set_image_data_format("channels_last")
        # Keras finds any script's registered function by the last part of its name.
        for registry in self._registries:
            for key, value in list(registry.items()):
                if getattr(value if isinstance(key, str) else key, "__module__", "") == "__main__":
                    del registry[key]

    @contextlib.contextmanager
    def isolated(self) -> Iterator[None]:
        """Undo changes to settings, registrations, names and random state after a scope."""
        state = [*self._global_state, *self.tensors.global_state]
        saved = [(owner, name, getattr(owner, name)) for owner, name in state if hasattr(owner, name)]
        registered = [(registry, dict(registry)) for registry in self._registries]
        python_state = random.getstate()
        numpy_state = np.random.get_state()
        try:
            for owner, name, value in saved:
                setattr(owner, name, _copy_state(value))
            yield
        finally:
            for owner, name, value in saved:
                setattr(owner, name, value)
            for registry, entries in registered:
                registry.clear()
                registry.update(entries)
            random.setstate(python_state)
            np.random.set_state(numpy_state)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[None]:
        """A scope like `isolated` with default settings and without names."""
        with self.isolated():
            self.forget()
            yield

    def reseed(self, seed: int, seeds_backend: bool = False) -> None:
        """Seed global generators and, if asked, the backend's, which is slow."""
        random.seed(seed)
        np.random.seed(seed)
        if seeds_backend:
            self.tensors.reseed(seed)

    # -- static structure

    def is_graph(self, layer: Any) -> bool:
        return isinstance(layer, (self._functional_class, self._sequential_class))

    def layer_nodes(self, layer: Any) -> list[Any]:
        """The nodes of all symbolic calls of a layer, in any graph."""
        return list(layer._inbound_nodes)

    def node_counts(self, layer: Any) -> tuple[int, int]:
        """How many symbolic calls a layer has, and how many use its outputs."""
        return len(getattr(layer, "_inbound_nodes", ())), len(getattr(layer, "_outbound_nodes", ()))

    def origin(self, tensor: Any) -> tuple[Any, Any, int]:
        """The layer, node and output index of a symbolic tensor."""
        layer, node, output = getattr(tensor, "_keras_history", None) or (None, None, 0)
        return layer, (None if layer is None else layer._inbound_nodes[node]), output

    def has_mask(self, tensor: Any) -> bool:
        return getattr(tensor, "_keras_mask", None) is not None

    def config(self, layer: Any) -> dict[str, Any]:
        """A layer's config; empty for a model that adds nothing to its layers."""
        if type(layer).get_config in self._plain_configs:
            return {}
        config = layer.get_config()
        return config if isinstance(config, dict) else {}

    def pack(self, structure: Any, values: list[Any]) -> Any:
        if structure is None or isinstance(structure, self.tensor_class):
            return values[0]
        if type(structure) is list and all(isinstance(item, self.tensor_class) for item in structure):
            return values
        return self._pack_values(structure, values)

    def shape(self, tensor: Any) -> tuple[Any, ...] | None:
        """A symbolic tensor's shape with its batch; None for an unknown rank."""
        shape = tensor.shape
        return None if shape is None or getattr(shape, "rank", 0) is None else tuple(shape)

    def uses_training(self, layer: Any) -> bool:
        """Whether a layer itself may compute other values in training."""
        if not isinstance(layer, self.layer_class) or (self.is_graph(layer) and type(layer).call in self._plain_calls):
            return False
        if isinstance(layer, self.keras.layers.Lambda):
            return bool(getattr(layer, "_fn_expects_training_arg", True))
        if type(layer).__module__.startswith(self._dropout_packages):  # these layers use `training` only for dropout
            return any(vars(layer).get(name) for name in ("dropout", "recurrent_dropout", "_dropout"))
        return bool(getattr(layer, self._training_attribute, True))

    @staticmethod
    def compile_arguments(model: Any) -> dict[str, Any]:
        return getattr(getattr(model, "_compile_config", None), "config", None) or {}

    def training_variables(self, model: Any) -> list[Any]:
        optimizer = getattr(model, "optimizer", None)
        variables = getattr(optimizer, "variables", [])
        # In legacy optimizers of tf_keras, `variables` is a method.
        return [*(variables() if callable(variables) else variables), *getattr(model, "metrics_variables", [])]

    # -- variables

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        """A model's weights in order, and the `id`s of trainable ones."""
        return list(model.weights), {id(weight) for weight in model.trainable_weights}

    def finish_writing_weights(self, model: Any, original: Any = None) -> None:
        """Do what `set_weights` does after writing; values may come from `original`."""

    def names(self, variable: Any) -> tuple[str, str]:
        """The path of a variable, and its name or ""."""
        return str(variable.name), ""

    def write(self, variable: Any, array: Any) -> None:
        if not self.tensors.write(getattr(variable, "_value", variable), array):
            variable.assign(array)

    # -- running

    def inputs(self, model: Any, arrays: list[Any]) -> Any:
        """The `arrays` as tensors, in the structure of a model's inputs."""
        tensors = [None if array is None else self.tensors.tensor(array) for array in arrays]
        return self.pack(self.structures(model)[0], tensors)

    @contextlib.contextmanager
    def hooked(self) -> Iterator[None]:
        """In a scope, report every call of a layer or operation to `listener`."""
        for cls, excluded in () if self._original_calls else self._hooked_classes:
            self._original_calls.append((cls, cls.__call__))
            cls.__call__ = self._wrap_call(cls.__call__, excluded)
        try:
            yield
        finally:
            while self._original_calls and not self.keeps_hooks:
                cls, call = self._original_calls.pop()
                cls.__call__ = call

    def _wrap_call(self, call: Any, excluded: Any) -> Any:
        @functools.wraps(call)
        def call_and_report(layer: Any, *args: Any, **kwargs: Any) -> Any:
            count = len(self.failed_ids)
            try:
                result = call(layer, *args, **kwargs)
            except Exception:
                self.failed_ids.append(id(layer))
                raise
            del self.failed_ids[count:]
            if self.listener is not None and not isinstance(layer, excluded):
                self.listener(layer, result)
            return result

        return call_and_report

    def mask(self, tensor: Any) -> Any:
        return getattr(tensor, "_keras_mask", None)


def _copy_state(value: Any) -> Any:
    """Copy an object with global state if it is mutable."""
    if isinstance(value, threading.local):
        new = threading.local()
        vars(new).update({name: _copy_state(item) for name, item in vars(value).items()})
        return new
    if isinstance(value, weakref.WeakKeyDictionary):
        return weakref.WeakKeyDictionary({key: _copy_state(item) for key, item in value.items()})
    return copy.copy(value) if isinstance(value, (dict, list, set, random.Random)) else value
