"""From a graph to the case that a subject is asked to try."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import structs

from clonediff.harness.source import DIALECTS, written
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Keeps
from clonediff.strategies.asking import NoKeras, taken
from clonediff.strategies.clone_arguments import inputs_of, keeps_layers, makes_none, repeats
from clonediff.strategies.graph import CloneArguments, Graph, Input, levels, refs, to_json
from clonediff.strategies.preparations import runs


def case_of(graph: Graph, dialect: str) -> Case:
    """The case of a graph: its script, its inputs in the order of the model's, a seed that follows from the graph."""
    script, spoken = written(graph, dialect), DIALECTS[dialect]
    case = Case(
        script.source,
        tuple(_taken(graph)),
        batch=graph.batch,
        seed=number_of(graph),
        done=tuple(dict.fromkeys(each.does for each in graph.preparations)),
        ran=runs(graph),
        promises=_promises(graph, spoken),
        asked=script.asked,
        builds=script.builds,
        called_again=tuple(sorted(set(_called_again(graph)))),
        within=script.within,
        index=dict(script.index),
    )
    arguments = graph.clone_arguments
    if arguments is None:
        return case
    return structs.replace(
        case,
        arguments=dict(script.arguments),
        asked=script.asked,
        functions_raise=makes_none(arguments) and not arguments.wrong,
        wrong=bool(arguments.wrong),
        promises=arguments.inputs if arguments.inputs == "turned" else case.promises,
        repeats=repeats(arguments) and not _of_copied_calls(graph, spoken),
        keeps=_kept(arguments),
    )


def _called_again(graph: Graph) -> Iterator[str]:
    """The kinds of layers with several calls: the first of all builds a layer, that of the clone may be another."""
    for level in levels(graph):
        counted = Counter(call.layer for call in level.calls)
        yield from (level.layers[layer].kind for layer, count in counted.items() if count > 1)


def _kept(arguments: CloneArguments) -> Keeps:
    """What of the model stands in its clone."""
    of_its_own: Keeps = "inputs" if arguments.inputs == "own" else "a tensor" if arguments.inputs == "inner" else ""
    if keeps_layers(arguments):
        return "everything" if of_its_own else "layers"
    return of_its_own


def _of_copied_calls(graph: Graph, dialect: Dialect) -> bool:
    """Whether a clone begins at tensors that layers made, where a layer's calls are counted anew, and backwards."""
    given = graph.clone_arguments
    return dialect.copies_calls and given is not None and given.inputs in ("made", "inner")


def _inputs(graph: Graph) -> tuple[Input, ...]:
    """What the model takes; a layer that keeps its state needs a batch of a known size."""
    inputs = inputs_of(graph)
    if not any(each.does == "stateful" for each in graph.preparations):
        return inputs
    return tuple(structs.replace(given, batch=given.batch or graph.batch) for given in inputs)


def _promises(graph: Graph, dialect: Dialect) -> str:
    """What is asked for, where that is less."""
    renamed = any(each.does == "set" and "name" in dict(each.args) for each in graph.preparations)
    if renamed or any(each.does == "clone name scope" for each in graph.preparations):  # of Keras 3 only
        return "another scope"
    return "not compiled" if not dialect.compiles and _is_compiled(graph) else ""


def _is_compiled(graph: Graph) -> bool:
    return any(each.does in ("compile", "train") for each in graph.preparations)


def number_of(graph: Graph) -> int:
    """A number that is the graph's own, the same in every process."""
    return zlib.crc32(to_json(graph))


def _taken(graph: Graph) -> Iterator[dict[str, Any]]:
    """The inputs of the model, in its order. Where no Keras is at hand, the model itself tells one that a call gave."""
    inputs = _inputs(graph)
    try:
        yield from (_input(each) for each in taken(structs.replace(graph, inputs=inputs)))
    except NoKeras:
        yield from (_input(inputs[ref.node]) if ref.node < len(inputs) else {} for ref in refs(graph.takes))


def _input(given: Input) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "shape": list(given.shape),
        "dtype": given.dtype,
        "fill": given.fill,
        "batch": given.batch,
        "optional": given.optional,
        "high": given.high,
    }
    return {**spec, "ragged": True} if given.ragged else spec
