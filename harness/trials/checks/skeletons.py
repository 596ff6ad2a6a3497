"""Nested plain data compared leaf by leaf: arguments of calls, structures of inputs and outputs.

A list is a JSON list, a tuple {"tuple": [...]}, a dict {"dict": [[key, value], ...]}, either with "type" where it is
one of a user's own; a tensor is {"tensor": name}.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from clonediff.harness.trials.checks.places import short

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
    elif form == "list":
        yield from _items(enumerate(expected), enumerate(found), path)
    elif form.startswith("tuple"):
        yield from _items(enumerate(expected["tuple"]), enumerate(found["tuple"]), path)
    elif form.startswith("dict"):
        yield from _items(expected["dict"], found["dict"], path)
    elif form == "object":
        yield from _items(expected.items(), found.items(), path)
    else:
        yield Unlike(path, form, short(expected), short(found))


def _items(expected: Any, found: Any, path: str) -> Iterator[Unlike]:
    mine: Sequence[Any] = [tuple(item) for item in expected]
    theirs: Sequence[Any] = [tuple(item) for item in found]
    have = dict(theirs)
    for key, item in mine:
        if key in have:
            yield from unlike(item, have[key], f"{path}[{key!r}]")
        else:
            yield Unlike(f"{path}[{key!r}]", "missing", short(item), MISSING)
    known = {key for key, _ in mine}
    for key, item in theirs:
        if key not in known:
            yield Unlike(f"{path}[{key!r}]", "extra", MISSING, short(item))
    keys, others = [key for key, _ in mine], [key for key, _ in theirs]
    if keys != others and set(keys) == set(others):
        yield Unlike(path, "order", short(keys), short(others))


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
