"""Makes the calls of a graph again, on new tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras

from ....structure import map_leaves
from ..schedule import Schedule
from .adapter import ADAPTER
from .carried_over import build_before_call
from .release import tree, written_by_keras
from .session import floats_as_in


def repeat_calls(
    graph: Any,
    tensors: dict[int, Any],
    operation_of: Callable[[Any], Any],
    clone_leaf: Callable[[Any], Any],
) -> None:
    """Repeats every call of a graph; `tensors` goes from the id of an original tensor to its clone and is filled in.

    What the original got otherwise than by these calls is taken over: shapes, masks and dtypes.
    """
    for node in Schedule(ADAPTER, ADAPTER.graph_nodes(graph)).in_order():
        if node.is_input or not node.operation:
            continue
        if any(id(tensor) not in tensors for tensor in node.input_tensors):
            continue
        operation = operation_of(node.operation)
        args = cloned_arguments(node.arguments.args, tensors, clone_leaf)
        kwargs = cloned_arguments(node.arguments.kwargs, tensors, clone_leaf)
        if has_mixed_mask(node):
            # Keras finds the mask on the tensors again: there has to be the one that the graph computes.
            del kwargs["mask"]
            for tensor in node.input_tensors:
                mask_alike(tensors, tensor, node)
        if args:
            build_before_call(node.operation, operation, node.arguments.args[0], args[0])
        with floats_as_in((node,)):
            outputs = tree.flatten(operation(*args, **kwargs))
        if len(outputs) < len(node.outputs):
            raise ValueError(
                f"The clone of '{node.operation.name}' gave {len(outputs)} tensors, "
                f"where the original gave {len(node.outputs)}."
            )
        for original, output in zip(node.outputs, outputs):
            tensors[id(original)] = output
            mask_alike(tensors, original, node)
    # Once more, now that the calls that compute the masks themselves have been repeated too.
    for node in ADAPTER.graph_nodes(graph):
        for original in node.outputs:
            if id(original) in tensors:
                mask_alike(tensors, original, node)


def cloned_arguments(arguments: Any, tensors: dict[int, Any], clone_leaf: Callable[[Any], Any]) -> Any:
    return map_leaves(
        lambda value: tensors[id(value)] if id(value) in tensors else clone_leaf(value),
        arguments,
    )


def has_mixed_mask(node: Any) -> bool:
    """Whether Keras itself wrote a mask into the node that cannot be given as one.

    Where Keras fills in `mask` in the very dictionary that the node then records, no argument of early releases has
    tensors beside None, so a mask for some tensors of several is Keras's own there.
    """
    mask = node.arguments.kwargs.get("mask")
    if mask is None or not isinstance(node.operation, keras.Layer) or not written_by_keras():
        return False
    leaves = tree.flatten(mask)
    given = [node.arguments.args, [value for name, value in node.arguments.kwargs.items() if name != "mask"]]
    implicit = [id(getattr(tensor, "_keras_mask", None)) for tensor in tree.flatten(given)]
    is_mixed = any(leaf is None for leaf in leaves) and any(leaf is not None for leaf in leaves)
    return is_mixed and all(id(leaf) in implicit for leaf in leaves)


def mask_alike(tensors: dict[int, Any], original: Any, node: Any) -> None:
    """Gives a cloned tensor a mask exactly where the original has one. `node` is the call that gave the original."""
    clone = tensors[id(original)]
    mask = getattr(original, "_keras_mask", None)
    if mask is None:
        if getattr(clone, "_keras_mask", None) is not None:
            del clone._keras_mask
    elif id(mask) in tensors:
        clone._keras_mask = tensors[id(mask)]
    else:
        # Where Keras casts an argument it hands the mask on, which need not be a tensor of this graph.
        for tensor in node.input_tensors:
            if getattr(tensor, "_keras_mask", None) is mask and id(tensor) in tensors:
                clone._keras_mask = getattr(tensors[id(tensor)], "_keras_mask", None)
