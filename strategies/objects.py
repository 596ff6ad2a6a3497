"""Optimizers, losses, initializers and other classes of a release, as expressions with drawn arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonediff.strategies.choices import Choices
from clonediff.strategies.values import table, values

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


def drawn_object(sort: str, objects: Objects, choices: Choices) -> str:
    """An object of a class of Keras, with one or two arguments that need not be given."""
    module = "losses" if sort == "loss" else f"{sort}s"
    names = [name for name in objects if name.rpartition(".")[0] == module]
    name = choices.pick(names)
    parameters = {parameter["name"]: parameter for parameter in objects[name] if parameter.get("required")}
    others = [parameter for parameter in objects[name] if not parameter.get("required")]
    for _ in range(1 + choices.number(_MOST)):
        if others:
            chosen = choices.pick(others)
            parameters[chosen["name"]] = chosen
    texts = {}
    for argument, parameter in parameters.items():
        tried = values(argument, parameter.get("default"), required=bool(parameter.get("required")))
        fixed = _OTHERWISE.get(f"{sort}.{argument}") or _OTHERWISE.get(argument)
        texts[argument] = fixed or (choices.pick(tried) if tried else "")
    return f"keras.{name}({', '.join(f'{argument}={text}' for argument, text in texts.items() if text)})"
