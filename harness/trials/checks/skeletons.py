"""Nested plain data compared leaf by leaf: arguments of calls, structures of inputs and outputs.

A list is a JSON list, a tuple {"tuple": [...]}, a dict {"dict": [[key, value], ...]}, either with "type" where it is
one of a user's own; a tensor is {"tensor": name}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clonediff.harness.trials.checks.places import short
from clonediff.harness.trials.checks.uses import items

MISSING = "nothing"


class Unlike(NamedTuple):
    """One leaf that differs. `aspect` is missing, extra, type, order, tensor or value; of arrays shape, dtype or value.

    `digests` has both arrays, where it is their values that differ.
    """

    path: str
    aspect: str
    expected: str
    found: str
    digests: tuple[str, str] | None = None


def unlike(expected: Any, found: Any, path: str = "") -> Iterator[Unlike]:
    """Everything in which two skeletons differ, in the order expected, what is extra last."""
    if expected == found:
        return
    form = _form(expected)
    if form != _form(found):
        yield Unlike(path, "type", short(expected), short(found))
    elif form in ("value", "tensor"):
        yield Unlike(path, form, short(expected), short(found))
    else:
        yield from _items(dict(items(expected)), dict(items(found)), path)


def _items(mine: Mapping[Any, Any], theirs: Mapping[Any, Any], path: str) -> Iterator[Unlike]:
    for key, item in mine.items():
        if key in theirs:
            yield from unlike(item, theirs[key], f"{path}[{key!r}]")
        else:
            yield Unlike(f"{path}[{key!r}]", "missing", short(item), MISSING)
    for key, item in theirs.items():
        if key not in mine:
            yield Unlike(f"{path}[{key!r}]", "extra", MISSING, short(item))
    if list(mine) != list(theirs) and mine.keys() == theirs.keys():
        yield Unlike(path, "order", short(list(mine)), short(list(theirs)))


def _form(value: Any) -> str:
    """What kind of node this is: where two differ in it, there is nothing further to compare."""
    if isinstance(value, list):
        return "list"
    if not isinstance(value, dict):
        return "value"
    for form in ("tuple", "dict"):
        if form in value and isinstance(value[form], list):
            return f"{form} {value.get('type', '')}"
    return "tensor" if set(value) == {"tensor"} else "object"
