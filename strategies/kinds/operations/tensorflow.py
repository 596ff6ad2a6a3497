"""The functions of TensorFlow that become layers in a model of `tf_keras`. Their forms are those of Keras' own."""

from __future__ import annotations

from dataclasses import replace

from strategies.graph import Array, Layer, Seq, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Spec, Specs, listed, tupled
from strategies.kinds.operations.reductions import MOMENTS, TOP_K, order, reduction, taken
from strategies.kinds.operations.rules import (
    AXES,
    AXIS,
    FLAG,
    GRID,
    IMAGE,
    KNOWN,
    MATRIX,
    ROWS,
    Operation,
    along,
    beside,
    chosen,
    colours,
    each,
    even,
    given,
    ids,
    kept,
    of_dtype,
    on_axis,
    operation,
    place,
    prefixed,
    reduced,
    second,
    suiting,
    typed,
    wide,
)
from strategies.kinds.operations.shapes import (
    apart,
    by_rank,
    expanded,
    flat,
    padded,
    reshaped,
    squeezed,
    stacked,
    tiled,
    times,
    together,
    transposed,
    turned,
)


def _name(specs: Specs) -> bool:
    return all(spec.dtype == "bool" and 1 <= spec.rank <= 3 for spec in specs)


def _of_two(name: str, *of: str) -> Operation:
    return operation(name, second(kept, "y"), takes=(1, 2), of=of, arrange=beside("y"), y=(2.0, 0.5, Array((1,))))


def _compared(name: str) -> Operation:
    return operation(name, second(typed("bool"), "y"), takes=(1, 2), arrange=beside("y"), y=(0.0, 0.5, Array((1,))))


def _part(spec: Spec, drawn: Value) -> Value:
    """All of the batch, and all but the last place."""
    return listed(*(-1,) * spec.rank, (spec.shape[-1] or 2) - 1)


def _begin(spec: Spec, drawn: Value) -> Value:
    return listed(*(0,) * spec.rank, 1 if drawn == "last" else 0)


def _cut(shape: Dims, layer: Layer) -> Dims | None:
    begin, size = layer.arg("begin"), layer.arg("size")
    if not isinstance(begin, Seq) or not isinstance(size, Seq) or len(begin.items) != len(shape) + 1 or not shape[-1]:
        return None
    return (*shape[:-1], shape[-1] - 1) if size.items[-1] == shape[-1] - 1 else None


