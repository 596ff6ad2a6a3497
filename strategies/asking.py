"""Asking Keras what comes of a call, and whether a model can be built.

Owns the questions, and who answers them. Must not import Keras: whoever draws hands in a `Keras`, which is a warm
child process in a campaign, and the Keras of the user's own process in a test of theirs. A graph with a call that Keras
refuses is malformed here.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Protocol

import msgspec
from msgspec import structs

from clonediff.strategies.graph import Call, Graph, Input, Layer, MalformedGraph, Ref, fed_refs
from clonediff.strategies.kinds.kind import Spec, Specs
from clonediff.strategies.pruning import moved_call


class Question(msgspec.Struct, frozen=True):
    """What the last of these calls of one layer gives, on tensors like these.

    A `Ref` in a call names a tensor by its number. The calls before the last have built the layer.
    """

    layer: Layer
    tensors: Specs
    calls: tuple[Call, ...]


class Keras(Protocol):
    """A Keras that can be asked. Its answers are the same each time."""

    def __hash__(self) -> int:
        """By identity."""

    def gives(self, question: Question) -> Specs | None:
        """What the call gives; None where Keras refuses it."""

    def why(self, question: Question) -> str:
        """The exception with which Keras refuses the call, "" where it accepts it."""

    def refuses(self, graph: Graph) -> str:
        """Why the graph's model cannot be built as it is to be cloned; "" where it can be."""


class NoKeras(RuntimeError):
    """Something was drawn or looked up for which a Keras has to be asked, and none was handed in."""


_AT_HAND: ContextVar[Keras] = ContextVar("keras_at_hand")


def keras() -> Keras:
    """The Keras that was handed in."""
    try:
        return _AT_HAND.get()
    except LookupError:
        raise NoKeras("expected a Keras to ask: draw with `functional_graphs(keras=...)`") from None


@contextlib.contextmanager
def asking(keras: Keras) -> Iterator[None]:
    """A scope in which questions go to this Keras."""
    token = _AT_HAND.set(keras)
    try:
        yield
    finally:
        _AT_HAND.reset(token)


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
    return Spec(given.shape, given.dtype)


def fed(call: Call, specs: Sequence[Specs]) -> Specs:
    """The tensors that a call is fed, where `specs` has what each node gives, with the mask that the call gives."""
    found = tuple(specs[ref.node][ref.output] for ref in fed_refs(call))
    return (dataclasses.replace(found[0], mask=True), *found[1:]) if "mask" in dict(call.kwargs) else found
