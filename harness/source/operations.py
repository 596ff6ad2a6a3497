"""An operation on tensors as an expression: a function of the framework, an operator, or a slice.

What is written follows from the graph alone: whether there is such a function, or such an argument, a release says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from clonediff.harness.source.dialect import Dialect
from clonediff.strategies.graph import Layer, MalformedGraph, Value
from clonediff.strategies.kinds.operations import TENSORFLOW, form_of, leading, parts

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
_NAME = re.compile(r"[A-Za-z]\w*")
_FUNCTION = re.compile(r"ops(\.[A-Za-z]\w*)+")


def write_operation(
    layer: Layer,
    tensors: Sequence[str | Sequence[str]],
    value: Callable[[Value], str],
    dialect: Dialect,
) -> str:
    """The expression. `tensors` are the words for what it is called on, `value` writes any other argument."""
    if not dialect.has(layer.kind):
        raise MalformedGraph(f"calls: {layer.kind} cannot be written for {dialect.name}")
    for key, _ in layer.args:
        if not _NAME.fullmatch(key):
            raise MalformedGraph(f"layers: {layer.kind} takes no argument {key!r}")
    form = form_of(layer.kind)
    first = tensors[0] if isinstance(tensors[0], str) else tensors[0][0]
    words = [
        f"[{', '.join(given)}]" if not isinstance(given, str) else dialect.words[how].format(given) if how else given
        for given, how in zip(tensors, (*form.of, *("",) * len(tensors)), strict=False)
    ]
    text = (_operator if layer.kind.startswith("operator.") else _function)(layer, words, value)
    for how in form.then:
        text = dialect.words[f"then {how}"].format(first, text)
    return text


def _operator(layer: Layer, words: list[str], value: Callable[[Value], str]) -> str:
    pattern = OPERATORS.get(layer.kind)
    if pattern is None:
        raise MalformedGraph(f"layers: {layer.kind} is no operator")
    key = layer.arg("key")
    if "{key}" in pattern and not parts(key):
        raise MalformedGraph(f"layers: expected a slice, found {key!r}")
    sides = [f"({word})" if " " in word else word for word in words]
    if layer.arg("other") is not None:
        other = value(layer.arg("other"))
        sides.append(f"({other})" if " " in other else other)
    if layer.arg("left") is True:
        sides.reverse()
    if len(sides) != pattern.count("{1}") + 1:
        raise MalformedGraph(f"layers: {layer.kind} is not made of {len(sides)}")
    return pattern.format(*sides, key=key)


def _function(layer: Layer, words: list[str], value: Callable[[Value], str]) -> str:
    if layer.kind not in TENSORFLOW and not _FUNCTION.fullmatch(layer.kind):
        raise MalformedGraph(f"layers: {layer.kind} is no function of the framework")
    leads, named = leading(layer.kind, (key for key, _ in layer.args)), form_of(layer.kind).names
    given = [value(layer.arg(key)) for key in leads]
    names = (*named, *("",) * len(words))
    given += [word for word, name in zip(words, names, strict=False) if not name]
    options = [(key, item) for key, item in layer.args if key not in leads]
    for at, (key, item) in enumerate(options):
        given.append(value(item) if at == 0 and key in _UNNAMED and not any(named) else f"{key}={value(item)}")
    given += [f"{name}={word}" for word, name in zip(words, names, strict=False) if name]
    return f"{layer.kind}({', '.join(given)})"
