"""An operation on tensors as an expression: a function of the framework, an operator, or a slice."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from harness.source.dialect import Dialect
from strategies.graph import Layer, MalformedGraph, Value
from strategies.kinds.operations import Operation
from strategies.kinds.operations.operators import parts

OPERATORS = {
    "operator.half": "{0} / 2.0",
    "operator.negative": "-{0}",
    "operator.from_one": "1.0 - {0}",
    "operator.first": "{0}[:, 0]",
    "operator.narrow": "{0}[..., :1]",
    "operator.positive": "{0}[..., 0] > 0.0",
    "operator.invert": "~{0}",
    "operator.absolute": "abs({0})",
    "operator.round": "round({0})",
    "operator.slice": "{0}{key}",
    "operator.of_batch": "{0} + {0}{key}",
    **{
        f"operator.{name}": f"{{0}} {sign} {{1}}"
        for name, sign in {
            "add": "+",
            "subtract": "-",
            "multiply": "*",
            "divide": "/",
            "floor_divide": "//",
            "mod": "%",
            "power": "**",
            "matmul": "@",
            "less": "<",
            "less_equal": "<=",
            "greater": ">",
            "greater_equal": ">=",
            "equal": "==",
            "not_equal": "!=",
            "and": "&",
            "or": "|",
            "xor": "^",
        }.items()
    },
}
"""Operators and slices, which every dialect writes alike."""

_UNNAMED = frozenset(
    ("x2", "y", "newshape", "shape", "dtype", "repeats", "indices_or_sections", "pattern", "k", "indices", "q")
)
"""Arguments that people give without their name, right after the tensors."""
_NAME = re.compile(r"[A-Za-z_]\w*")


def write_operation(
    kind: Operation, layer: Layer, tensors: Sequence[str], value: Callable[[Value], str], dialect: Dialect
) -> str:
    """The expression. `tensors` are the words for what it is called on, `value` writes any other argument."""
    words = [
        dialect.words[how].format(word) if how else word
        for word, how in zip(tensors, (*kind.of, *("",) * len(tensors)), strict=False)
    ]
    for key, _ in layer.args:
        if not _NAME.fullmatch(key) or key not in kind.options:
            raise MalformedGraph(f"layers: {kind.name} takes no argument {key!r}")
    write = _operator if kind.name in OPERATORS else _function
    text = write(kind, layer, words, value)
    for how in kind.then:
        text = dialect.words[f"then {how}"].format(tensors[0], text)
    return text


def _operator(kind: Operation, layer: Layer, words: list[str], value: Callable[[Value], str]) -> str:
    key = layer.arg("key")
    if "key" in kind.options and not parts(key):
        raise MalformedGraph(f"layers: expected a slice, found {key!r}")
    sides = [f"({word})" if " " in word else word for word in words]
    if layer.arg("other") is not None:
        other = value(layer.arg("other"))
        sides.append(f"({other})" if " " in other else other)
    if layer.arg("left") is True:
        sides.reverse()
    try:
        return OPERATORS[kind.name].format(*sides, key=key)
    except IndexError:
        raise MalformedGraph(f"layers: {kind.name} takes one tensor more, or an argument for it") from None


def _function(kind: Operation, layer: Layer, words: list[str], value: Callable[[Value], str]) -> str:
    given = [value(layer.arg(key)) for key in kind.leads]
    if kind.pass_as == "list":
        given.append(f"[{', '.join(words)}]")
        words = []
    names = (*kind.names, *("",) * len(words))
    given += [word for word, name in zip(words, names, strict=False) if not name]
    options = [(key, item) for key, item in layer.args if key not in kind.leads]
    for at, (key, item) in enumerate(options):
        given.append(value(item) if at == 0 and key in _UNNAMED and not any(names) else f"{key}={value(item)}")
    given += [f"{name}={word}" for word, name in zip(words, names, strict=False) if name]
    return f"{kind.name}({', '.join(given)})"
