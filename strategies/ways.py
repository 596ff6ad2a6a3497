"""Ways to clone: which suit a graph, and what each asks for.

Owns what `strategies.graph.Way` means for a model. What a way asks for is the same model with a change
in it: a layer replaced, a call inserted, an input exchanged. Here it is known which of these can be built; the text of
such a model is written by `harness.source`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from msgspec import structs

from strategies.asking import NoKeras
from strategies.graph import (
    Graph,
    MalformedGraph,
    Way,
    from_json,
    levels,
)
from strategies.kinds import Specs
from strategies.no_oracle import unsaid
from strategies.pruning import pruned
from strategies.typing import infer
from strategies.way_functions import calls_seen, unsuited_call, unsuited_clone
from strategies.way_inputs import unsuited_inputs

INPUTS, CLONE, CALL, RECURSIVE = "new inputs", "clone functions", "call functions", "recursive cloning"
"""What `clone_model` can be given, as features."""

SPARSE, LATER = "sparse inputs", "later inputs"
"""That a release has such inputs, and that it makes inputs of what layers gave, as features."""


def makes_none(way: Way) -> bool:
    """Whether there is to be no clone, so that no model is asked for."""
    return bool(way.wrong) or (way.clone_function is not None and way.clone_function.change == "raises")


_WRONG: dict[str, str] = {
    "function": CLONE,
    "call": CALL,
    "nothing": CLONE,
    "text": INPUTS,
    "numbers": INPUTS,
    "more": INPUTS,
    "no model": INPUTS,
    "models": INPUTS,
    "subclass": CLONE,
}
"""What each thing that is plainly wrong is an argument for; where it is the model, what every release takes."""

_NO_MODELS = ("no model", "models")


def features_of(way: Way) -> Iterator[str]:
    """What a clone_model must be able to take for it."""
    if way.wrong:
        yield _WRONG[way.wrong]
    if way.inputs:
        yield INPUTS
    if way.inputs == "sparse":
        yield SPARSE
    if way.inputs in ("made", "inner"):
        yield LATER
    if way.clone_function is not None:
        yield CLONE
    if way.call_function is not None:
        yield CALL
    if way.recursive:
        yield RECURSIVE


def keeps_layers(way: Way) -> bool:
    """Whether layers of the model itself stand in the clone, since this is what is asked for."""
    function = way.clone_function
    return function is not None and "kept" in (function.change, function.others)


def repeats(way: Way) -> bool:
    """Whether a clone that is cloned in this way once more is asked to be what it is, with layers of its own."""
    clone, call = way.clone_function, way.call_function
    once = clone is not None and clone.change in ("renamed", "nested", "model", "wrapped")
    return not (makes_none(way) or keeps_layers(way) or once or (call is not None and call.change in _IN_CALLS))


_IN_CALLS = ("after", "before")


def well_typed(graph: Graph, where: str = "graph") -> tuple[Specs, ...]:
    """What each node gives. Raises `MalformedGraph` where the graph, its way or its state makes no sense."""
    try:
        specs = infer(graph)
    except MalformedGraph as error:
        raise MalformedGraph(f"{where}.{error}") from None
    wrong = unsuited(graph)
    if wrong:
        raise MalformedGraph(f"{where}.way{wrong}")
    wrong = unsaid(graph)
    if wrong:
        raise MalformedGraph(f"{where}.state: nobody says {wrong}")
    return specs


def read_example(text: str | bytes, where: str) -> Graph:
    """A graph from text that may come from anywhere.

    It is held against the Keras at hand; where there is none, what it refuses is told once the model is built.
    """
    graph = from_json(text, where)
    with contextlib.suppress(NoKeras):
        well_typed(graph, where)
    return graph


def unsuited(graph: Graph) -> str:
    """What is wrong with a graph's way, "" where nothing is. The graph without it is well typed."""
    return "" if graph.way is None else unsuited_way(structs.replace(graph, way=None), graph.way)


def unsuited_way(graph: Graph, way: Way) -> str:
    """What is wrong with a way for a graph that has none, "" where nothing is."""
    if way == Way():
        return ": expected an argument"
    if any(level.base is not None for level in levels(graph)):
        return ": expected none for a model that is cut out of another"
    models = [level.layers[call.layer].graph for level in levels(graph) for call in level.calls if call.kwargs]
    if way.call_function is not None and any(inner is not None for inner in models):
        return ": expected no call function where a model is given more than its tensors"
    if way.wrong:
        return _unsuited_wrong(graph, way)
    if wrong := unsuited_inputs(graph, way.inputs):
        return f".inputs: {wrong}"
    plain = (Way(inputs="fresh"), Way(inputs="own"), Way(inputs="batch"), Way(inputs="sparse"))
    if any(each.sparse for each in graph.inputs) and way not in plain:
        return ": what stands in the place of a layer, or is made, takes dense tensors"
    if any(each.ragged for each in graph.inputs) and way not in plain[:2]:
        return ": what stands in the place of a layer, or is made, takes dense tensors, and so does a batch"
    if way.inputs == "wider" and keeps_layers(way):
        return ": a layer that is kept is built for its width"
    if way.inputs == "inner" and keeps_layers(way):
        return ": a layer that is kept would be called on what it gave"
    if way.recursive and all(layer.graph is None for layer in graph.layers):
        return ".recursive: there is no model within the model"
    if way.clone_function is not None and (wrong := unsuited_clone(graph, way, way.clone_function)):
        return f".clone_function: {wrong}"
    if way.call_function is not None and (wrong := unsuited_call(graph, way, way.call_function)):
        return f".call_function: {wrong}"
    return ""


def _unsuited_wrong(graph: Graph, way: Way) -> str:
    if way != Way(wrong=way.wrong):
        return ".wrong: expected nothing beside it"
    if graph.generation == "keras2" and way.wrong not in _NO_MODELS:
        return ".wrong: Keras 2.2 looks at nothing but the model"
    if _WRONG[way.wrong] != INPUTS and not list(calls_seen(pruned(graph), False)):
        return ".wrong: there is no layer to ask for"
    if way.wrong == "numbers" and graph.generation != "keras":
        return ".wrong: before Keras 3, numbers are wrapped in an input"
    return ""
