"""What a `Lambda` wraps, and other functions that a graph can hold, as text: an expression, and its definition.

Owns the text of each form. What a function gives is one of the expressions that are known for its form, so that a graph
from a file can hold no other code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from clonediff.harness.source.words import tuple_literal
from clonediff.strategies.graph import Function, MalformedGraph
from clonediff.strategies.kinds.lambdas import ERRORS, EXPRESSIONS, FORMS, MASKS
from clonediff.strategies.kinds.operations import BODIES


class WrittenFunction(NamedTuple):
    """`expression` stands in the call of `Lambda`; `definition` above the model."""

    expression: str
    definition: str = ""


KEYS = "abcd"
REGISTERED = "@keras.saving.register_keras_serializable()\n"
"""The line before what Keras 3 is to find by its name."""


class _Form(NamedTuple):
    """How a function is written: with {own} for a name that is made of the `wanted` one, {gives} for what it gives.

    It gives expressions that are `known`, in which `by` stands for the number 2.0.
    """

    expression: str
    definition: str = ""
    wanted: str = ""
    by: str = "2.0"
    known: tuple[str, ...] = EXPRESSIONS


_FUNCTION = "def {own}(x):\n    return {gives}\n"
_OTHER = REGISTERED.replace("()", '("other")') + "def {own}(x):\n    return {other}\n\n\n"
_MASK = "def {own}(x, mask=None):\n    return {gives}\n"
_ERROR = "ops.mean(ops.abs({gives}), axis=-1)"
_CLASS_WITH_A_NUMBER = """\
class {own}:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return {gives}
"""
_METRIC = f"""\
class {{own}}(keras.metrics.Mean):
    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state({_ERROR}, sample_weight)
"""
_LOSS = f"class {{own}}(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n        return {_ERROR}\n"
_FORMS: Mapping[str, _Form] = {
    "lambda": _Form("lambda x: {gives}"),
    "named": _Form("{own}", _FUNCTION, "transform"),
    "closure": _Form("{own}(2.0)", "def {own}(by):\n    return lambda x: {gives}\n", "times", "by"),
    "default": _Form("lambda x, by=2.0: {gives}", by="by"),
    "arguments": _Form("lambda x, by: {gives}", by="by"),
    "module": _Form("lambda x: {gives}", "{own} = 2.0\n", "FACTOR", "{own}"),
    "method": _Form("{own}(2.0).apply", _CLASS_WITH_A_NUMBER, "Factor", "self.by"),
    "partial": _Form("functools.partial({own}, by=2.0)", "def {own}(x, by):\n    return {gives}\n", "times_by", "by"),
    "training": _Form("lambda x, training=None: {gives}"),
    "mask": _Form("lambda x, mask=None: {gives}"),
    "registered": _Form("{own}", REGISTERED + _FUNCTION, "transform"),
    "namesake": _Form("{own}", _OTHER + _FUNCTION, "transform"),
    "mask lambda": _Form("lambda x, mask=None: {gives}", known=MASKS),
    "mask named": _Form("{own}", _MASK, "output_mask", known=MASKS),
    "mask registered": _Form("{own}", REGISTERED + _MASK, "output_mask", known=MASKS),
    "shape lambda": _Form("lambda s: {gives}", known=("s",)),
    "shape registered": _Form(
        "{own}", REGISTERED + "def {own}(s):\n    return {gives}\n", "output_shape", known=("s",)
    ),
    "rate lambda": _Form("lambda: {gives}", known=ERRORS),
    "error lambda": _Form(f"lambda y_true, y_pred: {_ERROR}", known=ERRORS),
    "error named": _Form("{own}", f"def {{own}}(y_true, y_pred):\n    return {_ERROR}\n", "error", known=ERRORS),
    "loss class": _Form("{own}()", _LOSS, "Error", known=ERRORS),
    "metric class": _Form("{own}()", _METRIC, "MeanError", known=ERRORS),
    "own activation": _Form("{own}", "def {own}(x):\n    return x * 2.0\n", "double"),
    "own kernel_regularizer": _Form("{own}", "def {own}(x):\n    return ops.mean(ops.abs(x))\n", "average"),
    "own kernel_initializer": _Form(
        "{own}", "def {own}(shape, dtype=None):\n    return ops.ones(shape, dtype=dtype) / 2\n", "halves"
    ),
    "body": _Form("{gives}", known=BODIES),
}


def write_function(function: Function, name: Callable[[str], str]) -> WrittenFunction:
    """The text of a function. `name` makes a name that nothing else in the script has."""
    form = _FORMS.get(function.form)
    if form is None:
        raise MalformedGraph(f"function.form: expected one of {', '.join(FORMS)}, found {function.form!r}")
    unknown = [text for text in function.gives if text not in form.known]
    if unknown:
        raise MalformedGraph(f"function.gives: expected one of {', '.join(form.known)}, found {unknown[0]!r}")
    texts = list(function.gives)
    if function.form == "training":
        texts[0] = f"{texts[0]} * 3.0 if training else {texts[0]}"
    elif function.form == "mask":
        texts[0] = f"{texts[0]} if mask is None else {texts[0]} * 3.0"
    own = name(form.wanted) if form.wanted else ""
    gives = "" if function.form.startswith("own ") else _packed(function, texts)

    def filled(text: str) -> str:
        text = text.replace("{gives}", gives.replace("2.0", form.by)).replace("{other}", gives.replace("2.0", "3.0"))
        return text.replace("{own}", own)

    return WrittenFunction(filled(form.expression), filled(form.definition))


def _packed(function: Function, texts: list[str]) -> str:
    match function.container:
        case "one":
            if len(texts) != 1:
                raise MalformedGraph(f"function.gives: expected one expression, found {len(texts)}")
            return texts[0]
        case "tuple":
            return tuple_literal(texts)
        case "dict":
            if len(texts) > len(KEYS):
                raise MalformedGraph(f"function.gives: expected at most {len(KEYS)} expressions, found {len(texts)}")
            pairs = [f'"{key}": {text}' for key, text in zip(KEYS, texts, strict=False)]
            return f"{{{', '.join(pairs)}}}"
        case "nested":
            return f"[{texts[0]}, [{', '.join(texts[1:])}]]" if len(texts) > 1 else f"[{texts[0]}]"
    return f"[{', '.join(texts)}]"
