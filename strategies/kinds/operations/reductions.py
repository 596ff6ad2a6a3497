"""Operations along axes: totals and means, sorting, searching; and what says something of a whole tensor."""

from __future__ import annotations

from strategies.graph import Array, Layer, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Spec, Specs, listed, number, tupled
from strategies.kinds.lambdas import BATCH
from strategies.kinds.operations.rules import (
    AXES,
    AXIS,
    FEW,
    FLAG,
    KNOWN,
    NO,
    VECTOR,
    Operation,
    along,
    chosen,
    each,
    given,
    ids,
    kept,
    on_axis,
    operation,
    place,
    reduced,
    several,
    suiting,
    truths,
    typed,
    wide,
)

METHODS: tuple[Value, ...] = (LEFT_OUT, "nearest")


def reduction(name: str) -> Operation:
    """Along one axis or several."""
    return operation(name, reduced(), axis=AXES, keepdims=FLAG)


def per_channel(spec: Spec, drawn: Value) -> Value:
    """A number for each place of the last dimension."""
    return NO if spec.shape[-1] is None else Array((spec.shape[-1],))


def order(specs: Specs, layer: Layer) -> Specs | None:
    """Places along an axis: small, where it is short."""
    at = place(specs[0].shape, layer.arg("axis", -1))
    if at is None:
        return None
    size = specs[0].shape[at]
    return typed("int32", large=size is None or size > FEW)(specs, layer)


def _top(shape: Dims, layer: Layer) -> Dims:
    return (*shape[:-1], number(layer, "k"))


def _fewer(size: int | None, layer: Layer) -> int | None:
    n = number(layer, "n", 1)
    return None if size is None else size - n


def taken(size: int | None, layer: Layer) -> int | None:
    indices = layer.arg("indices")
    return indices.shape[0] if isinstance(indices, Array) else None


MOMENTS = operation(
    "moments", several(reduced(axis="axes"), reduced(axis="axes")), axes=(listed(1), listed(-1)), keepdims=FLAG
)
TOP_K = operation("top_k", several(given(_top), given(_top, "int32")), wide(KNOWN), k=(1, 2), sorted=(LEFT_OUT, False))
_SOME: tuple[Value, ...] = (Array((1,), "int32"), Array((3,), "int32"))

KINDS = (
    *each(
        """
        sum mean max min amax amin prod std var median ptp logsumexp nanmax nanmin nanmean nanmedian nanprod nanstd
        nansum nanvar
        """,
        reduction,
    ),
    *each("any all", lambda name: operation(name, reduced("bool"), truths, axis=AXES, keepdims=FLAG)),
    *each("argmax argmin nanargmax nanargmin", lambda name: operation(name, chosen(), axis=AXIS, keepdims=FLAG)),
    operation("count_nonzero", reduced("int32"), axis=AXES),
    *each(
        "quantile nanquantile",
        lambda name: operation(name, reduced(), q=(0.5, 0.25), axis=AXIS, method=METHODS, keepdims=FLAG),
    ),
    *each(
        "percentile nanpercentile",
        lambda name: operation(name, reduced(), q=(50, 25), axis=AXIS, method=METHODS, keepdims=FLAG),
    ),
    operation("average", reduced(), arrange=suiting(weights=per_channel), axis=(-1,), weights=(LEFT_OUT, "each")),
    operation("norm", reduced(), ord=(LEFT_OUT, 1, 2), axis=AXIS, keepdims=FLAG),
    MOMENTS,
    *each("cumsum cumprod nancumsum nancumprod", lambda name: operation(name, on_axis(kept), axis=AXIS)),
    operation("diff", along(_fewer), wide(KNOWN), n=(LEFT_OUT, 1), axis=AXIS),
    operation("sort", on_axis(kept), axis=(LEFT_OUT, 1)),
    operation("argsort", order, axis=(LEFT_OUT, 1)),
    operation("argpartition", order, wide(VECTOR), kth=(1,), axis=(LEFT_OUT, -1)),
    TOP_K,
    operation("in_top_k", then=("mean",), of=("classes", ""), fits=wide(VECTOR), takes=2, k=(1, 2)),
    operation("take", along(taken), wide(KNOWN), indices=_SOME, axis=AXIS),
    operation("take_along_axis", on_axis(kept), takes=2, of=("", "order"), axis=(-1,)),
    operation("searchsorted", of=("flat",), then=("mean",), leads=("sorted_sequence",), sorted_sequence=(Array((3,)),)),
    operation("digitize", typed("int32"), bins=(Array((3,)),)),
    operation("select", of=("above listed", "listed"), takes=2, default=(LEFT_OUT, 1.0)),
    operation("trapezoid", reduced(), dx=(LEFT_OUT, 0.5), axis=(LEFT_OUT, 1)),
    # -- of a whole tensor
    *each("size ndim trace", lambda name: operation(name, then=("mean",))),
    operation("allclose", takes=2, then=("mean",)),
    operation("nonzero", then=("first", "mean")),
    operation("unique", then=("mean",), size=(4,), fill_value=(0.0,)),
    operation("bincount", then=("mean",), fits=ids, weight=2, minlength=(6,)),
    *each(
        "segment_sum segment_max segment_min segment_prod",
        lambda name: operation(
            name, then=("mean",), segment_ids=(Array((BATCH,), "int32"),), num_segments=(LEFT_OUT, 2)
        ),
    ),
    operation("unravel_index", then=("first", "mean"), fits=ids, weight=2, shape=(tupled(2, 3),)),
)
