"""What the observer asks of Keras: what Keras 3 and `tf_keras` answer alike, and what each has to answer itself."""

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
"""Called with the layer and what it returned, once for each call that returns."""


class Framework:
    """A generation of Keras on a backend. A subclass sets what is only declared here, in its constructor."""

    generation: Literal["keras", "tf_keras"]
    keras: Any
    tensors: Backend
    learns_apart = False
    """Whether a layer holds what it has learned from data apart from its weights, so that a clone may lack it."""

    _hooked: list[tuple[Any, Any]]
    """The classes whose calls are listened to, each with a class of objects that another tells of."""
    layer_class: Any
    variable_class: Any
    tensor_class: Any
    """Classes of Keras: of layers, which are no mere operations, of variables, and of the tensors of a graph."""
    _functional: Any
    _sequential: Any
    """Classes of graphs."""
    _pack: Any
    _device: Any
    """Functions: pack values into a structure, make the scope of a device."""
    _settings: Any
    """The module with `floatx` and `image_data_format`."""
    _registries: list[dict[Any, Any]]
    """The tables of what is registered under a name."""
    _process_wide: list[tuple[Any, str]]
    """The objects, and their attributes, that hold what belongs to a process as a whole."""
    _takes_training: str
    """The attribute that says whether a layer takes `training`."""

    forget_names: Callable[[], None]
    """Count the names of layers from the beginning again; what is there stays as it is."""
    draws: Callable[[list[Any], str], bool]
    """Whether a model of these layers, built by this source, draws from the backend's own generator."""
    members: Callable[[Any], list[Any]]
    sublayers: Callable[[Any], list[Any]]
    """The layers and operations of a graph, in its own order; and the layers that any layer has as its parts."""
    graph_nodes: Callable[[Any], list[Any]]
    arguments: Callable[[Any], tuple[Any, Any]]
    outputs: Callable[[Any], list[Any]]
    """The nodes of a graph; the arguments of a node, positional and by keyword; the symbolic tensors that it gave."""
    begins_inside: Callable[[Any], bool]
    """Whether a model begins inside another: Keras then makes it of copies of the tensors, which have no masks."""
    structures: Callable[[Any], tuple[Any, Any]]
    ends: Callable[[Any], tuple[list[Any], list[Any]]]
    """The symbolic inputs and outputs of a model: nested, None where it is not built; and flat."""
    dtype: Callable[[Any], str]
    """The dtype of a tensor or a variable, by name."""
    compiled: Callable[[Any], dict[str, Any] | None]
    """The arguments that a model was compiled with, None where it was not."""
    own_variables: Callable[[Any], list[Any]]
    """The variables that a layer itself owns, weights and states."""
    states: Callable[[Any], list[tuple[Any, bool]]]
    """Variables of a model that are no weights, each with whether chance gave it its value."""
    read: Callable[[Any], Any]
    """A variable's value as an array."""

    def __init__(self) -> None:
        root = self.keras.__name__ + ".src.layers."
        self._drops_out = root + "rnn.", root + "attention."
        self._plain_calls = {self._functional.call, self._sequential.call}
        self._plain_configs = {self._functional.get_config, self._sequential.get_config}
        self.listener: Listener | None = None
        self.raisers: list[int] = []
        """The ids of layers whose calls have raised, the innermost first, until a call around them returns."""
        self.hooks_stay = False
        """Whether hooks, once installed, stay. Changing a class with many subclasses takes time."""
        self._unhooked: list[tuple[Any, Any]] = []

    # -- the process

    def speed_up(self) -> None:
        """Have Keras leave out what it does for each layer, and throws away. For a process of our own only."""

    def versions(self) -> dict[str, str]:
        backend = self.tensors
        return {"keras": str(self.keras.__version__), "backend": backend.name, "backend_version": backend.version}

    def on(self, device: str | None) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if device is None else self._device(device)

    def forget(self) -> None:
        """Forget the names and the global state that models before this one left."""
        if self._settings.floatx() != "float32":
            self._settings.set_floatx("float32")
        if self._settings.image_data_format() != "channels_last":
            self._settings.set_image_data_format("channels_last")
        # Keras finds a function by the end of a name, whichever script has registered it.
        for known in self._registries:
            for key, value in list(known.items()):
                if getattr(value if isinstance(key, str) else key, "__module__", "") == "__main__":
                    del known[key]

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """A scope in the process of a user: what is set, registered, named and drawn in it is undone after it."""
        places = [*self._process_wide, *self.tensors.process_wide]
        before = [(owner, name, getattr(owner, name)) for owner, name in places if hasattr(owner, name)]
        registered = [(known, dict(known)) for known in self._registries]
        python, numbers = random.getstate(), np.random.get_state()
        try:
            for owner, name, value in before:
                setattr(owner, name, _copied(value))
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)
            for known, entries in registered:
                known.clear()
                known.update(entries)
            random.setstate(python)
            np.random.set_state(numbers)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[None]:
        """The same, beginning with no names and with the settings that Keras has by default."""
        with self.beside():
            self.forget()
            yield

    def reseed(self, seed: int, backend: bool = False) -> None:
        """Let random numbers that carry no seed of their own begin anew; those of the backend's generator cost more."""
        random.seed(seed)
        np.random.seed(seed)
        if backend:
            self.tensors.reseed(seed)

    # -- a model at rest

    def is_graph(self, layer: Any) -> bool:
        return isinstance(layer, (self._functional, self._sequential))

    def layer_nodes(self, layer: Any) -> list[Any]:
        """The nodes that calls of a layer have made, in their order, whatever graph they belong to."""
        return list(layer._inbound_nodes)

    def node_counts(self, layer: Any) -> tuple[int, int]:
        """How often a layer was called on symbolic tensors, and how often what it gave was used by such a call."""
        return len(getattr(layer, "_inbound_nodes", ())), len(getattr(layer, "_outbound_nodes", ()))

    def origin(self, tensor: Any) -> tuple[Any, Any, int]:
        """The layer and the node that a symbolic tensor comes from, and its place among that node's outputs."""
        layer, node, place = getattr(tensor, "_keras_history", None) or (None, None, 0)
        return layer, (None if layer is None else layer._inbound_nodes[node]), place

    def has_mask(self, tensor: Any) -> bool:
        return getattr(tensor, "_keras_mask", None) is not None

    def config(self, layer: Any) -> dict[str, Any]:
        """A layer's config, if it is a dictionary; of a graph, only what is not said of its layers."""
        if type(layer).get_config in self._plain_configs:
            return {}
        config = layer.get_config()
        return config if isinstance(config, dict) else {}

    def declared(self, model: Any) -> tuple[Any, Any]:
        """The structures of inputs and outputs as the model was given them, their leaves numbered as in `ends`."""
        inputs, outputs = self.ends(model)
        if not inputs:
            return None, None
        first, last = self.structures(model)
        return self.pack(first, list(range(len(inputs)))), self.pack(last, list(range(len(outputs))))

    def pack(self, structure: Any, values: list[Any]) -> Any:
        if structure is None or isinstance(structure, self.tensor_class):
            return values[0]
        if type(structure) is list and all(isinstance(item, self.tensor_class) for item in structure):
            return values
        return self._pack(structure, values)

    def shape(self, tensor: Any) -> tuple[Any, ...] | None:
        """The shape of a symbolic tensor with its batch, None where its rank is not known."""
        shape = tensor.shape
        return None if shape is None or getattr(shape, "rank", 0) is None else tuple(shape)

    def trains(self, layer: Any) -> bool:
        """Whether a layer, those that it holds left aside, can do another thing in training than in inference."""
        if not isinstance(layer, self.layer_class) or (self.is_graph(layer) and type(layer).call in self._plain_calls):
            return False
        if isinstance(layer, self.keras.layers.Lambda):
            return bool(getattr(layer, "_fn_expects_training_arg", True))
        if type(layer).__module__.startswith(self._drops_out):  # whose one use of `training` is dropout
            return any(vars(layer).get(name) for name in ("dropout", "recurrent_dropout", "_dropout"))
        return bool(getattr(layer, self._takes_training, True))

    @staticmethod
    def compile_arguments(model: Any) -> dict[str, Any]:
        return getattr(getattr(model, "_compile_config", None), "config", None) or {}

    def learned(self, model: Any) -> list[Any]:
        """The variables that training leaves beside a model: of its optimizer, of its metrics."""
        optimizer = getattr(model, "optimizer", None)
        variables = getattr(optimizer, "variables", [])
        # A method of the legacy optimizers of tf_keras.
        return [*(variables() if callable(variables) else variables), *getattr(model, "metrics_variables", [])]

    # -- variables

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        """A model's weights in order, and the ids of those that train."""
        return list(model.weights), {id(weight) for weight in model.trainable_weights}

    def weights_written(self, model: Any, original: Any = None) -> None:
        """Do what `set_weights` does beside writing variables; with an `original`, its weights have been copied."""

    def names(self, variable: Any) -> tuple[str, str]:
        """A variable's name, as long as it gets, and what it calls itself; "" where that is not kept apart."""
        return str(variable.name), ""

    def write(self, variable: Any, array: Any) -> None:
        if not self.tensors.write(getattr(variable, "_value", variable), array):
            variable.assign(array)

    # -- a model that runs

    def feed(self, model: Any, arrays: list[Any]) -> Any:
        """Fresh tensors of `arrays`, packed as the model's inputs are declared."""
        tensors = [None if array is None else self.tensors.tensor(array) for array in arrays]
        return self.pack(self.structures(model)[0], tensors)

    @contextlib.contextmanager
    def hooked(self) -> Iterator[None]:
        """A scope in which `listener`, if there is one, hears of every call of a layer or an operation."""
        for kind, but_not in () if self._unhooked else self._hooked:
            self._unhooked.append((kind, kind.__call__))
            kind.__call__ = self._telling(kind.__call__, but_not)
        try:
            yield
        finally:
            while self._unhooked and not self.hooks_stay:
                kind, call = self._unhooked.pop()
                kind.__call__ = call

    def _telling(self, call: Any, but_not: Any) -> Any:
        @functools.wraps(call)
        def call_and_tell(layer: Any, *args: Any, **kwargs: Any) -> Any:
            before = len(self.raisers)
            try:
                result = call(layer, *args, **kwargs)
            except Exception:
                self.raisers.append(id(layer))
                raise
            del self.raisers[before:]
            if self.listener is not None and not isinstance(layer, but_not):
                self.listener(layer, result)
            return result

        return call_and_tell

    def mask(self, tensor: Any) -> Any:
        return getattr(tensor, "_keras_mask", None)


def _copied(value: Any) -> Any:
    """Another object that holds the same, where it is one that a model may change."""
    if isinstance(value, threading.local):
        equal = threading.local()
        vars(equal).update({name: _copied(item) for name, item in vars(value).items()})
        return equal
    if isinstance(value, weakref.WeakKeyDictionary):
        return weakref.WeakKeyDictionary({key: _copied(item) for key, item in value.items()})
    return copy.copy(value) if isinstance(value, (dict, list, set, random.Random)) else value
