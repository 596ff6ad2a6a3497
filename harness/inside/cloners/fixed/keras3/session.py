"""The session as it was set where an original was made: what no config tells, and a clone would read anew.

Each scope is the session as it is where the original tells nothing, or two things.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import keras

_FLOATS = frozenset(("bfloat16", "float16", "float32", "float64"))


@contextlib.contextmanager
def floats_as_in(nodes: Iterable[Any]) -> Iterator[None]:
    """Floats are by default what they were where these calls were made.

    An operation on whole numbers gives such floats, and so does a layer that looks up: it computes in whole numbers.
    """
    found = {dtype for node in nodes for dtype in _of_the_session(node)}
    with _set(keras.config.floatx(), found, keras.config.set_floatx):
        yield


def _of_the_session(node: Any) -> list[str]:
    """The dtype of the first float that a call gave, where it is none that its layer computes in.

    A user's layer without weights computes in none, where it is given whole numbers and gives floats of one dtype.
    """
    if node.is_input or not node.operation:
        return []
    computes, gives = getattr(node.operation, "compute_dtype", None), _floats(node.outputs)
    weighs = _is_of_keras(node.operation) or bool(getattr(node.operation, "weights", ()))
    if not weighs and not _floats(node.input_tensors) and len(set(gives)) == 1:
        computes = None
    return [each for each in gives[:1] if each != computes]


def _floats(tensors: Iterable[Any]) -> list[str]:
    return [str(each.dtype) for each in tensors if str(each.dtype) in _FLOATS]


def _is_of_keras(operation: Any) -> bool:
    return type(operation).__module__.partition(".")[0] == "keras"


@contextlib.contextmanager
def compiled_as(model: Any) -> Iterator[None]:
    """Floats are by default what they were where a model was compiled: its optimizer and its metrics count in them."""
    counts = str(getattr(getattr(model, "_loss_tracker", None), "dtype", ""))
    with _set(keras.config.floatx(), {counts} & _FLOATS, keras.config.set_floatx):
        yield


@contextlib.contextmanager
def made_as(layer: Any) -> Iterator[None]:
    """The session is as it was where a layer was made.

    Images have the format of what the layer has made for itself, and floats are what the weights of a lookup are.
    """
    held = layer._flatten_layers(include_self=False)
    formats = {str(getattr(each, "data_format", "")) for each in held} & {"channels_first", "channels_last"}
    weights = getattr(getattr(layer, "_lookup_layer", layer), "idf_weights_const", None)
    floats = set() if weights is None else {keras.backend.standardize_dtype(weights.dtype)} & _FLOATS
    with contextlib.ExitStack() as scopes:
        scopes.enter_context(_set(keras.config.image_data_format(), formats, keras.config.set_image_data_format))
        scopes.enter_context(_set(keras.config.floatx(), floats, keras.config.set_floatx))
        yield


@contextlib.contextmanager
def scopes_of(model: Any) -> Iterator[None]:
    """The name scopes that a model was built in are open: those of the Sequentials around it, which the path tells.

    A clone of a Sequential has an input of its own, so it is built before the one around it.
    """
    scopes = (getattr(model, "_path", None) or "").split("/")[:-1]  # since 3.4
    with contextlib.ExitStack() as opened:
        for name in scopes:
            opened.enter_context(keras.name_scope(name))
        yield


@contextlib.contextmanager
def _set(now: str, found: Iterable[str], set_to: Callable[[str], None]) -> Iterator[None]:
    values = list(found)
    if len(values) != 1 or values[0] == now:
        yield
        return
    _global_policy()  # it becomes what floats are by default where it is asked for first
    set_to(values[0])
    try:
        yield
    finally:
        set_to(now)


_global_policy: Callable[[], Any] = getattr(keras.config, "dtype_policy", None) or keras.mixed_precision.dtype_policy
