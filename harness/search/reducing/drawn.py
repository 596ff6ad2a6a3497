"""The choices behind a layer whose arguments were arranged to suit its tensors.

Owns the way back from such arguments, a `Lambda`'s above all, to the options of the catalogue that mean them; the way
there is the kind's own `arrange`. So a layer that is made simpler, or meets tensors of another shape, is one that could
have been drawn.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from clonediff.strategies.graph import Array, Function, Layer, MalformedGraph, Seq, Value
from clonediff.strategies.kinds import LEFT_OUT, NO_SENSE, Kind, Specs

_SINGLE = {"x[0]": "x", "x[1]": "x * 2.0", "x[0] + x[1]": "-x", "x[0] * 2.0": "x + 1.0"}
"""The expression on one tensor that means each expression on two."""


def choices(layer: Layer, kind: Kind, specs: Specs) -> dict[str, Value]:
    """The options that a layer was made of, as they are drawn."""
    match layer.kind:
        case "Lambda":
            return _lambda(layer)
        case "Reshape":
            return {"target_shape": _reshape(layer, specs)}
    given = {key: layer.arg(key, LEFT_OUT) for key in kind.options}
    return _meant(given, kind, specs) if kind.family == "operations" else given


def _meant(given: dict[str, Value], kind: Kind, specs: Specs) -> dict[str, Value]:
    """The words of the table that mean these arguments on these tensors; an argument that none means stays."""
    if kind.arrange is None:
        return given
    chosen = dict(given)
    for key, options in kind.options.items():
        for option in options:
            try:
                means = kind.arrange(specs, {**given, key: option})
            except NO_SENSE:
                continue
            if means is not None and means.get(key, LEFT_OUT) == given[key]:
                chosen[key] = option
                break
    return chosen


def arranged(layer: Layer, kind: Kind, specs: Specs, chosen: Mapping[str, Value]) -> Layer:
    """The layer as these options mean it on these tensors."""
    assert kind.arrange is not None
    try:
        args = kind.arrange(specs, chosen)
    except NO_SENSE as error:
        raise MalformedGraph(f"{layer.kind}: its options make no sense: {error!r}") from None
    if args is None:
        raise MalformedGraph(f"{layer.kind}: cannot be called on {specs}")
    more = [(key, value) for key, value in layer.args if key in ("activity_regularizer", "autocast", *kind.more)]
    return structs.replace(layer, args=(*((key, value) for key, value in args.items() if value != LEFT_OUT), *more))


def _lambda(layer: Layer) -> dict[str, Value]:
    function, mask, shape = layer.arg("function"), layer.arg("mask"), layer.arg("output_shape")
    if not isinstance(function, Function):
        raise MalformedGraph("Lambda: expected a function")
    return {
        "gives": Seq(tuple(_SINGLE.get(text, text) for text in function.gives)),
        "form": function.form,
        "container": function.container,
        "mask": LEFT_OUT if mask is None else _mask(mask),
        "output_shape": LEFT_OUT if shape is None else _shape(shape),
    }


def _shape(shape: Value) -> str:
    if not isinstance(shape, Function):
        return "given"
    return "registered" if shape.form == "shape registered" else "callable"


def _mask(mask: Value) -> str:
    if isinstance(mask, Array | Seq):
        return "fixed"
    if not isinstance(mask, Function):
        raise MalformedGraph("Lambda: expected a function or an array as mask")
    if mask.form != "mask lambda":
        return mask.form.removeprefix("mask ")
    if "None" in mask.gives:
        return "some"
    return "pass" if set(mask.gives) == {"mask"} else "make"


def _reshape(layer: Layer, specs: Specs) -> str:
    target = layer.arg("target_shape")
    rank = len(target.items) if isinstance(target, Seq) else 0
    if isinstance(target, Seq) and target.items == (-1,):
        return "flat"
    return "split" if rank > specs[0].rank else "swap"
