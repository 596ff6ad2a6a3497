"""What a model holds beside its layers and its graph: the same for its clone, around the clone's own parts."""

from __future__ import annotations

from types import MethodType
from typing import Any, Callable

from ...structure import replace_leaves
from .options import described, leads_to


class NotUnderstood(Exception):
    """What a model holds leads to parts of the original in a way that cannot be followed."""


def like_what_it_holds(
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

    return replace_leaves(change, value)


def refused(model: Any, reasons: list[str]) -> ValueError:
    """The error for a model of which no way makes another one like it."""
    return ValueError(
        "%s cannot be cloned faithfully: %s. Let its `get_config()` return everything that its constructor needs to "
        "make it again." % (described(model), "; ".join(reasons))
    )
