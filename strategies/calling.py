"""How a model is given its tensors by a call: in which structure, with an axis of 1 more or less, of another dtype.

Owns which of these a model takes, and what its inputs are for the tensors of a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from clonediff.strategies.graph import Axis, Call, Graph, Input, Items, Packing, Ref, Seq, Value, fed_refs, refs
from clonediff.strategies.kinds import Specs
from clonediff.strategies.kinds.kind import Dims

FURTHER = "not_taken"
"""The name of a tensor in a dict that a model does not take."""
_CAST = ("float32", "float64", "float16")
"""The dtypes of which a model takes another than its input has."""


def packings(inner: Graph) -> Iterator[Packing]:
    """The structures, beside the usual one, in which a model takes its tensors, the simplest first."""
    if inner.base is not None:
        return
    if inner.built == "later":
        return  # by what is no tensor Keras 3 does not build it (keras/src/models/sequential.py:165)
    names = [given.name for given in inner.inputs]
    one = len(names) == 1
    if one and not isinstance(inner.takes, Items):
        yield "list"
    if not isinstance(inner.takes, Items) and not inner.sequential:
        yield "tuple"
    yield "keyword"
    if inner.sequential or _is_nested(inner) or list(refs(inner.takes)) != [Ref(place) for place in range(len(names))]:
        return
    # Keras 3 tells the shapes of what comes of a dict in the order of its keys, sorted (keras/src/ops/function.py:131).
    told = [name for name in names if name is not None]
    if len(told) == len(names) and [*told, FURTHER] == sorted({*told, FURTHER}):
        yield "names"
        if not one:
            yield "turned"
        yield "further"


def meant(digit: int, inner: Graph | None) -> Packing:
    """The structure that a digit stands for; 0 is the usual one."""
    choices = () if inner is None else tuple(packings(inner))
    return ("", *choices)[digit % (1 + len(choices))]


def _is_nested(inner: Graph) -> bool:
    return isinstance(inner.takes, Seq) and not all(isinstance(item, Ref) for item in inner.takes.items)


def taken_call(call: Call, inner: Graph, specs: Specs) -> Call:
    """The call as the model can be made with these tensors: in the usual structure where it does not take that one."""
    if call.packing and call.packing not in packings(inner):
        call = structs.replace(call, packing="")
    return call if taken_shapes(call, specs) is not None else structs.replace(call, axis="")


def taken_shapes(call: Call, specs: Specs) -> list[Dims] | None:
    """The shapes of the inputs of a model that is called on these tensors; None where no axis can be taken away."""
    shapes = [spec.shape for spec in specs]
    if call.axis == "more":
        return [shape[:-1] for shape in shapes] if all(shape[-1:] == (1,) and shape[1:] for shape in shapes) else None
    return [(*shape, 1) for shape in shapes] if call.axis == "less" else shapes


def taken_dtype(given: Input, dtype: str) -> str:
    """The dtype of an input for a tensor: its own where a float is cast to another, and else the tensor's."""
    return given.dtype if {given.dtype, dtype} <= set(_CAST) else dtype


def packed(call: Call, inner: Graph | None) -> tuple[Value, ...]:
    """What a call is given before its keywords; a model's tensors in the structure that the call says."""
    if inner is None or call.packing in ("", "keyword"):
        return call.args
    tensors = tuple(fed_refs(call))
    named = [(given.name or "", ref) for given, ref in zip(inner.inputs, tensors, strict=True)]
    match call.packing:
        case "names":
            return (Items(tuple(named)),)
        case "turned":
            return (Items(tuple(named[::-1])),)
        case "further":
            return (Items((*named, (FURTHER, tensors[0]))),)
    return (Seq(tensors, "tuple" if call.packing == "tuple" else "list"),)


def inner_inputs(specs: Specs, axis: Axis, *, named: bool, casts: bool) -> tuple[tuple[Input, ...], Specs, Axis]:
    """The inputs of a model made for these tensors, what they give, and the axis that a single tensor has besides."""
    shapes = taken_shapes(Call(0, axis=axis), specs) if len(specs) == 1 else None
    axis = "" if shapes is None else axis
    if shapes is not None:
        dtype = _OTHER.get(specs[0].dtype, specs[0].dtype) if casts else specs[0].dtype
        specs = (replace(specs[0], shape=shapes[0], dtype=dtype),)
    names = (f"in_{place}" if named else None for place in range(len(specs)))
    inputs = (Input(spec.shape, spec.dtype, name, ragged=spec.ragged) for spec, name in zip(specs, names, strict=True))
    return tuple(inputs), specs, axis


_OTHER = {"float32": "float64", "float64": "float32"}
