"""Calls as their user gave them, for a clone in which other layers, tensors or calls take part.

While it makes a call, Keras may write the masks that it finds on tensors, and defaults like that of `training`, into
the arguments that it then records. A repetition on the same layers may take them from there; one on others must not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import keras

from ....structure import leaves
from ..schedule import Schedule
from .adapter import ADAPTER
from .graphs import cloned_arguments
from .release import tree, written_by_keras


def make_changed_calls(
    graph: Any,
    tensors: dict[int, Any],
    operation_of: Callable[[Any], Any],
    clone_leaf: Callable[[Any], Any],
    call: Callable[..., Any] | None,
) -> None:
    """Makes the calls of a graph on what takes the place of its layers and tensors, a layer's by `call` if it is given.

    `tensors` goes from the id of an original tensor to what takes its place, and is filled in.
    """
    made: list[tuple[Any, Any]] = []
    for node in _needed(graph):
        given = node.arguments.args, _as_given(node)
        if any(isinstance(leaf, keras.KerasTensor) and id(leaf) not in tensors for leaf in leaves(given)):
            continue
        operation = operation_of(node.operation)
        args, kwargs = cloned_arguments(given, tensors, clone_leaf)
        if call is not None and isinstance(operation, keras.Layer):
            outputs, who = call(operation, *args, **kwargs), "`call_function`"
        else:
            _refuse_arguments(node, operation, args, kwargs)
            outputs, who = operation(*args, **kwargs), f"{operation}"
        for original, output in zip(node.outputs, _checked_outputs(node, tree.flatten(outputs), who)):
            tensors[id(original)] = output
            made.append((original, output))
    _name_masks_alike(made, tensors)


def _as_given(node: Any) -> dict[str, Any]:
    """The keyword arguments of a call less those that Keras itself wrote down."""
    kwargs: dict[str, Any] = node.arguments.kwargs
    if not isinstance(node.operation, keras.Layer) or not kwargs or not written_by_keras():
        return kwargs
    by_name = _by_name(node)
    parameters = inspect.signature(node.operation.call).parameters
    context = set(getattr(node.operation, "_call_context_args", ("training",)))
    if "training" not in written_by_keras():
        context = set()

    def is_written_by_keras(name: str, value: Any) -> bool:
        if name in context and name in parameters:
            return value is parameters[name].default and _writes_down(node)
        if name == "mask":
            others = [argument for other, argument in by_name.items() if other != name]
            return any(_is_mask_of(value, argument) for argument in others)
        if name.endswith("_mask"):
            return name[: -len("_mask")] in by_name and _is_mask_of(value, by_name[name[: -len("_mask")]])
        return False

    given = {name: value for name, value in kwargs.items() if not is_written_by_keras(name, value)}
    if getattr(node.operation, "_convert_input_args", True):
        # Where the user gives any, or Keras converts what it is given, it writes into a copy.
        always = {name for name in context if getattr(parameters.get(name), "default", None) not in (None, _REQUIRED)}
        return given if not given and always <= set(kwargs) and _writes_down(node) else kwargs
    return given


_REQUIRED = inspect.Parameter.empty


def _writes_down(node: Any) -> bool:
    """Whether Keras writes into the very arguments that a call was made with: where it converts any, into a copy."""
    args, layer = node.arguments.args, node.operation
    if not getattr(layer, "_convert_input_args", True):
        return True
    one = len(args) == 1 and isinstance(args[0], keras.KerasTensor)
    return one and keras.backend.standardize_dtype(args[0].dtype) == getattr(layer, "input_dtype", args[0].dtype)


def _by_name(node: Any) -> dict[str, Any]:
    try:
        bound = inspect.signature(node.operation.call).bind_partial(*node.arguments.args, **node.arguments.kwargs)
    except TypeError:
        return {str(place): value for place, value in enumerate(node.arguments.args)}
    return dict(bound.arguments)


def _is_mask_of(mask: Any, argument: Any) -> bool:
    tensors, masks = tree.flatten(argument), tree.flatten(mask)
    return len(tensors) == len(masks) and all(
        isinstance(tensor, keras.KerasTensor) and getattr(tensor, "_keras_mask", None) is found
        for tensor, found in zip(tensors, masks)
    )


def _needed(graph: Any) -> list[Any]:
    """The calls that lead to the outputs of a graph by the arguments that were given: none that only made a mask."""
    wanted = {id(tensor) for tensor in graph.outputs}
    found = []
    for node in Schedule(ADAPTER, ADAPTER.graph_nodes(graph)).in_order()[::-1]:
        if node.operation and not node.is_input and any(id(tensor) in wanted for tensor in node.outputs):
            found.append(node)
            wanted.update(id(leaf) for leaf in leaves([node.arguments.args, _as_given(node)]))
    return found[::-1]


def _name_masks_alike(made: list[tuple[Any, Any]], tensors: dict[int, Any]) -> None:
    """Names the operations behind masks like those of the original; others get the first number that is free."""
    own = {id(tensor) for tensor in tensors.values()}
    names = {tensor._keras_history.operation.name for tensor in tensors.values()}
    others: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [(getattr(one, "_keras_mask", None), getattr(other, "_keras_mask", None)) for one, other in made]
    while waiting:
        one, other = waiting.pop(0)
        operation, inputs = (None, []) if id(other) in own else _maker(other)
        if operation is None or isinstance(operation, keras.Layer) or id(operation) in seen:
            continue
        like, like_inputs = (None, []) if id(one) in tensors else _maker(one)
        if like is not None and type(like) is type(operation):
            operation.name = like.name
            names.add(like.name)
            seen.add(id(operation))
            others.pop(id(operation), None)
            waiting.extend(zip(like_inputs, inputs))
        elif id(operation) not in others:
            others[id(operation)] = operation
            waiting.extend((None, tensor) for tensor in inputs)
    for operation in others.values():
        base = re.sub(r"_\d+$", "", operation.name)
        free = (name for name in (f"{base}_{number}" if number else base for number in count()) if name not in names)
        operation.name = next(free)
        names.add(operation.name)


def _maker(tensor: Any) -> tuple[Any, list[Any]]:
    """The operation that made a tensor, and what it was called on."""
    operation, place, _ = getattr(tensor, "_keras_history", None) or (None, 0, 0)
    return operation, [] if operation is None else operation._inbound_nodes[place].input_tensors


def _refuse_arguments(node: Any, layer: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Raises if the layer that takes the place of another one cannot be called as that was."""
    if type(layer) is type(node.operation) or not isinstance(layer, keras.Layer):
        return
    context = set(getattr(layer, "_call_context_args", ("training",)))
    try:
        inspect.signature(layer.call).bind(*args, **{key: each for key, each in kwargs.items() if key not in context})
    except TypeError as failure:
        raise ValueError(
            f"The call of '{node.operation.name}' cannot be made on what `clone_function` gave for it, {layer} "
            f"({failure}). Give a layer that takes the arguments of that call, or change them by a `call_function`."
        ) from failure


