"""Optimizers, losses, initializers and other classes of a release, as expressions with drawn arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .digits import Digits
from .values import table, values

Objects = Mapping[str, Sequence[Mapping[str, Any]]]
"""The classes of a release, as "losses.Huber", with the parameters of their constructors."""

_OTHERWISE = table("""
    initializer.scale: 2.0
    initializer.mode: "fan_avg"
    regularizer.mode: "columns"
    regularizer.factor: 0.25
    constraint.axis: -1
    dtype: "float64"
""")
"""By a sort and the name of an argument: what a layer's argument of the name does not take."""
_MOST = 2


def drawn_object(sort: str, objects: Objects, digits: Digits) -> str:
    """An object of a class of Keras, with one or two arguments that need not be given; "" where there is none."""
    module = "losses" if sort == "loss" else f"{sort}s"
    names = [name for name in objects if name.rpartition(".")[0] == module]
    if not names:
        return ""
    name = digits.pick(names)
    given = {each["name"]: each for each in objects[name] if each.get("required")}
    others = [each for each in objects[name] if not each.get("required")]
    for _ in range(1 + digits.number(_MOST)):
        if others:
            chosen = digits.pick(others)
            given[chosen["name"]] = chosen
    texts = {argument: _value(sort, parameter, digits) for argument, parameter in given.items()}
    return f"keras.{name}({', '.join(f'{argument}={text}' for argument, text in texts.items() if text)})"


def _value(sort: str, parameter: Mapping[str, Any], digits: Digits) -> str:
    name = parameter["name"]
    found = values(name, parameter.get("default"), required=bool(parameter.get("required")))
    return _OTHERWISE.get(f"{sort}.{name}") or _OTHERWISE.get(name) or (digits.pick(found) if found else "")
