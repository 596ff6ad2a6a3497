"""One clone in the making: what has been cloned so far, by identity, and how each kind of thing is cloned."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import keras

from ....structure import map_leaves
from . import states
from .compiled import compile_alike
from .graphs import repeat_calls
from .layers import (
    clone_from_config,
    clone_input_layer,
    clone_lambda,
    clone_operation,
    input_layer_of,
    is_plain_lambda,
    made_again,
    placeholder_like,
)
from .release import (
    Function,
    Functional,
    copied_policy,
    functional_like_constructor,
    policy_of,
    set_policy,
    tree,
)


def plain_call(operation: Any, *args: Any, **kwargs: Any) -> Any:
    return operation(*args, **kwargs)


class Cloning:
    """Clones everything that is reached from one model, each object once."""

    def __init__(
        self,
        root: Any,
        clone_function: Callable[[Any], Any] | None = None,
        call_function: Callable[..., Any] | None = None,
        recursive: bool = False,
        clones: dict[int, Any] | None = None,
    ) -> None:
        self._root = root
        self._clone_function = clone_function
        self._call_function = call_function
        self._recursive = recursive
        self._clones: dict[int, Any] = {} if clones is None else clones
        self._tensors: dict[int, Any] = {}  # of input layers
        self._others: dict[int, Any] = {}  # variables, seeds, policies
        self._being_made: set[int] = set()
        self._kept: list[Any] = []  # alive for as long as their ids are keys
        self._pairs: list[tuple[Any, Any]] = []
        self._models: list[tuple[Any, Any]] = []
        self._owners: dict[int, tuple[Any, int]] | None = None

    def clone_root(self, input_tensors: Any = None) -> Any:
        root = self._root
        if isinstance(root, (keras.Sequential, Functional)):
            clone = self._graph(root, input_tensors, is_root=True)
        else:
            clone = self._layer_of_its_own(root)
        self._finish()
        return clone

    # What a call refers to.

    def operation(self, operation: Any) -> Any:
        """The clone of a layer, a nested model or another operation of the graph."""
        if id(operation) in self._clones:
            return self._clones[id(operation)]
        if isinstance(operation, keras.layers.InputLayer):
            clone = self._tensor_of_input(operation)._keras_history.operation
        elif not isinstance(operation, keras.Layer):
            clone = (
                self._function(operation) if isinstance(operation, Function) else clone_operation(operation, self.leaf)
            )
        elif self._clone_function is None:
            clone = self._default(operation)
        elif self._recursive and isinstance(operation, (keras.Sequential, Functional)):
            clone = self._graph(operation)
        else:
            clone = self._clone_function(operation)
        return self._remember(operation, clone)

    def leaf(self, value: Any) -> Any:
        """An argument that is no tensor of the graph: state is made anew, everything else is passed on as it is."""
        if isinstance(value, keras.Layer):
            return self._sublayer(value)
        if isinstance(value, keras.Variable):
            return self._variable(value)
        if isinstance(value, (keras.random.SeedGenerator, keras.metrics.Metric)):
            return self._other(value, lambda: made_again(value, self._sublayer, self.leaf))
        return value

    # Kinds of layers.

    def _sublayer(self, layer: Any) -> Any:
        """A layer that another one holds, which no `clone_function` is asked about."""
        if id(layer) in self._clones:
            return self._clones[id(layer)]
        return self._remember(layer, self._default(layer))

    def _default(self, layer: Any) -> Any:
        if isinstance(layer, keras.layers.InputLayer):
            return self._tensor_of_input(layer)._keras_history.operation
        if isinstance(layer, (keras.Sequential, Functional)):
            return self._graph(layer)
        return self._layer_of_its_own(layer)

    def _layer_of_its_own(self, layer: Any) -> Any:
        self._being_made.add(id(layer))
        if is_plain_lambda(layer):
            clone = clone_lambda(layer, self.leaf, self._policy(policy_of(layer)))
        else:
            clone = clone_from_config(layer, self._sublayer, self.leaf, self._policy)
        for held, cloned in states.sublayer_pairs(layer, clone, set()):
            cloned.name = held.name  # before it is built, so that its variables are named after it
            states.take_over_flags(held, cloned)
        self._pairs.append((layer, clone))
        if isinstance(layer, keras.Model):
            self._models.append((layer, clone))
        return clone

    def _graph(self, model: Any, input_tensors: Any = None, is_root: bool = False) -> Any:
        if isinstance(model, keras.Sequential):
            clone = self._sequential(model, input_tensors)
        else:
            call = self._call_function if is_root or self._recursive else None
            clone = self._functional(model, input_tensors, call)
            self._attach_alike(model, clone)
        set_policy(clone, self._policy(policy_of(model)))
        self._models.append((model, clone))
        return clone

    def _attach_alike(self, model: Any, clone: Any) -> None:
        """Layers that were set as attributes of a model and are no part of its graph."""
        in_graph = {id(layer) for layer in model.layers}
        for name, value in list(vars(model).items()):
            attached = isinstance(value, keras.Layer) and not name.startswith("_") and id(value) not in in_graph
            if attached and not hasattr(clone, name):
                setattr(clone, name, self._sublayer(value))

    def _functional(self, model: Any, input_tensors: Any, call: Callable[..., Any] | None) -> Any:
        if input_tensors is None:
            inputs = map_leaves(self._input, model._inputs_struct)
        else:
            inputs = input_tensors
        tensors = dict(zip(map(id, model.inputs), tree.flatten(inputs)))
        faithful = self._clone_function is None and call is None and input_tensors is None
        repeat_calls(model, tensors, self.operation, self.leaf, call or plain_call, faithful)
        outputs = map_leaves(lambda tensor: _connected(tensors, tensor, model), model._outputs_struct)
        if not functional_like_constructor(type(model)):
            return Functional(inputs, outputs, name=model.name)
        return type(model)(inputs, outputs, name=model.name, **_further_arguments(model))

    def _function(self, function: Any) -> Any:
        inputs = map_leaves(self._input, function._inputs_struct)
        tensors = dict(zip(map(id, function.inputs), tree.flatten(inputs)))
        repeat_calls(function, tensors, self.operation, self.leaf, plain_call, True)
        outputs = map_leaves(lambda tensor: _connected(tensors, tensor, function), function._outputs_struct)
        return type(function)(inputs, outputs, name=function.name)

    def _sequential(self, model: Any, input_tensors: Any) -> Any:
        layers = list(model._layers)
        first: list[Any] = []
        if layers and isinstance(layers[0], keras.layers.InputLayer):
            own = layers.pop(0)
            first = [] if input_tensors is not None else [self.operation(own)]
        if input_tensors is not None:
            first = [_input_layer_on(input_tensors)]
        clones = first + [self.operation(layer) for layer in layers]
        if _takes(type(model), keras.Sequential):
            clone = type(model)(clones, name=model.name)
        else:
            clone = keras.Sequential(clones, name=model.name)
        states.take_over_flags(model, clone)
        states.name_operations_alike(model._functional, clone._functional)
        return clone

    # Inputs and state.

    def _input(self, tensor: Any) -> Any:
        if id(tensor) not in self._tensors:
            self._kept.append(tensor)
            history = getattr(tensor, "_keras_history", None)
            layer = history.operation if history else None
            if isinstance(layer, keras.layers.InputLayer):
                if id(layer) not in self._clones:
                    self._pairs.append((layer, self._remember(layer, clone_input_layer(layer))))
                    set_policy(self._clones[id(layer)], self._policy(policy_of(layer)))
                self._tensors[id(tensor)] = self._clones[id(layer)].output
            else:
                self._tensors[id(tensor)] = placeholder_like(tensor)
        return self._tensors[id(tensor)]

    def _tensor_of_input(self, layer: Any) -> Any:
        return self._input(layer.output)

    def _policy(self, policy: Any) -> Any:
        return self._other(policy, lambda: copied_policy(policy))

    def _variable(self, variable: Any) -> Any:
        """The variable that the owner's clone has in this place, or a copy where no layer owns it."""
        if self._owners is None:
            self._owners = {}
            for layer in self._root._flatten_layers():
                for index, owned in enumerate(states.own_variables(layer)):
                    self._owners.setdefault(id(owned), (layer, index))
        layer, index = self._owners.get(id(variable), (None, 0))
        if layer is None or (id(layer) in self._being_made and id(layer) not in self._clones):
            return self._other(variable, lambda: states.fresh_variable(variable))
        clone = self.operation(layer)
        states.build_alike(layer, clone)
        return states.own_variables(clone)[index]

    def _other(self, value: Any, clone: Callable[[], Any]) -> Any:
        if id(value) not in self._others:
            self._kept.append(value)
            self._others[id(value)] = clone()
        return self._others[id(value)]

    def _remember(self, original: Any, clone: Any) -> Any:
        self._kept.append(original)
        self._clones[id(original)] = clone
        return clone

    def _finish(self) -> None:
        """Flags last: until here they decide how a layer is built, and building or nesting changes them again."""
        seen: Any = set()
        pairs = [
            pair for original, clone in self._pairs for pair in states.sublayer_pairs(original, clone, seen)
        ] + self._models
        for original, clone in pairs:
            states.build_alike(original, clone)
        for original, clone in pairs:
            states.take_over_flags(original, clone)
            states.order_alike(original, clone)
            states.name_alike(original, clone)
            states.freeze_alike(original, clone)
        for original, clone in self._models:
            compile_alike(original, clone, lambda value: made_again(value, self._sublayer, self.leaf))


