"""The session as it was set where an original was made: what no config tells, and a clone would read anew."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import numpy as np

from ....structure import leaves
from .release import RELEASE

_FLOATS = frozenset(("float16", "float32", "float64"))


@contextlib.contextmanager
def floats_as_in(layers: list[Any], given: Any = None) -> Iterator[None]:
    """Floats are by default what they were where these layers were made; what tells two things tells nothing.

    Nor does it where the tensors that are `given` for the inputs are of other floats.
    """
    backend = RELEASE.keras.backend
    now = backend.floatx()
    own = [layer for layer in layers if RELEASE.comes_with_keras(type(layer)) and not RELEASE.is_graph(layer)]
    found = {dtype for layer in own for dtype in _of_the_session(layer)} & _FLOATS
    if not found:
        # No number tells. Layers of Keras alone were called on these floats, and add none of another session to them;
        # where others have weights of the floats that all are called on, nothing else speaks of a session.
        called = {dtype for layer in layers for dtype in _called_on(layer)} & _FLOATS
        weights = {backend.dtype(weight) for layer in layers for weight in layer.weights} & _FLOATS
        alone = len(own) == len(layers) and not any(isinstance(each, _LAMBDA) for each in own)
        found = called if alone or called == weights else set()
    others = {backend.dtype(each) for each in leaves(given) if RELEASE.is_tensor(each)} & _FLOATS
    if len(found) != 1 or others - found:
        yield
        return
    backend.set_floatx(found.pop())
    try:
        yield
    finally:
        backend.set_floatx(now)


_LAMBDA = RELEASE.keras.layers.Lambda


def _of_the_session(layer: Any) -> list[str]:
    """What the weights of a layer are, and the numbers that it has cast, as its threshold."""
    backend = RELEASE.keras.backend
    numbers = [each for each in vars(layer).values() if isinstance(each, np.ndarray) and each.ndim == 0]
    return [backend.dtype(weight) for weight in layer.weights] + [str(each.dtype) for each in numbers]


def _called_on(layer: Any) -> list[str]:
    """What the tensors are that a layer was called on, and gave."""
    tensors = [each for node in layer._inbound_nodes for each in (*node.input_tensors, *node.output_tensors)]
    return [RELEASE.keras.backend.dtype(each) for each in tensors]
