"""Clones a model of Keras 3, as it is or with the arguments of `clone_model`."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import keras
from keras.src import tree
from keras.src.models.functional import Functional

from .keras3 import Keras3Copier, KerasTensor, Layer, Sequential, Values, node_of, unbuilt
from .replay import Replay, by_input, copy_values, rolled_back

COMPILED_BY_KERAS = ("compile", "compile_from_config", "get_compile_config")


def clone(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
    cache: dict[int, Any] | None = None,
    weights: bool = False,
) -> Any:
    """A clone of a model or layer of Keras 3; see `clone_model`."""
    is_graph = isinstance(model, Sequential | Functional)
    is_changed = not (input_tensors is None and clone_function is None and call_function is None)
    if not is_changed and not cache:
        copier = Keras3Copier(model)
        if cache is not None:
            copier.memo.update(cache)
        copier.copy()
        values = Values(copier)
        values.copy() if weights else values.begin()
        if cache is not None:
            cache.update((id(layer), new) for layer, new in copier.pairs(Layer))
        return copier.of(model)
    if not is_graph:
        raise ValueError(
            "Arguments `clone_function`, `input_tensors` and `call_function` are only supported for Sequential models "
            f"or Functional models. Received model of type '{type(model).__name__}', with "
            f"clone_function={clone_function}, input_tensors={input_tensors} and call_function={call_function}"
        )
    if isinstance(model, Sequential) and call_function is not None:
        raise ValueError(
            "`call_function` argument is not supported with Sequential models: their layers are listed, and not "
            f"called. Received model of type '{type(model).__name__}', with call_function={call_function}"
        )
    replay = Keras3Replay(Keras3Copier(model), clone_function, call_function, recursive, cache)
    tensors = None if input_tensors is None else _tensors(model, input_tensors)
    operations = [layer for layer in model._flatten_layers() if not isinstance(layer, keras.metrics.Metric)]
    operations += [operation for layer in operations for operation in getattr(layer, "_operations", ())]
    with rolled_back([*operations, *(tensor._keras_history.operation for tensor in tensors or ())]):
        replay.given = tensors
        new = replay.clone(model)
    if weights:
        copy_values(model, new, list(model.variables), list(new.variables), _assign)
    return new


def _assign(variable: Any, other: Any) -> None:
    variable.assign(other)


class Keras3Replay(Replay):
    """Makes the calls of a model of Keras 3 again."""

    LAYER = Layer
    INPUT_LAYER = keras.layers.InputLayer
    SEQUENTIAL = Sequential
    FUNCTIONAL = Functional
    TENSOR = KerasTensor
    given: list[Any] | None = None
    """The tensors that the root is built upon, in the order of its inputs."""

    def clone(self, model: Any) -> Any:
        if self.given is not None and isinstance(model, Functional):
            self.memo.update(zip(map(id, model.inputs), self.given, strict=True))
            for tensor, new in zip(model.inputs, self.given, strict=True):
                self.memo[id(tensor._keras_history.operation)] = new._keras_history.operation
        return super().clone(model)

    def operations(self, graph: Any) -> list[Any]:
        return list(graph._layers if isinstance(graph, Sequential) else graph._operations)

    def calls(self, graph: Any) -> list[Any]:
        """The calls that lead to the outputs: none that only made a mask, which are made anew."""
        if isinstance(graph, Sequential):
            return []
        wanted = {id(tensor) for tensor in graph.outputs}
        found: list[Any] = []
        nodes = [node for depth in sorted(graph._nodes_by_depth) for node in graph._nodes_by_depth[depth]]
        for node in nodes:  # the last first
            if not node.is_input and any(id(tensor) in wanted for tensor in node.outputs):
                found.append(node)
                wanted.update(id(leaf) for leaf in self.leaves(self.arguments(node)))
        return found[::-1]

    def inputs(self, graph: Any) -> list[Any]:
        if isinstance(graph, Functional):
            return list(graph.inputs)
        first = graph._layers[:1]
        return [layer.output for layer in first if isinstance(layer, keras.layers.InputLayer)]

    def operation(self, call: Any) -> Any:
        return call.operation

    def arguments(self, call: Any) -> tuple[Any, dict[str, Any]]:
        """Those that the user gave, and none that Keras wrote down beside them: masks, and a default of `training`."""
        args, kwargs, layer = call.arguments.args, call.arguments.kwargs, call.operation
        if not isinstance(layer, Layer):
            return args, kwargs
        parameters = inspect.signature(layer.call).parameters
        masks = [getattr(leaf, "_keras_mask", None) for leaf in tree.flatten((args, kwargs))]
        converts = getattr(layer, "_convert_input_args", True)
        tensor = args[0] if len(args) == 1 and isinstance(args[0], KerasTensor) else None
        is_as_it_is = tensor is not None and tensor.dtype == getattr(layer, "input_dtype", tensor.dtype)

        def is_written(name: str, value: Any) -> bool:
            if name in getattr(layer, "_call_context_args", ("training",)) and name in parameters:
                return value is parameters[name].default and (is_as_it_is or not converts)
            leaves = [leaf for leaf in tree.flatten(value) if leaf is not None]
            is_mask = name == "mask" or name.endswith("_mask")
            return is_mask and all(any(leaf is mask for mask in masks) for leaf in leaves)

        given = {name: value for name, value in kwargs.items() if not is_written(name, value)}
        return args, kwargs if converts and given else given  # where any is given, or converted, it writes into a copy

    def outputs(self, call: Any) -> list[Any]:
        return list(call.outputs)

    def leaves(self, structure: Any) -> list[Any]:
        return list(tree.flatten(structure))

    def map(self, function: Callable[[Any], Any], structure: Any) -> Any:
        return tree.map_structure(function, structure)

    def begin(self) -> None:
        Values(self.copier).begin()  # type: ignore[arg-type]

    def unbuilt(self, layer: Any) -> Any:
        return unbuilt(layer, self.memo)

    def called_on(self, call: Any, operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if isinstance(operation, Layer) and type(operation) is not type(call.operation):
            context = getattr(operation, "_call_context_args", ("training",))
            try:
                given = {name: value for name, value in kwargs.items() if name not in context}
                inspect.signature(operation.call).bind(*args, **given)
            except TypeError as error:
                raise ValueError(
                    f"The call of '{call.operation.name}' cannot be made on what `clone_function` gave for it, "
                    f"{operation} ({error}). Give a layer that takes the arguments of that call, or change them by a "
                    "`call_function`."
                ) from error
        return operation(*args, **kwargs)

    def put_together(self, model: Any, new: Any) -> None:
        if isinstance(model, Sequential):
            layers = self._layers_of(model)
            with contextlib.ExitStack() as scopes:  # of the models around it, which built the original
                for name in (getattr(model, "_path", None) or "").split("/")[:-1]:
                    scopes.enter_context(keras.name_scope(name))
                Sequential.__init__(new, layers, name=model.name)
        else:
            inputs, outputs = (self.map(self.copier.of, ends) for ends in (model._inputs_struct, model._outputs_struct))
            self._name_masks(model)
            try:
                Functional.__init__(new, inputs, outputs, name=model.name)
            except ValueError as error:
                for tensor in self.given or ():
                    if getattr(tensor, "_keras_mask", None) is not None:
                        raise ValueError(
                            f"In `input_tensors`, {tensor} has a mask, which is none of the inputs, so that the clone "
                            "could not compute it. Give a tensor without a mask."
                        ) from error
                raise
        self._take_over(model, new)

    def _layers_of(self, model: Any) -> list[Any]:
        layers = list(model._layers)
        first: list[Any] = []
        if layers and isinstance(layers[0], keras.layers.InputLayer):
            first = [self.memo[id(layers.pop(0))]]
        if self.given is not None and model is self.copier.root:
            first = [_input_layer_on(self.given[0])]
            same = bool(model.built) and self.described(model.inputs[0]) == self.described(first[0].output)
            for layer in layers:
                if not same and id(layer) not in self.cache:
                    self.memo[id(layer)] = self.unbuilt(layer)
        return first + [self.memo[id(layer)] for layer in layers]

    def _take_over(self, model: Any, new: Any) -> None:
        """Give a new model what the original holds beside its graph."""
        own = vars(new)
        for name in ("_trainable", "autocast", "supports_jit", "_supports_masking"):
            if name in vars(model):
                own[name] = vars(model)[name]
        if getattr(model, "compiled", False):
            self._compile(model, new)
        skipped = {*own, *self.copier.plan(type(model)).skipped, "_functional"}
        held = {name: value for name, value in vars(model).items() if name not in skipped and name[:6] != "_self_"}
        held.update((name, vars(model)[name]) for name in ("_dtype_policy", "_auto_config") if name in vars(model))
        self.copier.copy(*held.values())
        self.begin()
        for name, value in held.items():
            new.__setattr__(name, self.copier.of(value))

    def _compile(self, model: Any, new: Any) -> None:
        """Compile a clone as its original is, with an optimizer of its own."""
        if any(getattr(type(model), name) is not getattr(keras.Model, name) for name in COMPILED_BY_KERAS[1:]):
            new.compile_from_config(model.get_compile_config())
            return
        arguments = dict(model._compile_config.config)
        optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
        self.memo[id(model.optimizer)] = self.memo[id(arguments["optimizer"])] = optimizer
        self.copier.copy(*arguments.values())
        self.begin()
        arguments = {name: self.copier.of(value) for name, value in arguments.items()}
        keras.Model.compile(new, **{**arguments, "optimizer": optimizer})
        if model.optimizer.built:
            optimizer.build(self._trained(model, new))

    def _trained(self, model: Any, new: Any) -> list[Any]:
        """The weights that the optimizer is built for: those of the original's, whatever was frozen since."""
        trained = getattr(model.optimizer, "inner_optimizer", model.optimizer)._trainable_variables
        others = {id(weight): other for weight, other in zip(model.weights, new.weights, strict=False)}
        found = [others.get(id(variable)) for variable in trained]
        return list(new.trainable_variables) if any(weight is None for weight in found) else found

    def _name_masks(self, model: Any) -> None:
        """Name the operations that make masks as in the original, and others by the first number that is free."""
        pairs = [(tensor, self.memo[id(tensor)]) for call in self.calls(model) for tensor in self.outputs(call)]
        own = {id(new) for _, new in pairs} | {id(self.memo[id(tensor)]) for tensor in model.inputs}
        names = {new._keras_history.operation.name for _, new in pairs}
        waiting = [(getattr(one, "_keras_mask", None), getattr(other, "_keras_mask", None)) for one, other in pairs]
        unnamed: dict[int, Any] = {}
        seen: set[int] = set()
        while waiting:
            one, other = waiting.pop(0)
            call = None if other is None or id(other) in own else node_of(other)
            if call is None or isinstance(call.operation, Layer) or id(call.operation) in seen:
                continue
            like = None if one is None or id(one) in self.memo else node_of(one)
            if like is not None and type(like.operation) is type(call.operation):
                call.operation.name = like.operation.name
                names.add(like.operation.name)
                seen.add(id(call.operation))
                unnamed.pop(id(call.operation), None)
                waiting += zip(like.input_tensors, call.input_tensors, strict=False)
            elif id(call.operation) not in unnamed:
                unnamed[id(call.operation)] = call.operation
                waiting += [(None, tensor) for tensor in call.input_tensors]
        for operation in unnamed.values():
            base = re.sub(r"_\d+$", "", operation.name)
            numbered = (f"{base}_{number}" if number else base for number in count())
            operation.name = next(name for name in numbered if name not in names)
            names.add(operation.name)


