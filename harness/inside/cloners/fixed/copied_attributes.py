"""Attributes of a model, copied to its clone: with the clone's own layers, tensors and variables in them."""

from __future__ import annotations

from types import MethodType
from typing import Any, Callable

from ...structure import replace_leaves
from .comparison import leads_to
from .options import described


class NotUnderstood(Exception):
    """What a model holds leads to parts of the original in a way that cannot be followed."""


def copied_value(
    value: Any,
    is_part: Callable[[Any], bool],
    part: Callable[[Any], Any],
    clone_at: Callable[[int], Any],
    model: Any,
    clone: Any,
) -> Any:
    """What a clone holds where its original holds `value`: its own parts, and everything else as it is.

    `is_part` says what a clone has of its own, `part` gives it, and `clone_at` by the `id` of the original, or None.
    """

    def member(each: Any) -> Any:
        other = clone_at(each) if type(each) is int else None
        return change(each) if other is None else id(other)

    def change(each: Any) -> Any:
        if is_part(each):
            return part(each)
        if isinstance(each, (set, frozenset)):
            return type(each)(map(member, each))
        if isinstance(each, MethodType) and each.__self__ is model:
            return MethodType(each.__func__, clone)
        if leads_to(each, is_part):
            raise NotUnderstood(described(model))
        return each

    if any(leads_to(key, is_part) for key in _keys(value)):
        raise NotUnderstood(described(model))
    return replace_leaves(change, value)


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value) + [key for each in value.values() for key in _keys(each)]
    return [key for each in value for key in _keys(each)] if isinstance(value, (list, tuple)) else []
