"""How a model of another package is made: its name, and the lines of Python that a person would have typed.

Owns how the arguments of a recipe are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from clonediff.harness.answers.own_model.models import Model

WIDTH = 110
"""The longest line of a recipe, where it has a choice."""


@dataclass(frozen=True, slots=True)
class MadeObject:
    """Another object of the package as an argument: its class, and what of its arguments is other than the rule's.

    With a `room` it is a class of another module than that of the models, of which all arguments are said.
    """

    kind: str
    arguments: Mapping[str, Value] = field(default_factory=dict)
    room: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """An object as the call that makes it: a dotted name, and arguments."""

    name: str
    arguments: Mapping[str, Value]


Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | MadeObject | Called | None"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model of a suite. `name` is `SUITE:MODEL`; `sizes` are those of inputs that no model can be asked for.

    `unable` says why there is no source.
    """

    name: str
    subject: str
    source: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    unable: str = ""

    @property
    def model(self) -> Model:
        """The model as `check` takes one."""
        return Model(self.name, "source", source=self.source)


def script(imports: str, call: Called) -> str:
    """The lines that leave the model in `model`."""
    return f"{imports}\n\nmodel = {written(call, len('model = '))}\n"


def written(value: Value, column: int = 0, indent: int = 0) -> str:
    """A value as Python, one argument a line where it is too long for one."""
    if isinstance(value, MadeObject):
        raise TypeError(f"{value.kind} has not been made a call of")
    if isinstance(value, Called):
        parts = [f"{name}={written(each)}" for name, each in value.arguments.items()]
        short = f"{value.name}({', '.join(parts)})"
        if len(short) + column + indent <= WIDTH:
            return short
        pad = " " * (indent + 4)
        rows = [f"{pad}{key}={written(each, len(key) + 2, indent + 4)},\n" for key, each in value.arguments.items()]
        return f"{value.name}(\n{''.join(rows)}{' ' * indent})"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {written(each)}" for key, each in value.items()) + "}"
    return repr(value)