def _input_layer_on(tensor: Any) -> Any:
    """The input layer of a given tensor, or a new one like it: to take the tensor over would cut it off its past."""
    layer = tensor._keras_history.operation if getattr(tensor, "_keras_history", None) else None
    if isinstance(layer, keras.layers.InputLayer):
        return layer
    return keras.layers.InputLayer(
        batch_shape=tuple(tensor.shape), dtype=tensor.dtype, sparse=tensor.sparse, name=tensor.name
    )


def _tensors(model: Any, given: Any) -> list[Any]:
    """The tensors that are given for the inputs of a model, in the order of its inputs."""
    if isinstance(model, Sequential):
        return [_single_tensor(model, given)]
    pairs = by_input(given, model._inputs_struct)
    if pairs is None:
        raise ValueError(
            "`input_tensors` must have the same structure as model.input\nReference structure: "
            f"{model._inputs_struct}\nReceived structure: {given}"
        )
    found: dict[int, Any] = {}
    for own, value in pairs:
        tensor = _tensor(value)
        if not isinstance(tensor, KerasTensor):
            raise ValueError(
                "All entries in `input_tensors` must be KerasTensors or InputLayers. Received invalid values: "
                f"input_tensors={given}"
            )
        if getattr(tensor, "_keras_history", None) is None:
            raise ValueError(f"In `input_tensors`, {tensor} was made by no `Input` and by no layer.")
        if found.setdefault(id(own), tensor) is not tensor:
            raise ValueError(
                f"'{model.name}' has the tensor '{own.name}' for several of its inputs: `input_tensors` must have one "
                f"tensor for all of them. Received: input_tensors={given}"
            )
    return [found[id(own)] for own in model.inputs]


def _single_tensor(model: Any, given: Any) -> Any:
    if isinstance(given, list | tuple):
        if len(given) != 1:
            raise ValueError(
                f"Argument `input_tensors` must contain a single tensor: '{model.name}' is a Sequential model. "
                f"Received: input_tensors={given}"
            )
        given = given[0]
    if not isinstance(_tensor(given), KerasTensor):
        raise ValueError(
            "Argument `input_tensors` must be a KerasTensor or an InputLayer. Received invalid value: "
            f"input_tensors={given}"
        )
    return _tensor(given)


def _tensor(value: Any) -> Any:
    return value.output if isinstance(value, keras.layers.InputLayer) else value
