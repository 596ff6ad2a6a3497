"""Makes the calls of a model of Keras 3 again, with the arguments of `clone_model`."""

from __future__ import annotations

import contextlib
import inspect
import re
from itertools import count
from typing import Any

import keras
from keras.src.models.functional import Functional

from .keras3 import Keras3Copier, Keras3Values, KerasTensor, Layer, Sequential
from .replay import Replay, ordered_variables
from .walk import call_of

InputLayer = keras.layers.InputLayer


class Keras3Replay(Replay):
    """Makes the calls of a model of Keras 3 again."""

    COPIER = Keras3Copier
    VALUES = Keras3Values
    LAYER = Layer
    INPUT_LAYER = InputLayer
    SEQUENTIAL = Sequential
    FUNCTIONAL = Functional
    TENSOR = KerasTensor
    NEST = keras.tree

    def layers(self, graph: Any) -> list[Any]:
        return list(graph._layers if isinstance(graph, Sequential) else graph._operations)

    def input_structures(self, model: Any) -> list[Any]:
        return [model._inputs_struct]

    def calls(self, graph: Any) -> list[Any]:
        """The calls that lead to the outputs: none that only made a mask, which are made anew."""
        wanted = {id(tensor) for tensor in graph.outputs}
        found: list[Any] = []
        nodes = [node for depth in sorted(graph._nodes_by_depth) for node in graph._nodes_by_depth[depth]]
        for node in nodes:  # the last first
            if not node.is_input and any(id(tensor) in wanted for tensor in node.outputs):
                found.append(node)
                wanted.update(map(id, self.leaves(self.arguments(node))))
        return found[::-1]

    def arguments(self, call: Any) -> tuple[Any, dict[str, Any]]:
        """Those that the user gave, and none that Keras wrote down beside them: masks, and a default of `training`."""
        args, kwargs, layer = call.arguments.args, call.arguments.kwargs, call.operation
        if not isinstance(layer, Layer):
            return args, kwargs
        parameters = inspect.signature(layer.call).parameters
        masks = [getattr(leaf, "_keras_mask", None) for leaf in self.leaves((args, kwargs))]
        converts = getattr(layer, "_convert_input_args", True)
        tensor = args[0] if len(args) == 1 and isinstance(args[0], KerasTensor) else None
        is_as_it_is = tensor is not None and tensor.dtype == getattr(layer, "input_dtype", tensor.dtype)

        def is_written(name: str, value: Any) -> bool:
            if name in getattr(layer, "_call_context_args", ("training",)) and name in parameters:
                return value is parameters[name].default and (is_as_it_is or not converts)
            given = [leaf for leaf in self.leaves(value) if leaf is not None]
            is_mask = name == "mask" or name.endswith("_mask")
            return is_mask and all(any(leaf is mask for mask in masks) for leaf in given)

        given = {name: value for name, value in kwargs.items() if not is_written(name, value)}
        return args, kwargs if converts and given else given  # where any is given, or converted, it writes into a copy

    def put_together(self, model: Any, new: Any) -> None:
        if isinstance(model, Sequential):
            layers = self._layers_of(model)
            with contextlib.ExitStack() as scopes:  # of the models around it, which built the original
                for name in (getattr(model, "_path", None) or "").split("/")[:-1]:
                    scopes.enter_context(keras.name_scope(name))
                Sequential.__init__(new, layers, name=model.name)
        else:
            ends = model._inputs_struct, model._outputs_struct
            inputs, outputs = (self.NEST.map_structure(self.copier.of, part) for part in ends)
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
        if layers and isinstance(layers[0], InputLayer):
            first = [self.memo[id(layers.pop(0))]]
        if self.given is not None and model is self.model:
            tensor = self.given[0]
            first = [tensor._keras_history.operation]
            if not isinstance(first[0], InputLayer):  # taken over, the tensor would be cut off its past
                options = {"dtype": tensor.dtype, "sparse": tensor.sparse, "name": tensor.name}
                first = [InputLayer(batch_shape=tuple(tensor.shape), **options)]
            for layer in layers:
                if id(layer) not in self.cache and not (model.built and self._are_alike(model.inputs, self.given)):
                    self.memo[id(layer)] = self._unbuilt(layer)
        return first + [self.memo[id(layer)] for layer in layers]

    def _take_over(self, model: Any, new: Any) -> None:
        """Give a new model what the original holds beside its graph."""
        own = vars(new)
        for name in ("_trainable", "autocast", "supports_jit", "_supports_masking"):
            if name in vars(model):
                own[name] = vars(model)[name]
        if model.compiled:
            self._compile(model, new)
        skipped = {*own, *self.copier.plan(type(model)).skipped, "_functional"} - {"_dtype_policy", "_auto_config"}
        held = {name: value for name, value in vars(model).items() if name not in skipped and name[:6] != "_self_"}
        self.copy(*held.values())
        for name, value in held.items():
            new.__setattr__(name, self.copier.of(value))

    def _compile(self, model: Any, new: Any) -> None:
        """Compile a clone as its original is, with an optimizer of its own."""
        arguments = dict(model._compile_config.config)
        optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
        self.memo[id(model.optimizer)] = self.memo[id(arguments.pop("optimizer"))] = optimizer
        self.copy(*arguments.values())
        arguments = {name: self.copier.of(value) for name, value in arguments.items()}
        keras.Model.compile(new, optimizer, **arguments)
        if model.optimizer.built:  # for the weights for which the original was, whatever is frozen since
            new_of = dict(zip(map(id, ordered_variables(model)), ordered_variables(new), strict=False))
            trained = getattr(model.optimizer, "inner_optimizer", model.optimizer)._trainable_variables
            found = [new_of.get(id(variable)) for variable in trained]
            optimizer.build(new.trainable_variables if any(weight is None for weight in found) else found)

    def _name_masks(self, model: Any) -> None:
        """Name the operations that make masks as in the original, and others by the first number that is free."""
        tensors = [tensor for call in self.calls(model) for tensor in call.outputs]
        names = {self.memo[id(tensor)]._keras_history.operation.name for tensor in tensors}
        originals = _makers_of_masks(tensors, model.inputs)
        new = [self.memo[id(tensor)] for tensor in tensors]
        for maker in _makers_of_masks(new, [self.memo[id(tensor)] for tensor in model.inputs]):
            like = next((original for original in originals if type(original) is type(maker)), None)
            if like is None:
                base = re.sub(r"_\d+$", "", maker.name)
                numbered = (f"{base}_{number}" if number else base for number in count())
                maker.name = next(name for name in numbered if name not in names)
            else:
                originals.remove(like)
                maker.name = like.name
            names.add(maker.name)


def _makers_of_masks(tensors: list[Any], inputs: list[Any]) -> list[Any]:
    """The operations that make the masks of tensors out of these and of the inputs."""
    ends = set(map(id, [*tensors, *inputs]))
    waiting = [getattr(tensor, "_keras_mask", None) for tensor in tensors]
    found: list[Any] = []
    while waiting:
        mask = waiting.pop(0)
        call = None if mask is None or id(mask) in ends else call_of(mask)
        if call is not None and not isinstance(call.operation, Layer) and call.operation not in found:
            found.append(call.operation)
            waiting += call.input_tensors
    return found
