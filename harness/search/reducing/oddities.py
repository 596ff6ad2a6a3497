"""What a graph can have that no drawn one has, though the rules of `strategies` let it pass.

Owns the rules that lowering keeps by construction and that `strategies.infer` does not ask for: Keras refuses most of
what breaks them. A reduction must not add any, or else a graph that cannot be built becomes another one that cannot.
"""

from __future__ import annotations

from collections.abc import Iterator

from strategies.graph import Call, Graph, Items, Layer, Made, Ref, Seq, refs
from strategies.kinds import Generation, Specs, more_masks, same_weights
from strategies.kinds.recurrent import states
from strategies.pruning import ends_of, idle
from strategies.typing import fed, infer


def oddities(graph: Graph) -> frozenset[str]:
    """The names of the rules that a well-formed graph breaks."""
    return frozenset(_odd(graph, graph.generation, inner=False))


def _odd(graph: Graph, generation: Generation | None, *, inner: bool) -> Iterator[str]:
    early = generation == "keras2"
    if (inner or early) and any(ref.node < len(graph.inputs) for ref in ends_of(graph)):
        yield "an input given back"
    if inner and early and min(idle(graph), default=len(graph.inputs)) < len(graph.inputs):
        yield "an input of an inner model that nothing uses"
    if inner and _packed_oddly(graph):
        yield "an inner model whose ends are nested"
    if graph.sequential and not graph.calls:
        yield "a Sequential without a layer"
    if early and len({each.batch for each in graph.inputs}) > 1:
        yield "inputs with and without a batch"
    specs = infer(graph, generation=generation)
    first: dict[int, Specs] = {}
    for call in graph.calls:
        layer = graph.layers[call.layer]
        given = fed(call, specs)
        before = first.setdefault(call.layer, given)
        if not same_weights(layer, given, before):
            yield "a layer called again on other tensors"
        if early and layer.graph is not None and more_masks(given, before):
            yield "a model called again on a mask"
        yield from _odd_arguments(layer, call, given, specs)
        if early and len(_widths(layer)) > 1:
            yield "cells of several widths"
        if "supports_masking" in layer.marks and layer.kind != "DropMask":
            yield "support for masks claimed"
    for layer in graph.layers:
        if layer.graph is not None:
            yield from _odd(layer.graph, generation, inner=True)


def _packed_oddly(graph: Graph) -> bool:
    given = list(refs(graph.gives))
    taken = [value for _, value in graph.takes.items] if isinstance(graph.takes, Items) else [graph.takes]
    taken = [item for value in taken for item in (value.items if isinstance(value, Seq) else (value,))]
    plainly = graph.gives == (given[0] if len(given) == 1 else Seq(tuple(given)))
    return not plainly or not all(isinstance(item, Ref) for item in taken)


def _odd_arguments(layer: Layer, call: Call, given: Specs, specs: tuple[Specs, ...]) -> Iterator[str]:
    for key, value in call.kwargs:
        found = [specs[ref.node][ref.output] for ref in refs(value)]
        if key == "mask" and isinstance(value, Ref):
            if not found[0].is_mask_of(given[0]):
                yield "a mask that does not fit"
        elif key == "initial_state":
            fits = tuple(spec.shape for spec in found) == tuple((width,) for width in states(layer))
            if not fits or any(spec.dtype != "float32" for spec in found):
                yield "a state that does not fit"
    further = [key for key, value in call.kwargs if key != "mask" and any(True for _ in refs(value))]
    if further and layer.graph is not None:
        yield "a model with further arguments"


def _widths(layer: Layer) -> set[object]:
    cells = layer.arg("cell")
    if not isinstance(cells, Seq):
        return set()
    return {cell.layer.arg("units") for cell in cells.items if isinstance(cell, Made)}
