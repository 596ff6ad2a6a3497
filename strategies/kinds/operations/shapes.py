"""Operations that give a tensor another shape, put tensors together or take them apart."""

from __future__ import annotations

import math

from strategies.graph import Array, Layer, Seq, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Gives, Spec, Specs, listed, number, tupled
from strategies.kinds.lambdas import BATCH
from strategies.kinds.operations.rules import (
    AXIS,
    GRID,
    KNOWN,
    MATRIX,
    NO,
    ROWS,
    VECTOR,
    Suits,
    along,
    each,
    given,
    kept,
    on_axis,
    operation,
    place,
    suiting,
    wide,
)

# -- shapes


def _product(sizes: Dims) -> int | None:
    known = [size for size in sizes if size is not None]
    return math.prod(known) if len(known) == len(sizes) else None


def flat(spec: Spec, drawn: Value) -> Value:
    """All in a row, or all but the last dimension."""
    size = _product(spec.shape)
    if size is None:
        return NO
    return (
        tupled(-1, size)
        if drawn == "flat" or spec.rank < 2
        else tupled(-1, size // (spec.shape[-1] or 1), spec.shape[-1])
    )


def reshaped(shape: Dims, layer: Layer) -> Dims | None:
    new = layer.arg("newshape", layer.arg("shape"))
    assert isinstance(new, Seq)
    sizes = tuple(size for size in new.items[1:] if isinstance(size, int))
    return sizes if _product(sizes) == _product(shape) and new.items[0] == -1 else None


def turned(spec: Spec, drawn: Value) -> Value:
    """The axes in another order: the last first, or the first two swapped."""
    axes = tuple(range(1, spec.rank + 1))
    return tupled(0, *((axes[-1], *axes[:-1]) if drawn == "last" else (*axes[1::-1], *axes[2:])))


def transposed(shape: Dims, layer: Layer) -> Dims | None:
    axes = layer.arg("axes", layer.arg("perm"))
    assert isinstance(axes, Seq)
    if sorted(map(str, axes.items)) != sorted(map(str, range(len(shape) + 1))) or axes.items[0] != 0:
        return None
    return tuple(shape[axis - 1] for axis in axes.items[1:] if isinstance(axis, int))


def _swapped(shape: Dims, layer: Layer) -> Dims | None:
    found = [place(shape, layer.arg(key)) for key in ("axis1", "axis2")]
    one, other = found
    if one is None or other is None or one == other:
        return None
    sizes = list(shape)
    sizes[one], sizes[other] = sizes[other], sizes[one]
    return tuple(sizes)


def _moved(shape: Dims, layer: Layer) -> Dims | None:
    source, destination = (place(shape, layer.arg(key)) for key in ("source", "destination"))
    if source is None or destination is None:
        return None
    sizes = [size for at, size in enumerate(shape) if at != source]
    return (*sizes[:destination], shape[source], *sizes[destination:])


def expanded(shape: Dims, layer: Layer) -> Dims:
    return (1, *shape) if layer.arg("axis") == 1 else (*shape, 1)


def squeezed(shape: Dims, layer: Layer) -> Dims | None:
    at = place(shape, layer.arg("axis", -1))
    return (*shape[:at], *shape[at + 1 :]) if at is not None and shape[at] == 1 else None


def _scattered(spec: Spec, drawn: Value) -> Value:
    return tupled(3, *spec.shape)


def by_rank(before: Value, last: Value) -> Suits:
    return lambda spec, drawn: tupled(before, *(before,) * (spec.rank - 1), last)


def tiled(shape: Dims, layer: Layer) -> Dims | None:
    repeats = layer.arg("repeats", layer.arg("multiples"))
    if not isinstance(repeats, Seq) or len(repeats.items) != len(shape) + 1:
        return None
    times = repeats.items[-1]
    assert isinstance(times, int)
    return (*shape[:-1], None if shape[-1] is None else times * shape[-1])


def padded(shape: Dims, layer: Layer) -> Dims | None:
    width = layer.arg("pad_width", layer.arg("paddings"))
    if not isinstance(width, Seq) or len(width.items) != len(shape) + 1:
        return None
    return (*shape[:-1], None if shape[-1] is None else shape[-1] + 2)


def times(size: int | None, layer: Layer) -> int | None:
    repeats = number(layer, "repeats")
    return None if size is None else size * repeats


def broadcast(spec: Spec, drawn: Value) -> Value:
    return NO if None in spec.shape else tupled(BATCH, *spec.shape)


def as_said(shape: Dims, layer: Layer) -> Dims | None:
    said = layer.arg("shape")
    return shape if isinstance(said, Seq) and said.items[1:] == shape else None


def _rotated(shape: Dims, layer: Layer) -> Dims | None:
    """Keras says that the sides change places, which after two turns is so of a square alone."""
    turned = _swapped(shape, Layer("", (("axis1", 1), ("axis2", 2))))
    return turned if layer.arg("k", 1) != 2 or turned == shape else None


def _sliced(spec: Spec, drawn: Value) -> Value:
    size = spec.shape[-1]
    return NO if None in spec.shape or size is None else tupled(BATCH, *spec.shape[:-1], size - 1)


def _starts(spec: Spec, drawn: Value) -> Value:
    return tupled(*(0,) * spec.rank, 1 if drawn == "last" else 0)


def _cut(shape: Dims, layer: Layer) -> Dims | None:
    starts, sizes = layer.arg("start_indices"), layer.arg("shape")
    if not isinstance(starts, Seq) or not isinstance(sizes, Seq) or len(starts.items) != len(shape) + 1:
        return None
    wanted = (*shape[:-1], None if shape[-1] is None else shape[-1] - 1)
    return wanted if sizes.items[1:] == wanted else None


# -- several tensors


def together(specs: Specs, layer: Layer) -> Specs | None:
    """In a row along one axis."""
    at = place(specs[0].shape, layer.arg("axis"))
    if at is None:
        return None
    size = specs[0].shape[at]
    whole = None if size is None else len(specs) * size
    return (Spec((*specs[0].shape[:at], whole, *specs[0].shape[at + 1 :]), specs[0].dtype),)


def stacked(specs: Specs, layer: Layer) -> Specs | None:
    shape = specs[0].shape
    at = 0 if layer.arg("axis") == 1 else len(shape)
    return (Spec((*shape[:at], len(specs), *shape[at:]), specs[0].dtype),) if len(shape) < 4 else None


def _deep(specs: Specs, layer: Layer) -> Specs | None:
    """Along the third axis, which a vector does not have yet."""
    if specs[0].rank == 1:
        return stacked(specs, Layer("", (("axis", -1),)))
    return together(specs, Layer("", (("axis", 2),)))


def _beside(specs: Specs, layer: Layer) -> Specs | None:
    return together(specs, Layer("", (("axis", 1),)))


def _halved(default: int) -> Gives:
    """Two halves, or what stands before and after some places."""

    def gives(specs: Specs, layer: Layer) -> Specs | None:
        shape = specs[0].shape
        at = place(shape, layer.arg("axis", default))
        size = None if at is None else shape[at]
        if at is None or size is None or size < 2:
            return None
        parts = layer.arg("indices_or_sections")
        if isinstance(parts, Seq):
            sizes = (1, size - 1)
        elif layer.kind.endswith("array_split"):
            sizes = (size - size // 2, size // 2)
        elif size % 2:
            return None
        else:
            sizes = (size // 2, size // 2)
        return tuple(Spec((*shape[:at], part, *shape[at + 1 :]), specs[0].dtype) for part in sizes)

    return gives


def apart(specs: Specs, layer: Layer) -> Specs | None:
    shape = specs[0].shape
    at = place(shape, layer.arg("axis"))
    count = None if at is None else shape[at]
    if at is None or count is None or not 1 < count < 5:
        return None
    return (Spec((*shape[:at], *shape[at + 1 :]), specs[0].dtype),) * count


_PARTS: tuple[Value, ...] = (2, listed(1))

KINDS = (
    operation("reshape", given(reshaped), KNOWN, arrange=suiting(newshape=flat), newshape=("flat", "rows")),
    operation("transpose", given(transposed), arrange=suiting(axes=turned), axes=("last", "first")),
    operation("expand_dims", given(expanded), axis=(-1, 1)),
    operation("squeeze", given(squeezed), axis=AXIS),
    operation("swapaxes", given(_swapped), ROWS, axis1=(1,), axis2=(2, -1)),
    operation("moveaxis", given(_moved), ROWS, source=(1, -1), destination=(-1, 1)),
    operation("flip", on_axis(kept), axis=(LEFT_OUT, 1, -1)),
    *each("fliplr flipud", operation),
    operation("roll", on_axis(kept), shift=(1, -2), axis=AXIS),
    operation("rot90", given(_rotated), GRID, k=(LEFT_OUT, 3), axes=(tupled(1, 2),)),
    operation("tile", given(tiled), arrange=suiting(repeats=by_rank(1, 2)), repeats=("last",)),
    operation("repeat", along(times), repeats=(2,), axis=AXIS),
    operation(
        "pad",
        given(padded),
        wide(KNOWN),
        arrange=suiting(pad_width=by_rank(tupled(0, 0), tupled(1, 1))),
        pad_width=("last",),
        mode=(LEFT_OUT, "reflect", "symmetric"),
    ),
    operation("broadcast_to", given(as_said), KNOWN, arrange=suiting(shape=broadcast), shape=("batch",)),
    operation(
        "slice",
        given(_cut),
        wide(KNOWN),
        arrange=suiting(start_indices=_starts, shape=_sliced),
        start_indices=("first", "last"),
        shape=("less",),
    ),
    operation(
        "slice_update",
        takes=2,
        names=("", "updates"),
        arrange=suiting(start_indices=_starts),
        start_indices=("first",),
    ),
    operation("scatter_update", indices=(listed(listed(0, 0)),), updates=(Array((1,)),), fits=VECTOR),
    operation(
        "scatter",
        fits=KNOWN,
        leads=("indices",),
        names=("values",),
        then=("mean",),
        arrange=suiting(shape=_scattered),
        indices=(Array((BATCH, 1), "int32"),),
        shape=("more",),
    ),
    operation("rearrange", fits=MATRIX, of=("one",), then=("mean",), pattern=("a b -> b a", "a b -> (a b)")),
    operation("tril", fits=ROWS, k=(LEFT_OUT, 1)),
    operation("triu", fits=ROWS, k=(LEFT_OUT, -1)),
    # -- several tensors
    operation("concatenate", together, takes=(1, 3), in_list=True, axis=(-1, 1)),
    operation("stack", stacked, takes=(1, 3), in_list=True, axis=(1, -1)),
    operation("append", together, KNOWN, takes=2, axis=(-1, 1)),
    operation("hstack", _beside, takes=(1, 3), in_list=True),
    operation("dstack", _deep, takes=(1, 3), in_list=True),
    operation("vstack", takes=(1, 3), in_list=True, then=("mean",)),
    operation("meshgrid", takes=2, of=("flat", "flat"), then=("first", "mean"), indexing=(LEFT_OUT, "ij")),
    operation("split", _halved(-1), wide(KNOWN), indices_or_sections=_PARTS, axis=(-1, 1)),
    operation("array_split", _halved(-1), wide(KNOWN), indices_or_sections=(2,), axis=(-1, 1)),
    operation("hsplit", _halved(1), KNOWN, indices_or_sections=_PARTS),
    operation("dsplit", _halved(2), GRID, indices_or_sections=_PARTS),
    operation("vsplit", of=("rows",), then=("first", "mean"), indices_or_sections=(1,)),
    operation("unstack", apart, KNOWN, axis=(1, -1)),
    # -- without a batch
    operation("full", of=("average",), then=("mean",), leads=("shape",), shape=(tupled(3), tupled(2, 3))),
    operation("ravel", then=("mean",)),
    *each("diag diagflat", lambda name: operation(name, then=("mean",), of=("flat",), k=(LEFT_OUT, 1))),
    operation("vander", then=("mean",), of=("flat",), N=(3,), increasing=(LEFT_OUT, True)),
    operation(
        "linspace", given(lambda shape, layer: (*shape, 3)), takes=2, num=(3,), endpoint=(LEFT_OUT, False), axis=(-1,)
    ),
    operation("geomspace", takes=2, of=("positive", "positive"), then=("mean",), num=(3,)),
    operation("logspace", given(lambda shape, layer: (*shape, 3)), takes=2, of=("unit", "unit"), num=(3,), axis=(-1,)),
)
