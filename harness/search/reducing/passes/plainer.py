"""Passes that know a graph as data: a field is left at its default, an item is left out, a value is a plainer one.

What cannot be built then, Keras refuses. Owns what is plainer where that is not the default: arguments, by the values
that the catalogue has for them, what a function does, and what else names a kind of layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import structs

from clonediff.harness.search.reducing.measure import CONTAINERS, PARTS, SAID, WIDTHS, arguments, same
from clonediff.harness.search.reducing.passes.bases import Offers
from clonediff.harness.search.reducing.records import (
    Plainer,
    Record,
    at_one_place,
    defaults,
    rewritten,
    with_field,
    words,
)
from clonediff.strategies.graph import (
    Form,
    Function,
    Graph,
    Input,
    Layer,
    Made,
    Named,
    Preparation,
    Seq,
    Value,
)
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT
from clonediff.strategies.kinds.arguments import TOUCHED
from clonediff.strategies.kinds.forms import FORMS as FORMS_OF
from clonediff.strategies.kinds.lambdas import BATCH, EXPRESSIONS, FORMS, MASK_FORMS, MASKS, SHAPE_FORMS
from clonediff.strategies.preparations import PREPARATIONS

OPEN_TO = 3
"""What an open dimension becomes."""


def leave_out_parts(graph: Graph) -> Offers:
    """A graph without what it has beside its layers and calls: clone arguments, preparations, a custom class."""
    yield from at_one_place(graph, _without(PARTS), graph)


def say_less_at_once(graph: Graph) -> Offers:
    """Nothing said of any part; of no part but inputs; of inputs alone; then no field of one sort anywhere."""
    every = [(kind, name) for kind, names in SAID.items() for name in names]
    beside = [each for each in every if each[0] is not Input]
    values: list[tuple[type[Record], str]] = [(Input, name) for name in SAID[Input] if name != "name"]
    at_once: list[list[tuple[type[Record], str]]] = [every, beside, values, *([each] for each in every)]
    for fields in at_once:
        yield rewritten(graph, _everywhere(fields))
    yield rewritten(graph, _closed)


def say_less(graph: Graph) -> Offers:
    """One field of one part at its default, or at a plainer one of its words."""
    yield from at_one_place(graph, _without(SAID), graph)
    yield from at_one_place(graph, _plainer_words, graph)


def simplify_arguments(graph: Graph) -> Offers:
    """Fewer arguments, or simpler values for them: of layers, of calls, of preparations; and what functions do."""
    yield from at_one_place(graph, _plainer_arguments, graph)
    yield from at_one_place(graph, _plainer_values, graph)


def unwrap(graph: Graph) -> Offers:
    """The layer within a layer, in its place."""
    yield from at_one_place(graph, _unwrapped, graph)


def _without(fields: Mapping[type[Record], tuple[str, ...]]) -> Plainer:
    def less(record: Record, graph: Graph) -> Iterator[Any]:
        for name in fields.get(type(record), ()):
            value = getattr(record, name)
            if value == defaults(type(record))[name]:
                continue
            yield _at_defaults(record, [name])
            for place in range(len(value) if isinstance(value, tuple) and len(value) > 1 else 0):
                yield with_field(record, **{name: (*value[:place], *value[place + 1 :])})

    return less


def _everywhere(fields: list[tuple[type[Record], str]]) -> Callable[[Any], Any]:
    def less(record: Record) -> Record:
        names = [name for kind, name in fields if kind is type(record)]
        return _at_defaults(record, names) or record

    return less


def _at_defaults(record: Record, names: list[str]) -> Record | None:
    """The record with these fields at their defaults."""
    return with_field(record, **{name: defaults(type(record))[name] for name in names})


def _closed(record: Record) -> Record:
    if not isinstance(record, Input) or None not in record.shape:
        return record
    return structs.replace(record, shape=tuple(OPEN_TO if length is None else length for length in record.shape))


def _plainer_words(record: Record, graph: Graph) -> Iterator[Any]:
    """A plainer one of the words that a field may hold; another kind of layer, where one is named."""
    for name, those in words(type(record)).items():
        value = getattr(record, name)
        for word in those[: those.index(value)] if (type(record) in SAID or type(record) in PARTS) else ():
            yield with_field(record, **{name: word})
    if isinstance(record, Preparation) and record.does in PREPARATIONS:
        yield from (structs.replace(record, kind=kind) for kind in PREPARATIONS[record.does].on(graph))


def _plainer_arguments(record: Record, graph: Graph) -> Iterator[Any]:
    field, options = arguments(record, graph)
    args: tuple[tuple[str, Value], ...] = getattr(record, field) if field else ()
    needed = [pair for pair in args if LEFT_OUT not in options.get(pair[0], (LEFT_OUT,))]
    if isinstance(record, Layer) and len(args) > len(needed) + 1:
        yield structs.replace(record, args=tuple(needed))
    for place, (key, value) in enumerate(args):
        before, after = args[:place], args[place + 1 :]
        if (key, value) not in needed:
            yield structs.replace(record, **{field: (*before, *after)})
        told = [option for option in options.get(key, ()) if option != LEFT_OUT]
        at = next((at for at, option in enumerate(told) if same(option, value)), len(told))
        for simpler in told[:at] if key not in WIDTHS else ():
            yield structs.replace(record, **{field: (*before, (key, simpler), *after)})


def _plainer_values(record: Record, graph: Graph) -> Iterator[Any]:
    """A simpler function, form or dtype; an object with an argument less; of several layers one, or one less."""
    match record:
        case Form(sort=sort, form=form) if form in FORMS_OF.get(sort, ()):
            yield from (Form(sort, simpler) for simpler in FORMS_OF[sort][: FORMS_OF[sort].index(form)])
        case Function(form=form, gives=gives, container=container):
            forms = next((each for each in (FORMS, MASK_FORMS, SHAPE_FORMS) if form in each), ())
            for simpler in forms[: forms.index(form)] if forms else ():
                yield structs.replace(record, form=simpler)
            for simpler in CONTAINERS[len(gives) > 1 : CONTAINERS.index(container)]:
                yield structs.replace(record, container=simpler)
            for place, text in enumerate(gives):
                for simpler in ("x", "x * 2.0") if text in EXPRESSIONS else MASKS[:2] if text in MASKS else ():
                    yield structs.replace(record, gives=(*gives[:place], simpler, *gives[place + 1 :]))
        case Named(args=args) if args:
            for place in range(len(args)):
                yield structs.replace(record, args=(*args[:place], *args[place + 1 :]))
        case Layer(args=args, dtype=dtype):
            dtypes = _DTYPES[: _DTYPES.index(dtype)] if dtype in _DTYPES else _DTYPES if dtype else ()
            yield from (structs.replace(record, dtype=plainer) for plainer in dtypes)
            for place, (key, value) in enumerate(args):
                if isinstance(value, Seq) and any(isinstance(item, Made) for item in value.items):
                    for fewer in _of_fewer(value):
                        yield structs.replace(record, args=(*args[:place], (key, fewer), *args[place + 1 :]))


_DTYPES = tuple(value for argument, values in TOUCHED.values() if argument == "dtype" for value in values)
"""What a layer may have for a dtype, the plainest first."""


def _of_fewer(value: Seq) -> Iterator[Value]:
    items = value.items
    yield from items
    for place in range(len(items) if len(items) > 2 else 0):
        yield structs.replace(value, items=(*items[:place], *items[place + 1 :]))


def _unwrapped(record: Record, graph: Graph) -> Iterator[Any]:
    if isinstance(record, Layer):
        for _, value in record.args:
            if isinstance(value, Made) and value.layer.kind in CATALOGUE:
                yield value.layer


# -- sizes


def reduce_every_dimension(graph: Graph) -> Offers:
    """All dimensions and widths of one size made another, then down to one."""
    for size in sorted({*_sizes(graph)}, reverse=True):
        for smaller in _smaller(size):
            swap = {size: smaller}
            yield _resized(graph, lambda each, swap=swap: swap.get(each, each))  # type: ignore[misc]  # bound early


def reduce_dimension(graph: Graph) -> Offers:
    """One dimension or width."""
    sizes = _sizes(graph)
    for place, size in enumerate(sizes):
        for smaller in _smaller(size):
            others = iter((*sizes[:place], smaller, *sizes[place + 1 :]))
            yield _resized(graph, lambda each, others=others: next(others))  # type: ignore[misc]  # bound early


def drop_rank(graph: Graph) -> Offers:
    """Inputs without their first dimension, or their last: all of them, then each alone."""

    def flatter(given: Input, part: slice) -> Input:
        return structs.replace(given, shape=given.shape[part]) if len(given.shape) > 1 else given

    for part in (slice(1, None), slice(-1)):
        yield with_field(graph, inputs=tuple(flatter(each, part) for each in graph.inputs))
        for place, given in enumerate(graph.inputs):
            inputs = (*graph.inputs[:place], flatter(given, part), *graph.inputs[place + 1 :])
            yield with_field(graph, inputs=inputs)


def reduce_batch(graph: Graph) -> Offers:
    """As many rows as any graph has."""
    if graph.batch > BATCH:
        yield with_field(graph, batch=BATCH)


def _smaller(size: int) -> Iterator[int]:
    yield from sorted({1, 2, size - 1} & set(range(1, size)))


def _sizes(graph: Graph) -> list[int]:
    """The dimensions of the inputs, and the widths of layers at every level."""
    found: list[int] = []

    def note(size: int) -> int:
        found.append(size)
        return size

    _resized(graph, note)
    return found


def _resized(graph: Graph, change: Callable[[int], int]) -> Graph | None:
    """Other dimensions of the inputs, and widths at every level. What inner models take follows from their tensors."""

    def resize(record: Record) -> Record:
        if not isinstance(record, Layer):
            return record
        sized = {key: change(value) for key, value in record.args if key in WIDTHS and type(value) is int}
        return structs.replace(record, args=tuple((key, sized.get(key, value)) for key, value in record.args))

    inputs = tuple(
        structs.replace(each, shape=tuple(None if length is None else change(length) for length in each.shape))
        for each in graph.inputs
    )
    resized = with_field(graph, inputs=inputs)
    return None if resized is None else rewritten(resized, resize)