def _connected(tensors: dict[int, Any], tensor: Any, graph: Any) -> Any:
    if id(tensor) not in tensors:
        raise ValueError(f"Output {tensor.name} of '{graph.name}' is not connected to its inputs.")
    return tensors[id(tensor)]


def _input_layer_on(tensor: Any) -> Any:
    """The input layer of a given tensor, or a new one like it: taking the tensor over would cut it off its past."""
    layer = tensor._keras_history.operation if getattr(tensor, "_keras_history", None) else None
    if isinstance(layer, keras.layers.InputLayer):
        return layer
    return input_layer_of(placeholder_like(tensor), tensor.name)


def _takes(kind: Any, base: Any) -> bool:
    """Whether a class is constructed the way its base class is."""
    spec = inspect.getfullargspec(kind.__init__)
    return spec.args == inspect.getfullargspec(base.__init__).args or bool(spec.varargs and spec.varkw)


def _further_arguments(model: Any) -> dict[str, Any]:
    """Arguments that a subclass adds to its config beside the graph."""
    if inspect.getattr_static(type(model), "get_config") is inspect.getattr_static(Functional, "get_config"):
        return {}
    graph = ("name", "trainable", "dtype", "layers", "input_layers", "output_layers")
    try:
        config = model.get_config()
    except Exception:  # noqa: BLE001 - whatever the user's own method raises
        return {}
    return {key: value for key, value in config.items() if key not in graph}
