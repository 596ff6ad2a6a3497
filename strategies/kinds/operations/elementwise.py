"""Operations on each number by itself: of one tensor, of two, comparisons, logic, casts."""

from __future__ import annotations

from strategies.graph import Array, Value
from strategies.kinds.kind import LEFT_OUT, Gives
from strategies.kinds.operations.rules import (
    FLOAT,
    Operation,
    beside,
    each,
    kept,
    multiplied,
    of_dtype,
    operation,
    second,
    small,
    truths,
    typed,
    wholes,
)

OTHER: tuple[Value, ...] = (2.0, 0.5, Array((1,)))
"""What a second tensor can be where it is none: a number, or an array for all places."""
WHOLE: tuple[Value, ...] = (Array((1,), "int32"),)


def of_two(name: str, *of: str, gives: Gives = kept) -> Operation:
    """Of two tensors, or of a tensor and a number."""
    return operation(name, second(gives, "x2"), takes=(1, 2), of=of, arrange=beside("x2"), x2=OTHER)


def compared(name: str) -> Operation:
    """True or false for each place of two tensors."""
    return operation(name, second(typed("bool"), "x2"), takes=(1, 2), arrange=beside("x2"), x2=OTHER)


def of_wholes(name: str) -> Operation:
    """Of two tensors of whole numbers, or of one and an array."""
    return operation(name, second(kept, "y"), wholes, takes=(1, 2), arrange=beside("y"), weight=2, y=WHOLE)


_SAME = """
    abs absolute arcsinh arctan angle cbrt ceil conj conjugate copy cos cosh deg2rad erf erfc exp exp2 expm1 fabs floor
    i0 imag log_sigmoid negative rad2deg real relu relu6 selu sigmoid sign silu sin sinc sinh softplus softsign
    hard_sigmoid hard_silu hard_swish hard_tanh sparse_plus sparse_sigmoid square stop_gradient swish tan tanh
    tanh_shrink trunc zeros_like ones_like
"""
_ASKED = "isfinite isinf isnan isneginf isposinf isreal signbit"

KINDS = (
    *each(_SAME, operation),
    *each("log log10 log1p log2 sqrt rsqrt reciprocal arccosh", lambda name: operation(name, of=("positive",))),
    *each("arccos arcsin arctanh erfinv", lambda name: operation(name, of=("unit",))),
    *each(_ASKED, lambda name: operation(name, typed("bool"))),
    operation("round", decimals=(LEFT_OUT, 1)),
    operation("elu", alpha=(LEFT_OUT, 0.5)),
    operation("celu", alpha=(LEFT_OUT, 0.5)),
    operation("gelu", approximate=(LEFT_OUT, False)),
    operation("leaky_relu", negative_slope=(LEFT_OUT, 0.5)),
    operation("squareplus", b=(LEFT_OUT, 2)),
    *each("hard_shrink soft_shrink", lambda name: operation(name, threshold=(LEFT_OUT, 0.25))),
    operation("threshold", threshold=(0.5,), default_value=(0.0, -1.0)),
    operation("clip", x_min=(-0.5, Array((1,))), x_max=(1.0, 0.75)),
    operation("nan_to_num", nan=(LEFT_OUT, 1.0), posinf=(LEFT_OUT, 9.0)),
    operation("full_like", fill_value=(2.0, Array((1,)))),
    # What is in it is not said.
    operation("empty_like", kept, then=("nothing",)),
    *each("add subtract maximum minimum fmax fmin arctan2 logaddexp logaddexp2", of_two),
    of_two("multiply", gives=multiplied),
    *each("divide divide_no_nan true_divide floor_divide mod fmod", lambda name: of_two(name, "", "positive")),
    operation("power", of=("positive",), x2=(2.0, 0.5, 3, Array((1,)))),
    *each("nextafter hypot heaviside", lambda name: operation(name, takes=2)),
    operation("ldexp", x2=(2, Array((1,), "int32"))),
    *each("equal not_equal greater greater_equal less less_equal", compared),
    operation("isclose", typed("bool"), takes=2, rtol=(LEFT_OUT, 0.1), equal_nan=(LEFT_OUT, True)),
    operation("isin", typed("bool"), x2=(Array((3,)), 1.0), invert=(LEFT_OUT, True)),
    *each("logical_and logical_or logical_xor", lambda name: operation(name, typed("bool"), truths, 2)),
    operation("logical_not", typed("bool"), truths),
    *each("bitwise_and bitwise_or bitwise_xor bitwise_left_shift left_shift", of_wholes),
    *each("bitwise_right_shift right_shift", lambda name: operation(name, small, wholes, weight=2, y=WHOLE)),
    *each("bitwise_invert bitwise_not", lambda name: operation(name, kept, wholes, weight=2)),
    *each("gcd lcm", lambda name: operation(name, kept, wholes, 2, weight=2)),
    operation("cast", of_dtype, FLOAT, dtype=("float64", "float16", "bfloat16", "int32", "bool")),
    operation("saturate_cast", of_dtype, FLOAT, dtype=("float64", "float16", "uint8")),
    operation("view", of_dtype, FLOAT, dtype=("int32", LEFT_OUT)),
    operation("convert_to_tensor", of_dtype, FLOAT, dtype=(LEFT_OUT, "float64")),
    operation("where", takes=(1, 2), of=("above",), arrange=beside("x1"), x1=(0.0,), x2=(1.0,)),
    operation("array", of_dtype, FLOAT, dtype=(LEFT_OUT, "float64")),
)
