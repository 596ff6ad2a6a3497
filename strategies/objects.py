"""Draws optimizers, losses, initializers and other objects of Keras, as expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonediff.strategies.choices import Choices
from clonediff.strategies.values import parse_table, values

Objects = Mapping[str, Sequence[Mapping[str, Any]]]
"""The parameters of constructors, by class: "losses.Huber"."""

_VALUES = parse_table("""
    initializer.scale: 2.0
    initializer.mode: "fan_avg"
    regularizer.mode: "columns"
    regularizer.factor: 0.25
    constraint.axis: -1
    dtype: "float64"
""")
"""Values by role and argument, or by argument, where the values for layers do not fit."""


def draw_object(role: str, objects: Objects, choices: Choices) -> str:
    """Draw an object of Keras, with one or two optional arguments."""
    module = "losses" if role == "loss" else f"{role}s"
    names = [name for name in objects if name.rpartition(".")[0] == module]
    name = choices.pick(names)
    parameters = {parameter["name"]: parameter for parameter in objects[name] if parameter.get("required")}
    optional = [parameter for parameter in objects[name] if not parameter.get("required")]
    for _ in range(1 + choices.number(2)):
        if optional:
            parameter = choices.pick(optional)
            parameters[parameter["name"]] = parameter
    texts = {}
    for argument, parameter in parameters.items():
        candidates = values(argument, parameter.get("default"), required=bool(parameter.get("required")))
        value = _VALUES.get(f"{role}.{argument}") or _VALUES.get(argument)
        texts[argument] = value or (choices.pick(candidates) if candidates else "")
    return f"keras.{name}({', '.join(f'{argument}={text}' for argument, text in texts.items() if text)})"
