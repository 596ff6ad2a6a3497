"""Asking Keras what comes of a call, and whether a model can be built.

Owns the questions, and who answers them. Must not import Keras: whoever draws hands in a `Keras`, which is a warm
child process in a campaign, and the Keras of the user's own process in a test of theirs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Protocol

import msgspec

from clonediff.strategies.graph import Call, Graph, Layer
from clonediff.strategies.kinds.kind import Specs


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