def _checked_outputs(node: Any, outputs: list[Any], called: str) -> list[Any]:
    """Raises if a call that was changed gave something else than what takes the place of the original's tensors."""
    for output in outputs:
        if not isinstance(output, keras.KerasTensor):
            raise ValueError(  # noqa: TRY004 - as for whatever else a function answers
                f"{called} gave {output!r} for the call of '{node.operation.name}', where tensors are to be given."
            )
    if len(outputs) != len(node.outputs):
        raise ValueError(
            f"{called} gave {len(outputs)} tensors for the call of '{node.operation.name}', where the original gave "
            f"{len(node.outputs)}: their number must stay."
        )
    return outputs


def refuse_masks_from_outside(inputs: Any, failure: Exception) -> None:
    """Says why a model could not be made, if it is that given tensors have masks."""
    for tensor in tree.flatten(inputs):
        if getattr(tensor, "_keras_mask", None) is not None:
            raise ValueError(
                f"In `input_tensors`, {tensor} has a mask, which is none of the inputs, so that the clone could not "
                "compute it. Give a tensor without a mask."
            ) from failure


def may_be_called(model: Any, input_tensors: Any) -> list[Any]:
    """The operations that a clone may call which are not its own: those of a model, and what gave given tensors."""
    operations = list(model._flatten_layers())
    graphs = [getattr(layer, "_functional", None) or layer for layer in operations]
    operations += [each for graph in graphs for each in getattr(graph, "_operations", ())]
    given = [tensor for tensor in tree.flatten(input_tensors) if tensor is not None]
    return operations + [tensor._keras_history.operation for tensor in given]
