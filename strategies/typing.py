"""What every tensor of a graph is like, as Keras says.

Owns how the calls of a graph become questions. A graph with a call that Keras refuses is malformed here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec import structs

from clonediff.strategies.asking import Keras, Question, keras
from clonediff.strategies.cutting import as_input
from clonediff.strategies.graph import Call, Graph, Input, Layer, MalformedGraph, Ref, fed_refs, refs
from clonediff.strategies.kinds.kind import Spec, Specs
from clonediff.strategies.pruning import moved_call


def infer(graph: Graph) -> tuple[Specs, ...]:
    """What each node gives. Raises `MalformedGraph` with the call that Keras refuses."""
    return _infer(graph, keras())


@lru_cache(maxsize=1024)
def _infer(graph: Graph, keras: Keras) -> tuple[Specs, ...]:
    given: list[Specs] = [(spec_of(each),) for each in graph.inputs]
    for number, call in enumerate(graph.calls):
        layer = graph.layers[call.layer]
        earlier = [each for each in graph.calls[:number] if each.layer == call.layer]
        asked = question(layer, (*earlier, call), lambda ref: given[ref.node][ref.output])
        gives = keras.gives(asked)
        if gives is None:
            raise MalformedGraph(f"calls[{number}]: Keras does not take this call of {layer.kind}: {keras.why(asked)}")
        if len(gives) != call.outputs:
            raise MalformedGraph(
                f"calls[{number}].outputs: expected {len(gives)} from {layer.kind}, found {call.outputs}"
            )
        given.append(large(gives))
    return tuple(given)


def question(layer: Layer, calls: Sequence[Call], spec: Callable[[Ref], Spec]) -> Question:
    """What the last of these calls of a layer gives; `spec` says what each tensor is like."""
    tensors: list[Spec] = []
    numbers: dict[Ref, int] = {}

    def move(ref: Ref) -> Ref:
        if ref not in numbers:
            numbers[ref] = len(tensors)
            tensors.append(spec(ref))
        return Ref(numbers[ref])

    asked = tuple(moved_call(call, move, layer=0, outputs=1) for call in calls)
    return Question(structs.replace(layer, name=None) if layer.name is not None else layer, tuple(tensors), asked)


def large(specs: Specs) -> Specs:
    """Whole numbers that were computed may be no ids: no lookup was made for them."""
    return tuple(
        dataclasses.replace(spec, large=True) if "int" in spec.dtype and not spec.large else spec for spec in specs
    )


def spec_of(given: Input) -> Spec:
    """An input as Keras is asked about it."""
    return Spec(given.shape, given.dtype, absent=given.fill == "nothing", sparse=given.sparse, ragged=given.ragged)


def fed(call: Call, specs: Sequence[Specs]) -> Specs:
    """The tensors that a call is fed, where `specs` has what each node gives, with the mask that the call gives."""
    found = tuple(specs[ref.node][ref.output] for ref in fed_refs(call))
    return (dataclasses.replace(found[0], mask=True), *found[1:]) if "mask" in dict(call.kwargs) else found


def taken(graph: Graph) -> tuple[Input, ...]:
    """The inputs of the graph's model, in its order; what a call gave is taken as an input like it."""
    specs = infer(graph) if any(ref.node >= len(graph.inputs) for ref in refs(graph.takes)) else ()
    given = [
        graph.inputs[ref.node] if ref.node < len(graph.inputs) else as_input(specs[ref.node][ref.output])
        for ref in refs(graph.takes)
    ]
    return tuple(each for each in given if each is not None)
