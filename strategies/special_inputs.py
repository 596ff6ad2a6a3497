"""What sparse and ragged inputs are given to first: most layers take neither, and all take what comes of it."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.strategies.graph import Input, Layer, Made
from clonediff.strategies.programs import Apply, Nest

ON_SPARSE = Apply("Dense", options=(("units", 4),))
_ON_RAGGED_IDS = Apply("Embedding", options=(("input_dim", 6), ("output_dim", 4)))
FIRST_ON_RAGGED = frozenset(("Embedding", "GlobalAveragePooling1D"))
"""Kinds without which no ragged inputs are drawn."""
_ON_RAGGED = (
    Apply("GlobalAveragePooling1D"),
    Apply("Concatenate", sources=(0, 0)),
    Apply("LayerNormalization"),
    Apply("LSTM", options=(("units", 3),)),
    Apply("GRU", options=(("units", 3), ("return_sequences", True))),
    Apply("TimeDistributed", options=(("layer", Made(Layer("Dense", (("units", 3),)))),)),
)
"""The simplest first; the first one is for where a generation does not take such tensors in another."""
WAYS_ON_RAGGED = 60
"""As many numbers stand for a call on a ragged input."""
_IN_A_MODEL, _IN_A_SEQUENTIAL = 36, 48
"""The numbers from which on the call is made in a model of its own, and in a Sequential: one of five each."""


def on_ragged(given: Input, number: int, models: bool) -> Iterator[tuple[Apply | Nest, ...]]:
    """The calls on a ragged input, each as those of which the first that can be is made; ids are embedded before.

    They are made in a model of their own only where there are `models` anyway: without, it would be the shortest way to
    one, and findings would shrink to it.
    """
    if given.dtype == "int32":
        yield (_ON_RAGGED_IDS,)
    calls = _ON_RAGGED[number % len(_ON_RAGGED)], _ON_RAGGED[0]
    inside = tuple(Nest((each,), sequential=number >= _IN_A_SEQUENTIAL) for each in calls)
    yield (*inside, *calls) if models and number >= _IN_A_MODEL else calls
