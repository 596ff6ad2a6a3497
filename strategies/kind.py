"""An entry of the catalogue: a layer or an operation, with arguments to try."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clonediff.strategies.program import Arguments, Input, Packing
from clonediff.strategies.values import split_row

PackingRule = Literal["one", "list", "each", "one or list", "one or each"]
"""How to pass tensors: one, a list, or each as an argument. The last two rules pass a single tensor as "one"."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A layer or an operation.

    `base_arguments` are alternatives for the constructor, the simplest first; some `options` are added.
    `call` has values for arguments of the call; "" omits the argument. `tensor_arguments` are arguments of
    the call that take a tensor. `counts` has the least and greatest number of tensors. `inputs` names the new inputs
    to try. `family` is the key of its rows in `layers.py`. A kind is drawn in proportion to `weight`, and each option
    in proportion to `share`.
    """

    name: str
    base_arguments: tuple[Arguments, ...] = ((),)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    call: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tensor_arguments: tuple[str, ...] = ()
    counts: tuple[int, int] = (1, 1)
    packing: PackingRule = "one"
    inputs: tuple[str, ...] = ()
    family: str = ""
    weight: int = 1
    share: int = 1

    def packing_of(self, count: int) -> Packing:
        """How to pass this many tensors."""
        if self.packing == "one or list":
            return "list" if count > 1 else "one"
        if self.packing == "one or each":
            return "each" if count > 1 else "one"
        return self.packing


def parse_arguments(text: str) -> Arguments:
    """Parse the arguments of a call, such as "4, use_bias=False"."""
    source = re.sub(r"<(\w+)>", r"_in_angles_\1", f"f({text})")  # names that Python can parse
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    pairs = [("", value) for value in call.args] + [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    texts = ((name, ast.get_source_segment(source, value) or "") for name, value in pairs)
    return tuple((name, re.sub(r"_in_angles_(\w+)", r"<\1>", value)) for name, value in texts)


def parse_calls(text: str) -> tuple[Arguments, ...]:
    """Parse the arguments of several calls, separated by " | "."""
    return tuple(map(parse_arguments, split_row(text))) if text else ((),)


def combine(values: Mapping[str, tuple[str, ...]]) -> tuple[Arguments, ...]:
    """The arguments of several calls, with each value of each argument."""
    count = max(map(len, values.values()), default=1)
    return tuple(tuple((name, texts[index % len(texts)]) for name, texts in values.items()) for index in range(count))


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
    "rank-6": Input((2, 2, 2, 2, 1)),
    "id": Input((1,), "int32", fill="ids", high=6),
    "square": Input((3, 3)),
    "words": Input((3,), "string", fill="words"),
    "word": Input((1,), "string", fill="words"),
}
"""The inputs that are drawn, by name."""

COMMON_INPUTS = (
    *("sequence",) * 4,
    *("vector",) * 3,
    *("steps",) * 2,
    *("one", "image", "image", "double", "rgb", "open", "open", "open-steps", "optional", "square", "volume"),
)
"""The inputs for a kind whose `inputs` is empty, repeated by weight."""
FALLBACK_INPUTS = ("sequence", "vector", "image", "ids", "flags", "rgb", "volume", "words", "rank-6", "square")
"""The inputs to try, in this order, for a layer that `CATALOGUE` does not list."""
