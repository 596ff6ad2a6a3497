"""The session as it was set where an original was made: what no config tells, and a clone would read anew."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import numpy as np

from .release import RELEASE

_FLOATS = frozenset(("float16", "float32", "float64"))


@contextlib.contextmanager
def floats_as_in(layers: list[Any]) -> Iterator[None]:
    """Floats are by default what they were where these layers were made; what tells two things tells nothing."""
    backend = RELEASE.keras.backend
    now = backend.floatx()
    found = {dtype for layer in layers for dtype in _of_the_session(layer)} & _FLOATS
    if not found:  # no number tells: what all tensors are, is what the session was, or one that nothing has asked for
        found = {dtype for layer in layers for dtype in _given(layer)} & _FLOATS
    if len(found) != 1:
        yield
        return
    backend.set_floatx(found.pop())
    try:
        yield
    finally:
        backend.set_floatx(now)


def _of_the_session(layer: Any) -> list[str]:
    """What the weights of a layer are, and the numbers that it has cast, as its threshold."""
    backend = RELEASE.keras.backend
    numbers = [each for each in vars(layer).values() if isinstance(each, (np.ndarray, np.generic))]
    return [backend.dtype(weight) for weight in layer.weights] + [str(each.dtype) for each in numbers]


def _given(layer: Any) -> list[str]:
    """What the tensors are that a layer was called on, and gave."""
    tensors = [each for node in layer._inbound_nodes for each in (*node.input_tensors, *node.output_tensors)]
    return [RELEASE.keras.backend.dtype(each) for each in tensors]
