"""Keras 2.2 and 2.3, the package, on a TensorFlow in graph mode: symbolic tensors, one session, nothing eager.

A model is called by running its outputs in the session, together with those of every node of its graph and all masks.
What comes back are arrays that carry their mask, so that the observer need not know that no layer was called.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import random
from typing import Any, Callable, Iterator

import numpy as np

from ..compiled import parts
from ..left_masks import LeftMask, was_left
from .companions import import_tensorflow
from .graph_session import GraphSession
from .interface import Framework


def load(dialect: str) -> Framework:
    """Keras 2.2 or 2.3 as it is installed."""
    return Keras2()


class Result(np.ndarray):
    """The numbers of a tensor, with the mask that the tensor has."""

    _keras_mask: Any = None


class Keras2(Framework):
    """Keras 2.2 and 2.3, whichever release; its backend is always TensorFlow."""

    generation = "keras2"
    fixed_in = "keras2"
    one_graph = True
    backend = "tensorflow"

    def __init__(self) -> None:
        source = importlib.import_module
        self.tf: Any = import_tensorflow()
        # TensorFlow 1.15 has a word to say of each name that TensorFlow 2 has moved: to find out whether it should say
        # it takes a tenth of the time that a trial takes.
        logging.getLogger("tensorflow").setLevel(logging.ERROR)
        deprecation: Any = source("tensorflow.python.util.deprecation")
        deprecation._PRINT_DEPRECATION_WARNINGS = False
        self.keras: Any = source("keras")
        self._backend: Any = self.keras.backend
        self._layer: Any = source("keras.engine.base_layer").Layer
        self._network: Any = source("keras.engine.network").Network
        self._sequential: Any = source("keras.engine.sequential").Sequential
        self._plain_configs = {self._network.get_config, self._sequential.get_config}
        self._variable: Any = self.tf.Variable
        self._device: str | None = None
        self._losses: list[Any] = []
        self._loss_places: dict[int, int] = {}
        self._seeds: set[int] = set()
        self.session = GraphSession(self.tf, self._backend)
        self._devices: list[str] = []
        self.forget()

    # -- the process

    def versions(self) -> dict[str, str]:
        version = str(self.tf.__version__)
        return {"keras": str(self.keras.__version__), "backend": self.backend, "backend_version": version}

    def devices(self) -> list[str]:
        if not self._devices:
            names = [device.name.split("device:")[-1].lower() for device in self._backend.get_session().list_devices()]
            self._devices = [name for name in names if not name.startswith("xla")]
        return self._devices

    @contextlib.contextmanager
    def on(self, device: str | None) -> Iterator[None]:
        # A scope belongs to its graph, and each trial has a graph of its own: see `forget`.
        self._device = device
        try:
            yield
        finally:
            self._device = None

    def forget(self) -> None:
        self._losses, self._loss_places = [], {}
        self._backend.clear_session()
        self.session.begin()
        if self._device is not None:
            self.tf.get_default_graph().device("/" + self._device).__enter__()
        self.reset_settings(self._backend)

    def forget_registered(self) -> None:
        pass  # it refuses no name's second class

    def forget_names(self) -> None:
        self._backend.reset_uids()

    def draws(self, layers: list[Any], source: str) -> bool:
        seeds = [getattr(layer, "seed", None) for layer in layers]
        self._seeds = {seed for seed in seeds if isinstance(seed, int)}
        return "random" in source or any(_draws(layer) for layer in layers)

    def reseed(self, seed: int, backend: bool = False) -> None:
        random.seed(seed)
        np.random.seed(seed % (1 << 32))  # noqa: NPY002 - Keras takes its seeds from the global generator
        if backend:
            self.session.restart(self._seeds)

    # -- a model at rest

    def is_graph(self, layer: Any) -> bool:
        return isinstance(layer, self._network) and bool(getattr(layer, "_is_graph_network", False))

    def members(self, layer: Any) -> list[Any]:
        members = list(layer._layers)
        return [each for each in getattr(layer, "_input_layers", ()) if each not in members] + members

    def held(self, layer: Any) -> list[Any]:
        if self.is_graph(layer):
            return []
        held = [
            item for value in vars(layer).values() for item in (value if isinstance(value, (list, tuple)) else (value,))
        ]
        return list({id(item): item for item in held if isinstance(item, self._layer)}.values())

    def graph_nodes(self, model: Any) -> list[Any]:
        by_depth = getattr(model, "_nodes_by_depth", None) or {}
        nodes = [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]
        # An input that no layer is called on has no node there, though a call may have it as its mask.
        inputs = [layer._inbound_nodes[0] for layer in getattr(model, "_input_layers", ())]
        there = set(map(id, nodes))
        return [node for node in inputs if id(node) not in there] + nodes

    def arguments(self, node: Any) -> tuple[Any, Any]:
        # The node of an input has its own tensor as its input.
        if not node.inbound_layers:
            return (), {}
        tensors, kwargs = node.input_tensors, node.arguments or {}
        if "mask" in kwargs and was_left(kwargs["mask"], node):
            kwargs = dict(kwargs, mask=LeftMask(kwargs["mask"]))
        return (tensors[0] if len(tensors) == 1 else list(tensors),), kwargs

    def outputs(self, node: Any) -> list[Any]:
        return list(node.output_tensors)

    def is_symbolic(self, value: Any) -> bool:
        return isinstance(value, (self.tf.Tensor, self.tf.SparseTensor))

    def has_mask(self, tensor: Any) -> bool:
        return self._mask_of(tensor) is not None

    def _mask_of(self, tensor: Any) -> Any:
        """The symbolic mask of a symbolic tensor: in this generation, the node that gave it has it."""
        _, node, place = self.origin(tensor)
        masks = () if node is None else node.output_masks
        return masks[place] if place < len(masks) else None

    def config(self, layer: Any) -> dict[str, Any]:
        config = super().config(layer)
        if isinstance(config.get("arguments"), dict):
            # A Lambda writes the mask of its last call among the arguments of its function.
            config = dict(config, arguments={k: v for k, v in config["arguments"].items() if k != "mask"})
        return config

    def policy(self, layer: Any) -> Any:
        return str(getattr(layer, "dtype", ""))

    def set_policy(self, layer: Any, name: str) -> None:
        layer.dtype = name

    def pack(self, structure: Any, values: list[Any]) -> Any:
        return _packed(values)

    def structures(self, model: Any) -> tuple[Any, Any]:
        inputs, outputs = self.ends(model)
        return _packed(inputs), _packed(outputs)

    def end_options(self, tensor: Any) -> tuple[bool, bool, bool]:
        return False, isinstance(tensor, self.tf.SparseTensor), False

    def trains(self, layer: Any) -> bool:
        return any(
            getattr(tensor, "_uses_learning_phase", False)
            for node in layer._inbound_nodes
            for tensor in node.output_tensors
        )

    def number(self, array: Any, spec: dict[str, Any]) -> Any:
        return array.view(Result)

    def computed(self, call: Callable[[Any], Any], numbers: list[Any], tensors: list[Any], said: list[Any]) -> Any:
        pairs = list(zip(tensors, numbers))
        masks = [(self._mask_of(tensor), number._keras_mask) for tensor, number in pairs if self.has_mask(tensor)]
        feed = dict(pairs + masks)
        feed[self._backend.learning_phase()] = 0
        return self.session.run(said, feed)

    def put_mask(self, tensor: Any, mask: Any) -> None:
        layer, node, place = tensor._keras_history
        layer._inbound_nodes[node].output_masks[place] = mask

    def symbolic(self, spec: dict[str, Any]) -> Any:
        tensor = super(Keras2, self).symbolic(spec)
        if not spec.get("loose"):
            return tensor
        shape = tuple(spec["shape"])
        forget = self.keras.layers.Lambda(
            lambda x: self.tf.placeholder_with_default(x, (None,) * (len(shape) + 1)), output_shape=shape
        )
        loose = forget(tensor)
        if spec.get("mask"):
            self.put_mask(loose, self._mask_of(tensor))
        return loose

    def is_loose(self, tensor: Any) -> bool:
        static = [None] * len(self.shape(tensor) or ()) if tensor.shape.ndims is None else tensor.shape.as_list()
        return any(one is None and size is not None for one, size in zip(static, self.shape(tensor) or ()))

    def shape(self, tensor: Any) -> tuple[Any, ...] | None:
        told, rank = getattr(tensor, "_keras_shape", None), tensor.shape.ndims
        if told is None:
            return None if rank is None else tuple(tensor.shape.as_list())
        return tuple(told) if rank in (None, len(told)) else None  # a layer may tell another shape than it gives

    def dtype(self, thing: Any) -> str:
        return str(thing.dtype.base_dtype.name)

    def compiled(self, model: Any) -> Any:
        if getattr(model, "optimizer", None) is None:
            return None
        settings = {"loss": model.loss, "metrics": getattr(model, "metrics", None)}
        return parts(dict(settings, optimizer=type(model.optimizer).__name__, weights=model.loss_weights))

    # -- variables

    def own_variables(self, layer: Any) -> list[Any]:
        own = list(vars(layer).get("_trainable_weights", ())) + list(vars(layer).get("_non_trainable_weights", ()))
        return own + self._states(layer)

    def states(self, model: Any) -> list[tuple[Any, bool]]:
        found: list[tuple[Any, bool]] = []
        for layer in model.layers:
            found += self.states(layer) if self.is_graph(layer) else [(state, False) for state in self._states(layer)]
        return found

    def _states(self, layer: Any) -> list[Any]:
        states = (getattr(layer, "states", None) or ()) if getattr(layer, "stateful", False) is True else ()
        return [state for state in states if self.is_variable(state)]

    def name(self, variable: Any) -> str:
        # A graph has each scope once: a clone's weights are in "dense_1_1/" where the original's are in "dense_1/".
        return str(variable.name).rpartition("/")[2].partition(":")[0]

    def read(self, variable: Any) -> Any:
        return self.session.read(variable)

    def write(self, variable: Any, array: Any) -> None:
        self.session.write(variable, array)

    def first_values(self, build: Callable[[], Any]) -> tuple[list[Any], list[Any]]:
        # The tensor that a variable is initialised with is still there, whatever became of the variable.
        weights = self.weights(build())[0]
        lasts = [self.read(weight) for weight in weights]
        return list(self.session.first([weight.initializer.inputs[1] for weight in weights])), lasts

    # -- a model that runs

    def feed(self, model: Any, arrays: list[Any]) -> Any:
        return self.packed(model, [array.copy() for array in arrays])

    def call(self, model: Any, inputs: Any, training: bool) -> Any:
        feed = self._fed(model, inputs, training)
        nodes = [node for node in self.graph_nodes(model) if node.inbound_layers]
        wanted = [tensor for node in nodes for tensor in node.output_tensors] + list(model.outputs)
        masks = [self._mask_of(tensor) for tensor in wanted]
        losses = list(model.losses)
        found = self._numbers(list(model.outputs), [*wanted, *masks, *losses], feed)
        results: dict[int, Any] = {}
        for tensor, mask in zip(wanted, masks):
            if id(tensor) in found:
                results[id(tensor)] = _result(found[id(tensor)], found.get(id(mask)))
        if self.listener is not None:
            for node in nodes:
                told = [results.get(id(tensor)) for tensor in node.output_tensors]
                if all(each is not None for each in told):
                    self.listener(node.outbound_layer, _packed(told))
        # They are kept in a set: only which they are is the model's to say, not in which order.
        losses.sort(key=lambda loss: str(found.get(id(loss), loss)))
        self._losses = [found.get(id(loss), loss) for loss in losses]
        self._loss_places = {id(loss): place for place, loss in enumerate(losses)}
        return _packed([results[id(tensor)] for tensor in model.outputs])

    def _fed(self, model: Any, inputs: Any, training: bool) -> dict[Any, Any]:
        feed = dict(zip(model.inputs, inputs if isinstance(inputs, list) else [inputs]))
        phase = self._backend.learning_phase()
        if self.is_symbolic(phase):
            feed[phase] = bool(training) if self.dtype(phase) == "bool" else int(training)
        return feed

    def _numbers(self, needed: list[Any], wanted: list[Any], feed: dict[Any, Any]) -> dict[int, Any]:
        """The numbers of all these tensors by their ids, in one run.

        Where that cannot be, because one of them needs an input that is not this model's, those that can be had: but
        what is needed raises.
        """
        tensors = {id(tensor): tensor for tensor in wanted if self.is_symbolic(tensor)}
        try:
            return dict(zip(tensors, self.session.run(list(tensors.values()), feed)))
        except self.tf.errors.InvalidArgumentError:
            found = dict(zip(map(id, needed), self.session.run(needed, feed)))
            for key, tensor in tensors.items():
                with contextlib.suppress(self.tf.errors.InvalidArgumentError):
                    found[key] = self.session.run(tensor, feed)
            return found

    def install_hooks(self) -> None:
        """Nothing: `call` tells the listener itself."""

    def losses(self, model: Any) -> list[Any]:
        return self._losses

    def concrete(self, value: Any) -> bool:
        return isinstance(value, (np.ndarray, np.generic))

    def array(self, tensor: Any) -> tuple[Any, str]:
        return np.asarray(tensor), ""

    def gradients(self, model: Any, inputs: Any) -> tuple[Any, list[Any]]:
        tf = self.tf
        weights, trains = self.weights(model)
        trained = [weight for weight in weights if id(weight) in trains]
        losses = [tf.reduce_mean(tf.square(tf.cast(output, "float32"))) for output in model.outputs]
        # In the order of their values in the last call, since the last digit of a sum depends on it.
        added = sorted(model.losses, key=lambda loss: self._loss_places.get(id(loss), -1))
        losses += [tf.reduce_sum(tf.cast(loss, "float32")) for loss in added]
        loss = tf.add_n(losses)
        found = tf.gradients(loss, trained) if trained else []
        there = [tf.convert_to_tensor(gradient) for gradient in found if gradient is not None]
        feed = self._fed(model, inputs, training=True)
        loss, values = self.session.run([loss, there], feed)
        for update in self._updates(model):
            # Beside the rest, or beside each other, they would race: one may read what another writes.
            self.session.run(update, feed, changes=True)
        numbers = iter(values)
        return np.asarray(loss), [None if gradient is None else next(numbers) for gradient in found]

    def _updates(self, model: Any) -> list[Any]:
        """What a step of training runs beside it, but for what would change one variable several times.

        TensorFlow runs those in an order of its own, and the result depends on it.
        """
        updates = [
            self.tf.assign(*update) if isinstance(update, tuple) else getattr(update, "op", update)
            for update in model.updates
        ]
        distinct = {id(update): update for update in updates}
        by_variable: dict[str, list[Any]] = {}
        for update in distinct.values():
            target = update.inputs[0].name if len(update.inputs) else update.name
            by_variable.setdefault(target, []).append(update)
        return [same[0] for same in by_variable.values() if len(same) == 1]


def _draws(layer: Any) -> bool:
    own = vars(layer)
    return bool("rate" in own or "stddev" in own or own.get("dropout") or own.get("recurrent_dropout"))


def _result(array: Any, mask: Any) -> Any:
    result = np.asarray(array).view(Result)
    result._keras_mask = mask
    return result


def _packed(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
