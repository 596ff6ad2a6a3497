"""Models whose class has a constructor of its own."""

from __future__ import annotations

import inspect
from typing import Any

import keras

from ....structure import leaves
from ..options import config_of, said
from .release import Functional, functional_like_constructor


def has_custom_constructor(model: Any) -> bool:
    """Whether a class is not constructed from a graph, or from a list of layers."""
    return not isinstance(model, keras.Sequential) and not functional_like_constructor(type(model))


def made_of_graph(model: Any, inputs: Any, outputs: Any, faithful: bool, reasons: list[str]) -> Any:
    """What the class of a model, which takes a graph, makes of another one; None where it makes something else."""
    try:
        clone = type(model)(inputs, outputs, name=model.name, **_further_arguments(model))
    except Exception as failure:  # noqa: BLE001 - whatever the user's own constructor raises
        reasons.append(f"its constructor refuses its graph ({said(failure)})")
        return None
    if faithful and list(map(id, leaves(clone._outputs_struct))) != list(map(id, leaves(outputs))):
        reasons.append("its constructor makes a graph of its own")
        return None
    return clone


def _further_arguments(model: Any) -> dict[str, Any]:
    """Arguments that a subclass adds to its config beside the graph."""
    if inspect.getattr_static(type(model), "get_config") is inspect.getattr_static(Functional, "get_config"):
        return {}
    graph = ("name", "trainable", "dtype", "layers", "input_layers", "output_layers")
    try:
        config = config_of(model)
    except Exception:  # noqa: BLE001 - whatever the user's own method raises
        return {}
    return {key: value for key, value in config.items() if key not in graph}


def put_together(model: Any, base: Any, *parts: Any) -> Any:
    """A model of the same class around other parts, past the constructor of that class."""
    kind: Any = type(model)
    clone = kind.__new__(kind)
    base.__init__(clone, *parts, name=model.name)
    vars(clone)["_auto_config"] = getattr(model, "_auto_config", None)
    return clone
