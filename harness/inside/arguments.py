"""The arguments of calls as skeletons, in which a tensor is {"tensor": [layer, use, output]}.

An argument that was given the value which the call has by default is left out: it is the same call. Where others come
after it, it is {"value": "default"}.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from .canonical import entry
from .observer import Observer
from .structure import leaves, skeleton

_PLAIN = (type(None), bool, int, float, str)
_DEFAULT = inspect.Parameter.empty
"""Stands for a value that the call has by default."""


class Arguments:
    """Writes the arguments of the calls of one graph at a time, and collects the variables that they mention."""

    def __init__(self, observer: Observer) -> None:
        self._framework = observer.framework
        self._digests = observer.digests
        self._places: dict[int, int] = {}
        self._uses: dict[int, int] = {}
        self._nodes: dict[int, list[Any]] = {}
        self._copied = False
        self.variables: list[tuple[Any, int]] = []
        self._numbers: dict[int, int] = {}

    def enter(
        self, places: dict[int, int], uses: dict[int, int], nodes: dict[int, list[Any]], copied: bool = False
    ) -> None:
        """Go to another graph: the places of its layers and the uses of its nodes, by id; and the nodes of each place.

        Its tensors may be `copied`, so that their masks say nothing.
        """
        self._places = places
        self._uses = uses
        self._nodes = nodes
        self._copied = copied

    def call(self, node: Any, layer: Any) -> dict[str, Any]:
        """A node of a layer as it is declared on the wire."""
        framework = self._framework
        args, kwargs = self._told(layer, *framework.arguments(node))
        outputs = framework.outputs(node)
        return {
            "args": skeleton(args, self._leaf)["tuple"] if args else [],
            "kwargs": {str(name): skeleton(value, self._leaf) for name, value in kwargs.items()},
            "outputs": len(outputs),
            "masks": [] if self._copied else [framework.has_mask(output) for output in outputs],
        }

    def tensor(self, tensor: Any) -> list[int] | None:
        """The place of a symbolic tensor in the graph, None where it comes from outside."""
        layer, node, output = self._framework.origin(tensor)
        place, use = self._places.get(id(layer)), self._uses.get(id(node))
        if place is not None and use is not None:
            return [place, use, output]
        if place is None:
            return None
        for use, each in enumerate(self._nodes.get(place, ())):
            for number, given in enumerate(self._framework.outputs(each)):
                if given is tensor:
                    return [place, use, number]
        return None

    def _told(self, layer: Any, args: Any, kwargs: Any) -> tuple[Any, dict[Any, Any]]:
        """The arguments of a call of a layer, without those that say what it does by default."""
        args = tuple(args)
        if len(args) < 2 and not kwargs:
            return args, kwargs
        parameters = _parameters(layer)
        positional = [each for each in parameters.values() if each.kind <= each.POSITIONAL_OR_KEYWORD]
        masked = any(map(self._has_mask, leaves(args)))
        while 1 < len(args) <= len(positional) and _by_default(positional[len(args) - 1], args[-1], masked):
            args = args[:-1]
        for place in range(1, min(len(args), len(positional))):
            if _by_default(positional[place], args[place], masked):
                args = (*args[:place], _DEFAULT, *args[place + 1 :])
        return args, {
            name: value
            for name, value in kwargs.items()
            if name not in parameters or not _by_default(parameters[name], value, masked)
        }

    def _has_mask(self, value: Any) -> bool:
        return self._framework.is_symbolic(value) and self._framework.has_mask(value)

    def _leaf(self, value: Any) -> Any:
        if self._framework.is_symbolic(value):
            place = self.tensor(value)
            return {"tensor": place} if place else {"outside": "%s %s" % (self._framework.dtype(value), value.shape)}
        if value is None or isinstance(value, (bool, str, int)):
            return value
        if value is _DEFAULT:
            return {"value": "default"}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"value": repr(value)}
        if self._framework.is_variable(value):
            return {"variable": self._variable(value)}
        if isinstance(value, np.ndarray):
            return self._array("array", value, "")
        if self._framework.tensors.concrete(value):
            array, prefix = self._framework.tensors.array(value)
            return self._array("constant", array, prefix)
        return {"value": entry(value)}

    def _array(self, kind: str, array: Any, prefix: str) -> dict[str, Any]:
        digest = self._digests.digest(array, prefix)
        return {kind: {"shape": list(array.shape), "dtype": prefix + str(array.dtype), "digest": digest}}

    def _variable(self, variable: Any) -> int:
        number = self._numbers.get(id(variable))
        if number is None:
            number = self._numbers[id(variable)] = len(self.variables)
            self.variables.append((variable, -1))
        return number


def _parameters(layer: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a layer's call, by name; none where they cannot be told."""
    try:
        return dict(inspect.signature(layer.call).parameters)
    except (AttributeError, TypeError, ValueError):
        return {}


def _by_default(parameter: inspect.Parameter, value: Any, masked: bool) -> bool:
    """Whether a call does the same without this value.

    Where `training` is not given, or None, Keras says whether the model trains. Where a tensor that comes in is
    `masked`, some releases pass its mask on unless the call is given one, be it None.
    """
    if type(value) is not type(parameter.default) or not isinstance(value, _PLAIN) or value != parameter.default:
        return False
    if parameter.name == "training":
        return value is None
    return not (masked and parameter.name.endswith("mask"))