def _halved(specs: Specs, layer: Layer) -> Specs | None:
    shape, parts = specs[0].shape, layer.arg("num_or_size_splits")
    at = place(shape, layer.arg("axis"))
    size = None if at is None else shape[at]
    if at is None or size is None or size % 2:
        return None
    return (Spec((*shape[:at], size // 2, *shape[at + 1 :]), specs[0].dtype),) * 2 if parts == 2 else None


def _per_channel(spec: Spec, drawn: Value) -> Value:
    return Array((spec.shape[-1] or 1,))


def _filters(spec: Spec, drawn: Value) -> Value:
    return Array((2, 2, spec.shape[-1] or 1, 3))


def _convolved(shape: Dims, layer: Layer) -> Dims | None:
    height, width, _ = shape
    if height is None or width is None or min(height, width) < 2:
        return None
    return (height, width, 3) if layer.arg("padding") == "SAME" else (height - 1, width - 1, 3)


def _pooled(shape: Dims, layer: Layer) -> Dims | None:
    height, width, channels = shape
    return None if height is None or width is None or min(height, width) < 2 else (height // 2, width // 2, channels)


_SQUARE = given(lambda shape, layer: (*shape[:-1], shape[-2]))

_IN_MATH = (
    *each(
        """
        abs asin asinh atan ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p log_sigmoid negative
        reciprocal rint round rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh
        """,
        lambda name: operation(
            name,
            of=("positive",)
            if name in ("digamma", "lgamma", "log", "log1p", "reciprocal", "rsqrt", "sqrt")
            else ("unit",)
            if name == "asin"
            else (),
        ),
    ),
    *each("is_finite is_inf is_nan", lambda name: operation(name, typed("bool"))),
    *each("add subtract multiply maximum minimum atan2 squared_difference", _of_two),
    *each("divide_no_nan floormod truediv floordiv", lambda name: _of_two(name, "", "positive")),
    operation("pow", of=("positive",), y=(2.0, 0.5, Array((1,)))),
    *each("greater greater_equal less less_equal equal not_equal", _compared),
    *each("logical_and logical_or logical_xor", lambda name: operation(name, typed("bool"), _name, 2)),
    operation("logical_not", typed("bool"), _name),
    *each(
        """
        reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance reduce_logsumexp
        reduce_euclidean_norm
        """,
        reduction,
    ),
    *each("reduce_any reduce_all", lambda name: operation(name, reduced("bool"), _name, axis=AXES, keepdims=FLAG)),
    *each("argmax argmin", lambda name: operation(name, chosen("int64"), axis=AXIS)),
    operation("count_nonzero", reduced("int64"), axis=AXES, keepdims=FLAG),
    *each(
        "cumsum cumprod cumulative_logsumexp",
        lambda name: operation(name, on_axis(kept), axis=AXIS, exclusive=FLAG, reverse=FLAG),
    ),
    TOP_K,
    operation("l2_normalize", on_axis(kept), axis=AXIS),
)
_IN_NN = (
    *each("relu relu6 selu elu silu softsign", operation),
    operation("gelu", approximate=FLAG),
    operation("leaky_relu", alpha=(LEFT_OUT, 0.5)),
    operation("crelu", given(lambda shape, layer: (*shape[:-1], 2 * (shape[-1] or 1)))),
    *each("softmax log_softmax", lambda name: operation(name, on_axis(kept), axis=(LEFT_OUT, 1))),
    operation("bias_add", arrange=suiting(bias=_per_channel), bias=("each",)),
    MOMENTS,
    operation(
        "conv2d",
        given(_convolved),
        IMAGE,
        arrange=suiting(filters=_filters),
        filters=("window",),
        strides=(1,),
        padding=("VALID", "SAME"),
    ),
    *each(
        "max_pool2d avg_pool2d",
        lambda name: operation(name, given(_pooled), IMAGE, ksize=(2,), strides=(2,), padding=("VALID",)),
    ),
)
_IN_LINALG = (
    operation("matmul", _SQUARE, GRID, 2, transpose_b=(True,)),
    operation("matrix_transpose", given(lambda shape, layer: (*shape[:-2], shape[-1], shape[-2])), ROWS),
    operation("band_part", fits=ROWS, num_lower=(0, -1), num_upper=(-1, 1)),
    operation("diag_part", given(lambda shape, layer: (*shape[:-2], min(shape[-2] or 1, shape[-1] or 1))), GRID),
    operation("trace", given(lambda shape, layer: shape[:-2]), GRID),
    operation("norm", reduced(), ord=(LEFT_OUT, 1), axis=AXIS, keepdims=FLAG),
    *each("inv cholesky", lambda name: operation(name, _SQUARE, GRID, of=("definite",))),
    operation("det", given(lambda shape, layer: shape[:-2]), GRID, of=("definite",)),
    operation("solve", kept, GRID, 2, of=("definite", "")),
    operation("svd", fits=MATRIX, then=("first", "mean"), full_matrices=FLAG),
    operation("qr", fits=MATRIX, then=("second", "mean")),
)
_IN_IMAGE = (
    operation(
        "resize",
        given(lambda shape, layer: (3, 2, shape[-1])),
        IMAGE,
        size=(tupled(3, 2),),
        method=(LEFT_OUT, "nearest"),
    ),
    *each("flip_left_right flip_up_down", lambda name: operation(name, fits=IMAGE)),
    operation("rgb_to_grayscale", given(lambda shape, layer: (*shape[:-1], 1)), colours),
    operation("adjust_brightness", fits=IMAGE, delta=(0.25,)),
)
_AT_THE_TOP = (
    *each("zeros_like ones_like identity stop_gradient", operation),
    operation("cast", of_dtype, dtype=("float64", "float16", "int32", "bool")),
    operation("clip_by_value", clip_value_min=(-0.5, Array((1,))), clip_value_max=(1.0, 0.75)),
    operation("where", takes=(1, 2), of=("above",), arrange=beside("x"), x=(0.0,), y=(1.0,)),
    operation("reshape", given(reshaped), KNOWN, arrange=suiting(shape=flat), shape=("flat", "rows")),
    operation("transpose", given(transposed), arrange=suiting(perm=turned), perm=("last", "first")),
    operation("expand_dims", given(expanded), axis=(-1, 1)),
    operation("squeeze", given(squeezed), axis=AXIS),
    operation("reverse", on_axis(kept), axis=(listed(1), listed(-1), listed(1, -1))),
    operation("roll", on_axis(kept), shift=(1, -2), axis=AXIS),
    operation("tile", given(tiled), arrange=suiting(multiples=by_rank(1, 2)), multiples=("last",)),
    operation("repeat", along(times), repeats=(2,), axis=AXIS),
    operation(
        "pad",
        given(padded),
        wide(KNOWN),
        arrange=suiting(paddings=by_rank(tupled(0, 0), tupled(1, 1))),
        paddings=("last",),
        mode=(LEFT_OUT, "REFLECT"),
    ),
    operation(
        "slice",
        given(_cut),
        wide(KNOWN),
        arrange=suiting(begin=_begin, size=_part),
        begin=("first", "last"),
        size=("less",),
    ),
    operation("gather", along(taken), wide(KNOWN), indices=(Array((1,), "int32"), Array((3,), "int32")), axis=AXIS),
    operation("concat", together, takes=(1, 3), in_list=True, axis=(-1, 1)),
    operation("stack", stacked, takes=(1, 3), in_list=True, axis=(1, -1)),
    operation("split", _halved, even(KNOWN), num_or_size_splits=(2,), axis=(-1, 1)),
    operation("unstack", apart, KNOWN, axis=(1, -1)),
    operation("sort", on_axis(kept), axis=(LEFT_OUT, 1), direction=(LEFT_OUT, "DESCENDING")),
    operation("argsort", order, axis=(LEFT_OUT, 1)),
    operation("one_hot", given(lambda shape, layer: (*shape, 6), "float32"), ids, depth=(6,)),
    operation(
        "tensordot",
        given(lambda shape, layer: (*shape[:-1], 1)),
        KNOWN,
        arrange=suiting(b=lambda spec, drawn: Array((spec.shape[-1] or 1, 1))),
        b=("array",),
        axes=(1,),
    ),
    operation("einsum", given(lambda shape, layer: shape[:-1]), leads=("equation",), equation=("...i->...",)),
)

KINDS = tuple(
    replace(kind, only="tf_keras")
    for kind in (
        *prefixed("tf.math.", _IN_MATH),
        *prefixed("tf.nn.", _IN_NN),
        *prefixed("tf.linalg.", _IN_LINALG),
        *prefixed("tf.image.", _IN_IMAGE),
        *prefixed("tf.", _AT_THE_TOP),
        replace(
            operation("equal", second(typed("bool"), "other"), takes=(1, 2), arrange=beside("other"), other=(0.5, 0.0)),
            name="operator.equal",
        ),
    )
)
