"""The options of a layer: what its constructor has and its config tells, and errors about them."""

from __future__ import annotations

import contextlib
import inspect
import re
import warnings
from typing import Any, Iterator

REQUIRED = inspect.Parameter.empty
_NOT_SHOWN = [
    ("ignore", re.compile(message, re.IGNORECASE), UserWarning, None, 0)
    for message in ("The object being serialized includes a `lambda`", "The `keras.*serialize\\(\\)` API should")
]
"""Filters of Python's, as `warnings.filterwarnings` makes them."""


def described(layer: Any) -> str:
    """A layer by its name and its class, for a message."""
    sort = "Model" if hasattr(layer, "fit") else "Layer"
    return "%s %r (class `%s`)" % (sort, str(getattr(layer, "name", "?")), type(layer).__qualname__)


@contextlib.contextmanager
def without_its_warnings() -> Iterator[None]:
    """A scope in which Keras warns of no function that it describes badly: the clone gets the function itself.

    `warnings.catch_warnings` would let Python forget what it has shown, so that it shows a user's warnings again; and
    it puts back what it has found, which another thread may have changed.
    """
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    filters[:0] = _NOT_SHOWN
    try:
        yield
    finally:
        for each in _NOT_SHOWN:
            if each in filters:  # or somebody has reset them
                filters.remove(each)


def config_of(thing: Any) -> Any:
    """What the `get_config` of a layer, or of what one holds, tells."""
    with without_its_warnings():
        return thing.get_config()


def as_config(layer: Any, told: Any) -> dict[str, Any]:
    """What a layer's `get_config` gave, which has to be a dictionary."""
    if not isinstance(told, dict):
        raise TypeError(
            "%s cannot be cloned: its `get_config()` gave %s instead of a dictionary. Let it return one with "
            "everything that its constructor needs." % (described(layer), told)
        )
    return told


def constructor_options(kind: Any, base: Any) -> dict[str, Any]:
    """The options that a class has beside those of its base class, and their defaults, or `REQUIRED`.

    A constructor that hands others on as `**kwargs` has the options of the next class as well.
    """
    found: dict[str, Any] = {}
    for each in kind.__mro__:
        if each is base:
            break
        if "__init__" not in vars(each) or not issubclass(each, base):
            continue
        parameters = list(inspect.signature(each.__init__).parameters.values())[1:]
        named = [one for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
        found.update((one.name, one.default) for one in named if one.name not in found)
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            break
    return {name: default for name, default in found.items() if name not in ("name", "trainable", "dtype")}


def said(failure: Exception) -> str:
    """An error by its type and the first line of what it says."""
    lines = str(failure).strip().splitlines()
    return "%s: %s" % (type(failure).__name__, lines[0] if lines else "no message")


def failure_alike(failure: Exception, message: str) -> Exception:
    """An error of the same sort that says more."""
    kind = type(failure)
    return kind(message) if kind in (AttributeError, NotImplementedError, TypeError, ValueError) else TypeError(message)


class Refused(ValueError):
    """No way makes another model, or layer, like one."""


def refused(model: Any, reasons: list[str], changed: bool = False) -> Refused:
    """The error for a model of which no way makes another one like it. A `changed` one is not made of its config."""
    advice = "Let its `get_config()` return everything that its constructor needs to make it again."
    if changed:
        advice = "Clone it without `clone_function`, `call_function` and `input_tensors`: only then its config is used."
    return Refused("%s cannot be cloned faithfully: %s. %s" % (described(model), "; ".join(reasons), advice))
