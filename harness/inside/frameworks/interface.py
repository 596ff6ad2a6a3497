"""What the observer asks of a generation of Keras, and nothing else of it.

One subclass a generation. A method may call Keras; none of them walks, digests or decides what is observed.
"""

from __future__ import annotations

import contextlib
import importlib
import random
from typing import Any, Callable, ContextManager, Iterator

import numpy

# Called with the layer and what it returned, once for each call that returns.
Listener = Callable[[Any, Any], None]


class Framework:
    """A generation of Keras on a backend."""

    generation = ""
    backend = ""
    keras: Any = None
    """The package itself."""
    _layer: Any
    """The class of all layers."""
    _plain_configs: set[Any]
    """The methods by which a graph writes its config, and those of all its layers."""
    _variable: Any
    """The class of all variables."""
    learns_apart = False
    """Whether a layer holds what it has learned from data apart from its weights, so that a clone may lack it."""
    _safe_mode: Any = None
    """The scope that says whether lambdas may be read back."""

    # -- the process

    def versions(self) -> dict[str, str]:
        """The versions of Keras and of its backend."""
        raise NotImplementedError

    def devices(self) -> list[str]:
        """The devices at hand: "cpu:0", "gpu:0", ..."""
        raise NotImplementedError

    def repeat_kernels(self) -> None:
        """Have the same kernel do the same arithmetic each time. For a process of our own only."""

    def speed_up(self) -> None:
        """Have Keras do once what it does for each layer or call anew. For a process of our own only."""

    def on(self, device: str | None) -> ContextManager[Any]:
        """A scope in which tensors and variables live on `device`."""
        raise NotImplementedError

    def forget(self) -> None:
        """Forget the names and the global state that models before this one left."""
        raise NotImplementedError

    @contextlib.contextmanager
    def scratch(self) -> Iterator[None]:
        """A scope whose names, settings, registered classes and random numbers are gone after it.

        In the process of a user: what was there before is as it was.
        """
        with self._put_back():
            self.begin_apart()
            yield

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """A scope for a model of the user's own: what was set, registered and named before holds in it.

        What it changes of that is as before after it.
        """
        with self._put_back():
            self.begin_beside()
            yield

    @contextlib.contextmanager
    def _put_back(self) -> Iterator[None]:
        python, numbers = random.getstate(), numpy.random.get_state()  # noqa: NPY002 - layers draw seeds from these
        registered = [(known, dict(known)) for known in self.registries()]
        before = [(owner, name, getattr(owner, name)) for owner, name in self.kept_apart() if hasattr(owner, name)]
        try:
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)
            for known, entries in registered:
                known.clear()
                known.update(entries)
            random.setstate(python)
            numpy.random.set_state(numbers)  # noqa: NPY002 - likewise

    def registries(self) -> list[Any]:
        """The tables of what is registered under a name."""
        return []

    def kept_apart(self) -> list[tuple[Any, str]]:
        """The objects, and their attributes, that hold what belongs to a process as a whole."""
        return []

    def begin_apart(self) -> None:
        """Put new ones in the place of these."""

    def begin_beside(self) -> None:
        """Put equal ones in the place of those that change when a model is made."""

    def forget_names(self) -> None:
        """Count the names of layers from the beginning again; what is there stays as it is."""
        raise NotImplementedError

    @staticmethod
    def reset_settings(settings: Any) -> None:
        """Put back the defaults that a model may have changed."""
        if settings.floatx() != "float32":
            settings.set_floatx("float32")
        if settings.image_data_format() != "channels_last":
            settings.set_image_data_format("channels_last")

    def forget_kernels(self) -> None:
        """Forget what the backend has cached. Costs time, and is asked for now and then only."""

    def reseed(self, seed: int, backend: bool = False) -> None:
        """Let random numbers that carry no seed of their own begin anew.

        `backend` is for models that draw from the backend's own generator, whose reset may cost more than a call.
        """
        raise NotImplementedError

    def draws(self, layers: list[Any], source: str) -> bool:
        """Whether a model of these layers, built by this source, draws from the backend's own generator."""
        raise NotImplementedError

    # -- a model at rest

    def is_layer(self, thing: Any) -> bool:
        """Whether it is a layer, and not only an operation."""
        return isinstance(thing, self._layer)

    def is_graph(self, layer: Any) -> bool:
        """Whether it is a model that is a graph of calls."""
        raise NotImplementedError

    def members(self, layer: Any) -> list[Any]:
        """The layers and operations of a graph, in its own order."""
        raise NotImplementedError

    def held(self, layer: Any) -> list[Any]:
        """The layers that a layer holds."""
        raise NotImplementedError

    def graph_nodes(self, model: Any) -> list[Any]:
        """The nodes of a graph."""
        raise NotImplementedError

    def layer_nodes(self, layer: Any) -> list[Any]:
        """The nodes that calls of a layer have made, in their order, whatever graph they belong to."""
        return list(layer._inbound_nodes)

    def node_counts(self, layer: Any) -> tuple[int, int]:
        """How often a layer was called on symbolic tensors, and how often what it gave was used by such a call."""
        return len(getattr(layer, "_inbound_nodes", ())), len(getattr(layer, "_outbound_nodes", ()))

    def arguments(self, node: Any) -> tuple[Any, Any]:
        """The arguments of a node, positional and by keyword."""
        raise NotImplementedError

    def outputs(self, node: Any) -> list[Any]:
        """The symbolic tensors that a node gave."""
        raise NotImplementedError

    def is_symbolic(self, value: Any) -> bool:
        """Whether it is a tensor of a graph."""
        raise NotImplementedError

    def origin(self, tensor: Any) -> tuple[Any, Any, int]:
        """The layer and the node that a symbolic tensor comes from, and its place among that node's outputs."""
        history = getattr(tensor, "_keras_history", None)
        if history is None:
            return None, None, 0
        layer, node, place = history
        return layer, layer._inbound_nodes[node], place

    def has_mask(self, tensor: Any) -> bool:
        """Whether a symbolic tensor has a mask."""
        raise NotImplementedError

    def begins_inside(self, graph: Any) -> bool:
        """Whether a model begins inside another: Keras then makes it of copies of the tensors, which have no masks."""
        return False

    def config(self, layer: Any) -> dict[str, Any]:
        """A layer's config; of a graph, only what is not said of its layers.

        One that is no dictionary says nothing: what that does to a clone is for the cloner to say.
        """
        if type(layer).get_config in self._plain_configs:
            return {}
        config = layer.get_config()
        return config if isinstance(config, dict) else {}

    def policy(self, layer: Any) -> Any:
        """A layer's dtype policy: its name, or what can be written of it."""
        raise NotImplementedError

    def ends(self, model: Any) -> tuple[list[Any], list[Any]]:
        """The symbolic inputs and outputs of a model, flat."""
        return list(getattr(model, "inputs", None) or ()), list(getattr(model, "outputs", None) or ())

    def declared(self, model: Any) -> tuple[Any, Any]:
        """The structures of inputs and outputs as the model was given them, their leaves numbered as in `ends`."""
        inputs, outputs = self.ends(model)
        if not inputs:
            return None, None
        first, last = self.structures(model)
        return self.pack(first, list(range(len(inputs)))), self.pack(last, list(range(len(outputs))))

    def structures(self, model: Any) -> tuple[Any, Any]:
        """The symbolic inputs and outputs of a graph as it was given them."""
        raise NotImplementedError

    def end_options(self, tensor: Any) -> tuple[bool, bool, bool]:
        """Whether an input is optional, whether it is sparse, and whether ragged."""
        raise NotImplementedError

    def trains(self, layer: Any) -> bool:
        """Whether a layer, those that it holds left aside, can do another thing in training than in inference."""
        raise NotImplementedError

    def dtype(self, thing: Any) -> str:
        """The dtype of a tensor or a variable, by name."""
        raise NotImplementedError

    def compiled(self, model: Any) -> "dict[str, str] | None":
        """What a model was compiled with, part by part, None where it was not."""
        raise NotImplementedError

    def compiled_with(self, model: Any) -> list[Any]:
        """The objects with a state of their own that it was compiled with: its optimizer, metrics."""
        return []

    def learned(self, model: Any) -> list[Any]:
        """The variables that training leaves beside a model: of its optimizer, of its metrics."""
        optimizer = getattr(model, "optimizer", None)
        variables = getattr(optimizer, "variables", [])
        # A method of the legacy optimizers of tf_keras.
        return [*(variables() if callable(variables) else variables), *getattr(model, "metrics_variables", [])]

    # -- a call that is tried

    def symbolic(self, spec: dict[str, Any]) -> Any:
        """A symbolic tensor of that shape and dtype, with a mask where it has one."""
        given = {name: True for name, word in (("sparse", "told_sparse"), ("ragged", "ragged")) if spec.get(word)}
        tensor = self.symbolic_like(tuple(spec["shape"]), spec["dtype"], given)
        if spec.get("mask"):
            self.put_mask(tensor, self.symbolic_like(tuple(spec["shape"][:1]), "bool", {}))
        return tensor

    def symbolic_like(self, shape: tuple[Any, ...], dtype: str, options: dict[str, bool]) -> Any:
        """A symbolic tensor of that shape beside the batch."""
        return self.keras.layers.Input(shape=shape, dtype=dtype, **options)

    def put_mask(self, tensor: Any, mask: Any) -> None:
        """Give an input a mask."""
        tensor._keras_mask = mask

    def shape(self, tensor: Any) -> tuple[Any, ...] | None:
        """The shape of a symbolic tensor with its batch, None where its rank is not known."""
        return None if tensor.shape is None else tuple(tensor.shape)

    def number(self, array: Any, spec: dict[str, Any]) -> Any:
        """A tensor of an array, of the dtype that it is to have."""
        raise NotImplementedError

    # -- variables

    def is_variable(self, value: Any) -> bool:
        """Whether it is a variable of this Keras."""
        return isinstance(value, self._variable)

    def weights(self, model: Any) -> tuple[list[Any], set[int]]:
        """A model's weights in order, and the ids of those that train."""
        return list(model.weights), {id(weight) for weight in model.trainable_weights}

    def weights_written(self, model: Any, original: Any = None) -> None:
        """Do what `set_weights` does beside writing variables; with an `original`, its weights have been copied."""

    def own_variables(self, layer: Any) -> list[Any]:
        """The variables that a layer itself owns, weights and states."""
        raise NotImplementedError

    def states(self, model: Any) -> list[tuple[Any, bool]]:
        """Variables of a model that are no weights, each with whether chance gave it its value."""
        raise NotImplementedError

    def name(self, variable: Any) -> str:
        """A variable's name, as long as it gets."""
        raise NotImplementedError

    def short_name(self, variable: Any) -> str:
        """What a variable calls itself, where that is kept apart from its path; "" where it is not."""
        return ""

    def read(self, variable: Any) -> Any:
        """A variable's value as an array."""
        raise NotImplementedError

    def write(self, variable: Any, array: Any) -> None:
        """Give a variable a value."""
        raise NotImplementedError

    # -- a model that runs

    def feed(self, model: Any, arrays: list[Any]) -> Any:
        """Fresh tensors of `arrays`, packed as the model's inputs are declared."""
        raise NotImplementedError

    def packed(self, model: Any, values: list[Any]) -> Any:
        """Values, one for each flat input, packed as the model's inputs are declared."""
        return self.pack(self.structures(model)[0], values)

    def pack(self, structure: Any, values: list[Any]) -> Any:
        """Values in the structure of symbolic tensors, one for each of them."""
        raise NotImplementedError

    def call(self, model: Any, inputs: Any, training: bool) -> Any:
        """The model's outputs, through its public call."""
        raise NotImplementedError

    listener: Listener | None = None
    hooks_stay = False
    """Whether hooks, once installed, stay. Changing a class with so many subclasses takes its time."""
    _hooks: list[tuple[Any, str, Any]] = []

    def install_hooks(self) -> None:
        """Let every call of a layer or an operation be told to `listener`, where there is one."""
        raise NotImplementedError

    def remove_hooks(self) -> None:
        """Leave Keras as it was."""
        for owner, name, before in self._hooks:
            setattr(owner, name, before)
        self._hooks = []

    @contextlib.contextmanager
    def hooked(self) -> Iterator[None]:
        """A scope in which calls can be listened to."""
        if not self._hooks:
            self.install_hooks()
        try:
            yield
        finally:
            if not self.hooks_stay:
                self.remove_hooks()

    @contextlib.contextmanager
    def listen(self, listener: Listener) -> Iterator[None]:
        """A scope, within `hooked`, in which `listener` hears of every call of a layer or an operation."""
        self.listener = listener
        try:
            yield
        finally:
            self.listener = None

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Give a class another attribute until `remove_hooks`."""
        self._hooks = self._hooks + [(owner, name, owner.__dict__[name])]
        setattr(owner, name, value)

    def losses(self, model: Any) -> list[Any]:
        """The losses that the model's last call added, and those of its regularizers."""
        raise NotImplementedError

    def concrete(self, value: Any) -> bool:
        """Whether it is a tensor with numbers in it."""
        raise NotImplementedError

    def mask(self, tensor: Any) -> Any:
        """The mask that a tensor carries now, or None."""
        return getattr(tensor, "_keras_mask", None)

    def array(self, tensor: Any) -> tuple[Any, str]:
        """A concrete tensor as an array, and a prefix for its digest where its kind is not plain."""
        raise NotImplementedError

    def gradients(self, model: Any, inputs: Any) -> tuple[Any, list[Any]]:
        """The fixed loss of a training call, and its gradients by trainable weight, None where there is none."""
        raise NotImplementedError

    def recording(self) -> Any:
        """A scope in which a training call is made whose gradients `gradients_of` tells; None where there is none."""
        return None

    def gradients_of(self, recorded: Any, model: Any, outputs: Any) -> tuple[Any, list[Any]]:
        """What `gradients` gives, of a call that was recorded and has given these outputs."""
        raise NotImplementedError

    # -- cloners

    def clone(self, model: Any, **arguments: Any) -> Any:
        """The release's own `clone_model`, untouched."""
        return self.keras.models.clone_model(model, **arguments)

    def fixed(self) -> Callable[..., Any]:
        """Our fixed `clone_model` for this generation, imported here since it needs the Keras that is loaded."""
        module: Any = importlib.import_module(__name__.partition("inside.")[0] + "fixed")
        clone_model: Callable[..., Any] = module.clone_model
        return clone_model

    @contextlib.contextmanager
    def objects(self, known: dict[str, Any]) -> Iterator[None]:
        """A scope in which custom objects are known by name, and lambdas may be read back."""
        with self.keras.utils.custom_object_scope(known), self._safe_mode(False):
            yield
