"""What to draw for one subject: graphs of the layers that its release has, with the arguments of their signatures.

Owns how a release's capabilities become arguments of `functional_graphs`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from hypothesis.strategies import SearchStrategy, deferred
from msgspec import Struct

from clonediff.harness.drawing.remembered_answers import Asked, asked, here
from clonediff.harness.source.other_layers import absolute, allow
from clonediff.harness.subjects.case import takes_arguments
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.strategies import functional_graphs
from clonediff.strategies.graph import Graph, Items, Seq, Value
from clonediff.strategies.kinds import Generation, Kind
from clonediff.strategies.kinds.of_release import Signature, kinds_of
from clonediff.strategies.kinds.operations import operations_of


def graphs_on(
    process: SubjectProcess,
    *,
    without: Collection[str] = (),
    cloners: Collection[str] = (),
    layers: Collection[str] = (),
    values: Mapping[str, Iterable[Any]] | None = None,
    **options: Any,
) -> SearchStrategy[Graph]:
    """The graphs that the release of a subject can build; starts the process where it does not run.

    Takes the options of `functional_graphs`, and draws and shrinks as that does. Where all `cloners` take what
    `clone_model` takes, and there are some, clone arguments and preparations are drawn as well. `layers` and `values`
    are those of `kinds_on`.
    """
    return _graphs(
        asked(process),
        process.subject.generation,
        without,
        cloners,
        {**options, "catalogue": kinds_on(asked(process), layers=(*process.others, *layers), values=values)},
    )


def graphs_here(
    *,
    generation: Generation = "keras",
    without: Collection[str] = (),
    layers: Collection[str | type] = (),
    values: Mapping[str, Iterable[Any]] | None = None,
    **options: Any,
) -> SearchStrategy[Graph]:
    """The graphs that the Keras of this process can build, for tests of one's own: see `functional_graphs`."""
    its = here(generation)

    def those() -> SearchStrategy[Graph]:
        kinds = kinds_on(its, layers=layers, values=values)
        return _graphs(its, generation, without, (), {**options, "catalogue": kinds})

    return deferred(those)


def _graphs(
    its: Asked,
    generation: Generation,
    without: Collection[str],
    cloners: Collection[str],
    options: dict[str, Any],
) -> SearchStrategy[Graph]:
    with_more = bool(cloners) and all(map(takes_arguments, cloners))
    return functional_graphs(
        keras=its,
        generation=generation,
        without=without,
        missing=its.capabilities.missing,
        objects=its.capabilities.objects,
        **{"clone_arguments": with_more, "preparations": with_more, **options},
    )


def kinds_on(
    its: Asked,
    *,
    layers: Collection[str | type] = (),
    values: Mapping[str, Iterable[Any]] | None = None,
) -> Mapping[str, Kind]:
    """The kinds that a Keras has.

    `layers` are others, which are drawn too, a third of all: the name of a module, of a class in one, a file, a class
    in a file, or a class itself. `values` are further ones to try, by the name of an argument.
    """
    others = bring(its, layers)
    tried = {name: tuple(value_of(each, name) for each in its_values) for name, its_values in (values or {}).items()}
    found = dict(kinds_of({**its.capabilities.layers, **others}, custom=its.dialect.classes, tried=tried))
    usual = sum(kind.weight for name, kind in found.items() if name not in others)
    weight = max(2, usual // (2 * len(others) or 1))
    found.update((name, replace(found[name], weight=weight)) for name in others)
    operations = operations_of(its.capabilities.operations)
    found.update((name, kind) for name, kind in operations.items() if its.dialect.has(name))
    return found


def bring(its: Asked, layers: Collection[str | type]) -> Mapping[str, Signature]:
    """What these layers take, by the names of their kinds; from now on scripts may have them."""
    found = its.layers([absolute(each) if isinstance(each, str) else _name_of(each) for each in layers])
    allow(found)
    return found


def value_of(value: Any, name: str) -> Value:
    """What a user gives for an argument, as a graph has it."""
    if value is None or isinstance(value, (bool, int, float, str, Struct)):
        return cast("Value", value)
    if isinstance(value, (list, tuple)):
        return Seq(tuple(value_of(each, name) for each in value), form="tuple" if isinstance(value, tuple) else "list")
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return Items(tuple((key, value_of(each, name)) for key, each in value.items()))
    raise ValueError(f"values: {name}: expected numbers, texts, lists, tuples or dictionaries of them, found {value!r}")


def _name_of(layer: type) -> str:
    name = f"{layer.__module__}.{layer.__qualname__}"
    if "<locals>" in name:
        raise ValueError(f"layers: {name} is made within a function, where no script finds it: define it in a module")
    return name
