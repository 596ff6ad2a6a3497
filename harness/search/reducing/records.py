"""A graph as data: records of fields, within records and tuples.

Owns how something is changed wherever it stands, or at one place. Knows no layer, and of no field what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec
from msgspec import structs

from clonediff.strategies.graph import Graph, MalformedGraph

Record: TypeAlias = msgspec.Struct
T = TypeVar("T")


def with_field(record: T, **changes: Any) -> T | None:
    """The record with some fields replaced, None where that is malformed."""
    try:
        return structs.replace(record, **changes)  # type: ignore[type-var]  # a record
    except MalformedGraph:
        return None


def rewritten(value: T, change: Callable[[Any], Any]) -> T | None:
    """The value with each record in it changed, the inner ones first; None where that is malformed."""
    try:
        new: T = _rewritten(value, change)
    except MalformedGraph:
        return None
    return new


def _rewritten(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_rewritten(item, change) for item in value)
    if not isinstance(value, Record):
        return value
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    inner = {name: _rewritten(its, change) for name, its in fields.items() if isinstance(its, tuple | Record)}
    return change(structs.replace(value, **inner) if inner else value)


Plainer: TypeAlias = Callable[[Any, Graph], Iterator[Any]]
"""From a record, and the graph that it stands in, to plainer ones; None for one that is malformed."""


def at_one_place(value: Any, plainer: Plainer, graph: Graph) -> Iterator[Any]:
    """The value with one record in it made plainer, the outer ones first."""
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            for less in at_one_place(item, plainer, graph):
                yield (*value[:place], less, *value[place + 1 :])
    elif isinstance(value, Record):
        graph = value if isinstance(value, Graph) else graph
        yield from (less for less in plainer(value, graph) if less is not None)
        for name in value.__struct_fields__:
            for less in at_one_place(getattr(value, name), plainer, graph):
                new = with_field(value, **{name: less})
                if new is not None:
                    yield new


def records(value: Any, graph: Graph) -> Iterator[tuple[Record, Graph]]:
    """Each record in a value, the outer ones first, with the graph that it stands in."""
    if isinstance(value, tuple):
        for item in value:
            yield from records(item, graph)
    elif isinstance(value, Record):
        graph = value if isinstance(value, Graph) else graph
        yield value, graph
        for name in value.__struct_fields__:
            yield from records(getattr(value, name), graph)


@cache
def defaults(kind: type[Record]) -> dict[str, Any]:
    """The fields of a sort of record that have a default, with it."""
    return {each.name: each.default for each in structs.fields(kind) if each.default is not msgspec.NODEFAULT}


@cache
def words(kind: type[Record]) -> dict[str, tuple[Any, ...]]:
    """The fields of a sort of record that hold one of a few words, with these, the plainest first."""
    return {each.name: get_args(each.type) for each in structs.fields(kind) if get_origin(each.type) is Literal}
