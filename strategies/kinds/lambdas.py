"""`Lambda`: what it can wrap, what masks it can have, how its outputs are arranged.

A function is data: a form (how it is written) and expressions (what it gives). Forms and expressions are the keys of
the tables here, so that a graph from a file can hold no other code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clonediff.strategies.graph import Array, Function, Items, Seq, Value
from clonediff.strategies.kinds.kind import LEFT_OUT, Dims, Kind, Specs, listed

BATCH = 2
"""The rows of the batch that graphs are run on, which a fixed mask has to know."""

EXPRESSIONS = (
    *("x", "x * 2.0", "x + 1.0", "-x", "x[..., :1]", "x[:, 0]"),
    *("x[0]", "x[1]", "x[0] + x[1]", "x[0] * 2.0"),
)
"""What a function gives: of one tensor, and of a list of two."""

_PARAMETER_FORMS = ("closure", "default", "arguments", "module", "method", "partial")
_WITH_PARAMETER = (*_PARAMETER_FORMS, "namesake")
"""Forms in which the 2.0 of an expression is a parameter `by`, or another number in a function of the same name."""

FORMS = ("lambda", "named", *_PARAMETER_FORMS, "training", "mask", "registered", "namesake")
MASK_FORMS = ("mask lambda", "mask named", "mask registered")
ERRORS = ("y_true - y_pred", "0.5")
SHAPE_FORMS = ("shape lambda", "shape registered")
MASKS = ("mask", "None", "x[..., 0] > 0.0", "x[0][..., 0] > 0.0")


def _function(specs: Specs, drawn: Mapping[str, Value]) -> Function:
    gives = drawn["gives"]
    assert isinstance(gives, Seq)
    texts = [str(item) for item in gives.items]
    form, container = str(drawn["form"]), str(drawn["container"])
    if len(specs) == 2:
        texts = [_PAIRED.get(text, "x[0]") for text in texts]
        form = "lambda" if form == "mask" else form
    if form in _WITH_PARAMETER and not any("2.0" in text for text in texts):
        texts[0] = "x[0] * 2.0" if len(specs) == 2 else "x * 2.0"
    if form in ("training", "mask"):
        texts[0] = "x[0]" if len(specs) == 2 else "x"
    if drawn["mask"] != LEFT_OUT:
        texts = [_FRESH.get(text, text) for text in texts]
    if len(texts) == 1 and container != "list":
        container = "one"
    return Function(form, tuple(texts), container, len(specs))  # type: ignore[arg-type]  # drawn from its literals


_FRESH = {"x": "x + 1.0", "x[0]": "x[0] * 2.0", "x[1]": "x[0] + x[1]"}
"""Expressions that give a tensor back as it is, and others instead: a mask on such an output is one on the input."""

_PAIRED = {"x": "x[0]", "x * 2.0": "x[1]", "-x": "x[0] + x[1]", "x + 1.0": "x[0] * 2.0", "x[:, 0]": "x[0] + x[1]"}


def _mask(how: Value, specs: Specs, function: Function) -> Value:
    """A mask for each output that keeps the first dimension; none where one does not."""
    steps = specs[0].shape[0]
    if how == LEFT_OUT or specs[0].rank != 2 or "x[:, 0]" in function.gives:
        return LEFT_OUT
    count = len(function.gives)
    if how == "fixed":
        if steps is None:
            return LEFT_OUT
        fixed = Array((BATCH, steps), "bool", tensor=True)
        return fixed if function.container == "one" else Seq((fixed,) * count)
    if how == "make" or len(specs) == 2:
        texts = ["x[0][..., 0] > 0.0" if len(specs) == 2 else "x[..., 0] > 0.0"] * count
    else:
        texts = ["mask"] * count
        if how == "some" and count > 1:
            texts[0] = "None"
    form = f"mask {how}" if how in ("named", "registered") else "mask lambda"
    return Function(form, tuple(texts), "one" if function.container == "one" else "list", len(specs))


_SHAPES: Mapping[str, Callable[[Dims], Dims]] = {
    "x[..., :1]": lambda shape: (*shape[:-1], 1),
    "x[:, 0]": lambda shape: shape[1:],
}
"""What is left of a shape, where an expression gives another."""


def _output_shape(how: Value, specs: Specs, function: Function) -> Value:
    if how == LEFT_OUT or function.container in ("dict", "nested"):
        return LEFT_OUT
    shape, count = specs[0].shape, len(function.gives)
    if how != "given" and function.takes == 1 and not _SHAPES.keys() & set(function.gives):
        form = "shape registered" if how == "registered" else "shape lambda"
        return Function(form, ("s",) * count, function.container)
    found = ((_SHAPES[text](shape) if text in _SHAPES else shape) for text in function.gives)
    shapes = tuple(Seq(each, "tuple") for each in found)
    if function.container == "one":
        return shapes[0]
    return Seq(shapes, "tuple" if function.container == "tuple" else "list")


def lambda_arguments(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments of a `Lambda` on these tensors, from what was drawn."""
    function = _function(specs, drawn)
    args: dict[str, Value] = {
        "function": function,
        "output_shape": _output_shape(drawn["output_shape"], specs, function),
        "mask": _mask(drawn["mask"], specs, function),
    }
    if function.form == "arguments":
        args["arguments"] = Items((("by", 2.0),))
    return args


KINDS = (
    Kind(
        "Lambda",
        options={
            "gives": (
                listed("x"),
                listed("x", "x"),
                listed("x * 2.0"),
                listed("x", "x * 2.0"),
                listed("x * 2.0", "x"),
                listed("x", "x", "-x"),
                listed("x[..., :1]", "x"),
                listed("x", "x * 2.0", "-x", "x + 1.0"),
                listed("x[:, 0]"),
                listed("x[:, 0]", "x"),
            ),
            # A registered function is all that Keras 3 reads back: what it refuses hides what else breaks.
            "form": (*FORMS, *("registered",) * 20),
            "container": ("list", "list", "tuple", "dict", "nested"),
            "mask": (LEFT_OUT, "pass", *(LEFT_OUT,) * 9, "some", "make", "fixed", "named", *("registered",) * 9),
            "output_shape": (LEFT_OUT, LEFT_OUT, "given", "callable", *(LEFT_OUT,) * 4, *("registered",) * 3),
        },
        takes=(1, 2),
        pass_as="either",
        arrange=lambda_arguments,
        parts=("gives", "form", "container"),
        weight=12,
    ),
)
