"""An entry of the catalogue: a layer or an operation, with the arguments that are worth trying."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clonediff.strategies.program import Arguments, Input, Packed
from clonediff.strategies.values import split

Packing = Literal["one", "list", "each", "either", "any"]
"""How tensors are passed: the only argument, a list, one argument each; `either` is a list if there are several."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A layer or an operation.

    `bases` are the arguments that it is made with, the simplest first; of `more` some are given as well. `call` has
    the arguments of its call, in which "" leaves one out, and `extra` those that are tensors. It takes `count` tensors
    at least and at most. `inputs` names the inputs that it is drawn on where no other tensor will do. It is drawn
    `weight` times, and with each of `more` `share` times.
    """

    name: str
    bases: tuple[Arguments, ...] = ((),)
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    call: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    takes: tuple[int, int] = (1, 1)
    packed: Packing = "one"
    inputs: tuple[str, ...] = ()
    family: str = ""
    weight: int = 1
    share: int = 1

    def packing(self, count: int) -> Packed:
        """How this many tensors are passed."""
        if self.packed == "either":
            return "list" if count > 1 else "one"
        if self.packed == "any":
            return "each" if count > 1 else "one"
        return self.packed


def arguments(text: str) -> Arguments:
    """The arguments of a call, of their text: "4, use_bias=False"."""
    source = re.sub(r"<(\w+)>", r"_in_angles_\1", f"f({text})")  # a word that Python can read
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    pairs = [("", value) for value in call.args] + [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    words = ((name, ast.get_source_segment(source, value) or "") for name, value in pairs)
    return tuple((name, re.sub(r"_in_angles_(\w+)", r"<\1>", word)) for name, word in words)


def rows(text: str) -> tuple[Arguments, ...]:
    """The arguments of several calls, with " | " between them."""
    return tuple(map(arguments, split(text))) if text else ((),)


INPUTS: Mapping[str, Input] = {
    "sequence": Input((3, 4)),
    "vector": Input((4,)),
    "steps": Input((3, 4), fill="steps"),
    "one": Input((1,)),
    "ids": Input((3,), "int32", fill="ids", high=6),
    "flags": Input((3,), "bool", fill="mask"),
    "image": Input((4, 4, 2)),
    "double": Input((4,), "float64"),
    "rgb": Input((4, 4, 3)),
    "open": Input((None, 4)),
    "open-steps": Input((None, 4), fill="steps"),
    "open-ids": Input((None,), "int32", fill="ids", high=6),
    "optional": Input((4,), optional=True),
    "volume": Input((3, 3, 3, 2)),
    "wide": Input((2, 2, 2, 2, 1)),
    "id": Input((1,), "int32", fill="ids", high=6),
    "square": Input((3, 3)),
    "words": Input((3,), "string", fill="words"),
    "word": Input((1,), "string", fill="words"),
}
"""The inputs that are drawn, by name."""

USUAL = (
    *("sequence",) * 4,
    *("vector",) * 3,
    *("steps",) * 2,
    *("one", "image", "image", "double", "rgb", "open", "open", "open-steps", "optional", "square", "volume"),
)
"""The inputs of a kind that takes any number, as often as each is drawn."""
OTHERS = ("sequence", "vector", "image", "ids", "flags", "rgb", "volume", "words", "wide", "square")
"""The inputs that a kind of which nothing is known is tried on, in this order."""
