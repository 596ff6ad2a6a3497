"""What a `Lambda` wraps, as text: an expression, and the definition it needs, if any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clonediff.harness.source.words import tuple_literal
from clonediff.strategies.graph import Function, MalformedGraph
from clonediff.strategies.kinds.lambdas import (
    COMPILE_FORMS,
    ERRORS,
    EXPRESSIONS,
    FORMS,
    MASK_FORMS,
    MASKS,
    OWN_FORMS,
    SHAPE_FORMS,
    WITH_PARAMETER,
)
from clonediff.strategies.kinds.operations import BODIES


@dataclass(frozen=True, slots=True)
class WrittenFunction:
    """`expression` stands in the call of `Lambda`; `definition` above the model."""

    expression: str
    definition: str = ""


KEYS = "abcd"
REGISTERED = "@keras.saving.register_keras_serializable()\n"
"""The line before what Keras 3 is to find by its name."""


def write_function(function: Function, name: Callable[[str], str], trains: str = "") -> WrittenFunction:
    """The text of a function. `name` makes a name that nothing else in the script has, `trains` is the dialect's."""
    if function.form in MASK_FORMS:
        return _mask(function, name)
    if function.form in COMPILE_FORMS:
        return _compiled(function, name)
    if function.form in OWN_FORMS:
        wanted, text = _OWN[function.form]
        own = name(wanted)
        return WrittenFunction(own, f"def {own}{text}")
    if function.form in SHAPE_FORMS:
        return _shape(_packed(function, list(function.gives), ("s",)), function.form, name)
    if function.form == "body":
        if len(function.gives) != 1 or function.gives[0] not in BODIES:
            raise MalformedGraph(f"function.gives: expected one text of the catalogue, found {function.gives!r}")
        return WrittenFunction(function.gives[0])
    if function.form not in FORMS:
        raise MalformedGraph(f"function.form: expected one of {', '.join(FORMS)}, found {function.form!r}")
    texts = list(function.gives)
    if function.form == "training" and trains:
        packed = _packed(function, [trains.format(texts[0]), *texts[1:]], tuple(EXPRESSIONS))
        return WrittenFunction(f"lambda x{', training=None' if 'training' in trains else ''}: {packed}")
    if function.form == "training":
        texts[0] = f"{texts[0]} * 3.0 if training else {texts[0]}"
    elif function.form == "mask":
        texts[0] = f"{texts[0]} if mask is None else {texts[0]} * 3.0"
    packed = _packed(function, texts, tuple(EXPRESSIONS))
    return _FORMS[function.form](packed, name)


def _packed(function: Function, texts: list[str], known: tuple[str, ...]) -> str:
    for text in function.gives:
        if text not in known:
            raise MalformedGraph(f"function.gives: expected one of {', '.join(known)}, found {text!r}")
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


def _mask(function: Function, name: Callable[[str], str]) -> WrittenFunction:
    packed = _packed(function, list(function.gives), MASKS)
    if function.form == "mask lambda":
        return WrittenFunction(f"lambda x, mask=None: {packed}")
    own = name("output_mask")
    head = REGISTERED if function.form == "mask registered" else ""
    return WrittenFunction(own, f"{head}def {own}(x, mask=None):\n    return {packed}\n")


def _shape(packed: str, form: str, name: Callable[[str], str]) -> WrittenFunction:
    if form == "shape lambda":
        return WrittenFunction(f"lambda s: {packed}")
    own = name("output_shape")
    return WrittenFunction(own, f"{REGISTERED}def {own}(s):\n    return {packed}\n")


def _compiled(function: Function, name: Callable[[str], str]) -> WrittenFunction:
    packed = _packed(function, list(function.gives), ERRORS)
    if function.form == "rate lambda":
        return WrittenFunction(f"lambda: {packed}")
    error = f"ops.mean(ops.abs({packed}), axis=-1)"
    if function.form == "error lambda":
        return WrittenFunction(f"lambda y_true, y_pred: {error}")
    if function.form == "error named":
        own = name("error")
        return WrittenFunction(own, f"def {own}(y_true, y_pred):\n    return {error}\n")
    if function.form == "metric class":
        own = name("MeanError")
        return WrittenFunction(
            f"{own}()",
            f"class {own}(keras.metrics.Mean):\n    def update_state(self, y_true, y_pred, sample_weight=None):\n"
            f"        return super().update_state({error}, sample_weight)\n",
        )
    own = name("Error")
    return WrittenFunction(
        f"{own}()",
        f"class {own}(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n        return {error}\n",
    )


_OWN = {
    "own activation": ("double", "(x):\n    return x * 2.0\n"),
    "own kernel_regularizer": ("average", "(x):\n    return ops.mean(ops.abs(x))\n"),
    "own kernel_initializer": ("halves", "(shape, dtype=None):\n    return ops.ones(shape, dtype=dtype) / 2\n"),
}


def _by(packed: str, by: str) -> str:
    return packed.replace("2.0", by)


def _named(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("transform")
    return WrittenFunction(own, f"def {own}(x):\n    return {packed}\n")


def _registered(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("transform")
    return WrittenFunction(own, f"{REGISTERED}def {own}(x):\n    return {packed}\n")


def _namesake(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("transform")
    registered = REGISTERED.replace("()", '("other")')
    other = f"{registered}def {own}(x):\n    return {_by(packed, '3.0')}\n"
    return WrittenFunction(own, f"{other}\n\ndef {own}(x):\n    return {packed}\n")


def _closure(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("times")
    return WrittenFunction(f"{own}(2.0)", f"def {own}(by):\n    return lambda x: {_by(packed, 'by')}\n")


def _module(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("FACTOR")
    return WrittenFunction(f"lambda x: {_by(packed, own)}", f"{own} = 2.0\n")


def _method(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("Factor")
    return WrittenFunction(
        f"{own}(2.0).apply",
        f"class {own}:\n    def __init__(self, by):\n        self.by = by\n\n"
        f"    def apply(self, x):\n        return {_by(packed, 'self.by')}\n",
    )


def _partial(packed: str, name: Callable[[str], str]) -> WrittenFunction:
    own = name("times_by")
    return WrittenFunction(f"functools.partial({own}, by=2.0)", f"def {own}(x, by):\n    return {_by(packed, 'by')}\n")


_FORMS: dict[str, Callable[[str, Callable[[str], str]], WrittenFunction]] = {
    "lambda": lambda packed, name: WrittenFunction(f"lambda x: {packed}"),
    "named": _named,
    "closure": _closure,
    "default": lambda packed, name: WrittenFunction(f"lambda x, by=2.0: {_by(packed, 'by')}"),
    "arguments": lambda packed, name: WrittenFunction(f"lambda x, by: {_by(packed, 'by')}"),
    "module": _module,
    "method": _method,
    "partial": _partial,
    "training": lambda packed, name: WrittenFunction(f"lambda x, training=None: {packed}"),
    "mask": lambda packed, name: WrittenFunction(f"lambda x, mask=None: {packed}"),
    "registered": _registered,
    "namesake": _namesake,
}
assert set(_FORMS) == set(FORMS) >= set(WITH_PARAMETER)
