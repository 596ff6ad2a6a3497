"""Masks that Keras 2 leaves among the arguments of calls: it writes them there whenever it runs a graph again.

A call that has other arguments has a dictionary of them, and that is the one it writes to. Such a mask had no part in
what the call gave; the next that runs the graph would use it.
"""

from __future__ import annotations

from typing import Any

from .structure import leaves


class LeftMask:
    """Stands for a mask that was left among the arguments of a call."""

    def __init__(self, mask: Any) -> None:
        self.mask = mask


def is_tensor(thing: Any) -> bool:
    """Whether `thing` is a tensor of the graph that TensorFlow draws."""
    return hasattr(thing, "op") and hasattr(thing, "graph")


def was_left(mask: Any, node: Any) -> bool:
    """Whether the argument `mask` of a call, a tensor or as many as the call has inputs, was put there later."""
    masks = [each for each in leaves(mask) if is_tensor(each)]
    return (
        len(node.arguments) > 1
        and bool(masks)
        and not any(hasattr(each, "_keras_history") or _went_into(each, node) for each in masks)
    )


def _went_into(tensor: Any, node: Any) -> bool:
    """Whether `tensor` had a part in what a call computed."""
    ends_here = {id(each) for each in node.input_tensors}
    seen: set[int] = set()
    waiting = [each for each in node.output_tensors if is_tensor(each)]
    while waiting:
        each = waiting.pop()
        if each is tensor:
            return True
        if id(each) in ends_here or id(each.op) in seen:
            continue
        seen.add(id(each.op))
        waiting.extend(each.op.inputs)
        waiting.extend(output for op in each.op.control_inputs for output in op.outputs)
    return False
