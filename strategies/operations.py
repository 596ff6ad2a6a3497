"""The catalogue of operations: functions of Keras or TensorFlow, operators, and slices.

The functions and their arguments are read from the release. If a function takes more than tensors and plain values, its
calls are listed in `CALLS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonediff.strategies.kind import Kind, PackingRule, combine
from clonediff.strategies.program import Arguments
from clonediff.strategies.values import parse_table, split_row


def is_operation(kind: str) -> bool:
    """Whether a kind is a function or an operator, not a layer."""
    return kind.startswith(("ops.", "tf.", "operator."))


_MATRIX = "ops.matmul(<0>, ops.swapaxes(<0>, -1, -2)) + ops.eye(<0>.shape[-2])"
_TF_MATRIX = "tf.matmul(<0>, <0>, transpose_b=True) + tf.eye(<0>.shape[-2])"
_FUNCTIONS = (
    *("lambda x: x * 2.0", "<double_named>", "<double_times>(2.0)", "functools.partial(<double_by>, by=2.0)"),
    *("<DoubleFactor>(2.0).apply", "lambda x: keras.random.dropout(x, 0.5, seed=7)"),
)
_NAMES = "add subtract multiply divide floor_divide mod power less less_equal greater greater_equal equal not_equal"
_SIGNS = dict(zip(_NAMES.split(), ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!="], strict=True))
_BINARY_CALLS = '<0> {0} <1> | <0> {0} 2.0 | 0.5 {0} <0> | <0> {0} 3 | <0> {0} (np.arange(1, 2, dtype="float32") / 2)'
OPERATORS: Mapping[str, str] = {
    **{f"operator.{name}": _BINARY_CALLS.format(sign) for name, sign in _SIGNS.items()},
    **parse_table("""
        operator.slice: <0>[:, 0] | <0>[:, 1:] | <0>[..., 0] | <0>[..., :1] | <0>[..., -1] | <0>[:, :-1] | <0>[:, ::2]
            | <0>[:, ::-1] | <0>[..., None] | <0>[:, None] | <0>[:, -2:] | <0>[:, :, 0] | <0>[:, 1:, :1]
        operator.half: <0> / 2.0
        operator.operand: <0> * keras.Variable(2.0) | <0> + tf.Variable(2.0) | <0> * <table>.embeddings[0, 0]
            | <0> + np.arange(1, 2, dtype="float32") | <0> * ops.convert_to_tensor(2.0) | <0> * np.float32(2.0)
        operator.negative: -<0>
        operator.from_one: 1.0 - <0>
        operator.positive: <0>[..., 0] > 0.0
        operator.invert: ~<0>
        operator.absolute: abs(<0>)
        operator.round: round(<0>)
        operator.of_batch: <0> + <0>[0] | <0> + <0>[-1]
        operator.matmul: <0> @ ops.swapaxes(<1>, -1, -2)
        operator.and: (<0> > 0.0) & (<1> > 0.0)
    """),
}
"""The expressions of operators and slices."""

CALLS: Mapping[str, str] = {
    **{f"ops.{name}": f"ops.{name}({_MATRIX})" for name in ["cholesky", "inv", "det", "logdet", "eigh", "lu_factor"]},
    "ops.solve": f"ops.solve({_MATRIX}, <0>)",
    **{f"ops.{name}": f"ops.{name}((<0>, <0>))" for name in ("fft", "fft2", "ifft2", "irfft")},
    **{f"ops.{name}": f"<0> * ops.mean(ops.{name}(<0>, <0>))" for name in ("outer", "vdot", "kron", "lstsq")},
    **{f"ops.{name}": f"<0> * ops.mean(ops.{name}(<0>))" for name in ("corrcoef", "size", "unique", "ravel", "vstack")},
    **{f"ops.{name}": f"<0> * ops.mean(ops.{name}(<0>)[1])" for name in ("qr", "svd")},
    **{
        f"ops.{name}": " | ".join(f"ops.{name}({function}, <0>)" for function in _FUNCTIONS)
        for name in ("map", "vectorized_map")
    },
    "ops.diag": "<0> * ops.mean(ops.diag(ops.ravel(<0>)))",
    "ops.matmul": "ops.matmul(<0>, ops.swapaxes(<1>, -1, -2))",
    "ops.cond": "<0> * ops.cond(ops.any(<0> > 0.0), lambda: ops.ones((1,)), lambda: ops.zeros((1,)))",
    "ops.where": "ops.where(<0> > 0.0, <0>, 0.0) | ops.where(<0> > 0.0, <0>, <1>)",
    "ops.take_along_axis": "ops.take_along_axis(<0>, ops.argsort(<0>), axis=-1)",
    "ops.jvp": "ops.jvp(lambda x: x * 2.0, (<0>,), (<0>,))[1]",
    "ops.scan": "ops.scan(lambda carry, v: (carry + v, carry + v), ops.ones(<0>.shape[1:]), <0>)[1]",
    "ops.switch": "ops.switch(1, [lambda v: v + 1.0, lambda v: 0.5 * v], <0>)",
    "ops.fori_loop": "ops.fori_loop(0, 3, lambda i, v: v + 1.0, <0>)",
    "ops.while_loop": "ops.while_loop(lambda v: ops.max(v) < 3.0, lambda v: v + 1.0, (<0>,), maximum_iterations=3)",
    "ops.associative_scan": "ops.associative_scan(lambda a, b: a + b, <0>)",
    "ops.einsum": 'ops.einsum("...i->...", <0>) | ops.einsum("...i,...i->...", <0>, <1>)',
    "ops.dot": 'ops.dot(<0>, np.ones((<0>.shape[-1], 2), "float32"))',
    "ops.tensordot": 'ops.tensordot(<0>, np.ones((<0>.shape[-1], 2), "float32"), axes=1)',
    "ops.moments": "ops.moments(<0>, axes=[1]) | ops.moments(<0>, axes=[-1])",
    # -- functions of TensorFlow
    **{f"tf.linalg.{name}": f"tf.linalg.{name}({_TF_MATRIX})" for name in ("cholesky", "inv", "det")},
    "tf.linalg.matmul": "tf.linalg.matmul(<0>, <1>, transpose_b=True)",
    "tf.linalg.qr": "<0> * tf.reduce_mean(tf.linalg.qr(<0>)[1])",
    "tf.where": "tf.where(<0> > 0.0, <0>, 0.0)",
    "tf.einsum": 'tf.einsum("...i->...", <0>) | tf.einsum("...i,...i->...", <0>, <1>)',
    "tf.tensordot": "tf.tensordot(<0>, tf.ones((<0>.shape[-1], 2)), axes=1)",
    "tf.nn.moments": "tf.nn.moments(<0>, axes=[1])",
    "tf.nn.conv2d": 'tf.nn.conv2d(<0>, tf.ones((2, 2, <0>.shape[-1], 3)), strides=1, padding="SAME")',
    "tf.nn.max_pool2d": 'tf.nn.max_pool2d(<0>, 2, 1, "SAME") | tf.nn.max_pool2d(<0>, 2, 2, "VALID")',
    "tf.pad": "tf.pad(<0>, ((0, 0), (1, 1))) | tf.pad(<0>, ((0, 0), (0, 0), (1, 1)))",
    "tf.reverse": "tf.reverse(<0>, axis=[1])",
    "tf.tile": "tf.tile(<0>, (1, 2)) | tf.tile(<0>, (1, 1, 2))",
    "tf.reshape": "tf.reshape(<0>, (-1, math.prod(<0>.shape[1:])))",
    "tf.image.resize": "tf.image.resize(<0>, (3, 2))",
}
"""The calls of functions. The first tensor is `<0>`."""

_TENSORFLOW_MODULES: Mapping[str, str] = {
    "math.": """
        abs asin asinh atan ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p log_sigmoid negative
        reciprocal rint round rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh is_finite is_inf is_nan add
        subtract multiply maximum minimum atan2 squared_difference divide_no_nan floormod truediv floordiv pow greater
        greater_equal less less_equal equal not_equal logical_and logical_or logical_xor logical_not reduce_sum
        reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance reduce_logsumexp reduce_euclidean_norm
        reduce_any reduce_all argmax argmin count_nonzero cumsum cumprod cumulative_logsumexp top_k l2_normalize
    """,
    "nn.": "relu relu6 selu elu silu softsign gelu leaky_relu crelu softmax log_softmax",
    "linalg.": "matrix_transpose band_part diag_part trace norm",
    "image.": "flip_left_right flip_up_down rgb_to_grayscale adjust_brightness",
    "": """
        zeros_like ones_like identity stop_gradient cast clip_by_value transpose expand_dims squeeze roll repeat gather
        concat stack split unstack sort argsort one_hot
    """,
}
_TENSORFLOW_FUNCTIONS = frozenset(
    f"tf.{module}{name}" for module, names in _TENSORFLOW_MODULES.items() for name in names.split()
)
_EXCLUDED_FUNCTIONS = frozenset(("ops.empty_like", "ops.fold", "ops.get_item"))
"""Values of `empty_like` are undefined, `fold` takes seconds to compile, and slices call `get_item`."""

# Filters are small: if one is larger than the image, TensorFlow reads uninitialized memory.
_VALUES: Mapping[str, str] = parse_table("""
    axis: -1 | 1 | (1, -1) | [1]
    axes perm: (0, 2, 1) | (0, 1) | (0, 3, 1, 2)
    axis1 kth decimals filter_size top_padding top_cropping left_padding left_cropping right_padding right_cropping: 1
    axis2: 2 | -1
    source: 1 | -1
    destination: -1 | 1
    spatial_dims: (1, 2)
    newshape shape: (-1, math.prod(<0>.shape[1:])) | (-1, 4)
    repeats: 2 | (1, 2)
    shift: 1 | -2
    n k ord strides sequence_stride: 1 | 2
    num target_height target_width: 3
    pad_width: ((0, 0), (1, 1)) | ((0, 0), (0, 0), (1, 1))
    indices_or_sections num_or_size_splits: 2 | [1]
    size: (3, 2) | 2 | (2, 2, 2)
    output_size: (2, 2) | 2
    order: 1 | 0
    num_classes depth: 6
    x_min clip_value_min: -0.5
    x_max clip_value_max: 1.0 | 0.75
    fill_value: 2.0
    constant_values: 1.0
    initial epsilon: 0.5
    delta: 0.25
    seed: 7
    default_value: 0.0 | -1.0
    threshold: 0.25 | 0.5
    q: 0.5 | 50
    max_val: 1.0 | 2.0
    posinf neginf: 9.0
    indices: np.arange(3, dtype="int32") % 2
    gamma beta scale mean variance bias weights offset: np.ones(<0>.shape[-1], "float32")
    kernel filters: np.ones((2, 2, <0>.shape[-1], 3), "float32")
    pool_size block_size: 2
    kernel_size: 2 | (1, 3)
    sigma: (0.5, 0.5)
    sequence_length: 4 | 2
    fft_length: 4
    bottom_padding bottom_cropping: 0
    dtype: "float64" | "float16" | "bfloat16" | "int32" | "bool"
    mode: "same" | "reflect" | "symmetric"
    padding: "same"
    method: "nearest" | "linear"
    interpolation: "nearest" | "bicubic"
    fill_mode: "nearest" | "reflect"
    indexing: "ij"
""")
"""Values by argument."""

_TENSOR_ARGUMENTS = frozenset(("x1", "x2", "x", "y", "b", "other", "target", "output"))
"""Arguments, after the first, that take a tensor."""
_PASSED_ARGUMENTS = frozenset(
    (
        *("axis", "axes", "perm", "axis1", "axis2", "num", "fft_length", "filter_size", "seed"),
        *(f"{side}_{kind}" for side in ("top", "bottom", "left", "right") for kind in ("padding", "cropping")),
    )
)
"""Optional arguments that are always passed: by default the function mixes examples of the batch, does nothing, or is
random."""
_OMITTED_ARGUMENTS = frozenset(
    (
        *("name", "data_format", "sparse", "ragged", "retstep", "axisa", "axisb", "axisc", "has_aux", "return_index"),
        *("return_inverse", "return_counts", "compute_uv", "synchronized", "a_is_sparse", "b_is_sparse", "grad_a"),
        *("grad_b", "window", "value_index", "transpose_a", "adjoint_a", "adjoint_b", "output_type"),
    )
)
"""Optional arguments that are never passed: they have no comparable effect."""
_LIST_ARGUMENTS = ("xs", "arrays", "tensors", "values")


def operations_of(functions: Mapping[str, Sequence[Mapping[str, Any]]], generation: str) -> dict[str, Kind]:
    """A release's operations by name; `functions` has its functions' parameters."""
    weights = {"operator.slice": 8}
    kinds = {name: _kind_of_calls(name, row, weights.get(name, 2), generation) for name, row in OPERATORS.items()}
    for name, parameters in functions.items():
        if name in _EXCLUDED_FUNCTIONS or (name.startswith("tf.") and name not in {*_TENSORFLOW_FUNCTIONS, *CALLS}):
            continue
        kind = (
            _kind_of_calls(name, CALLS[name], 2, generation) if name in CALLS else _kind_of_signature(name, parameters)
        )
        if kind is not None:
            kinds[name] = kind
    return kinds


def _kind_of_calls(name: str, row: str, weight: int, generation: str) -> Kind:
    if generation != "keras":
        row = row.replace("ops.swapaxes(<1>, -1, -2)", "tf.linalg.matrix_transpose(<1>)")
    bases = tuple((("", text),) for text in split_row(row))
    max_count = 2 if "<1>" in row else 1
    return Kind(name, bases, counts=(1, max_count), packing="each", inputs=_inputs_of(name), weight=weight)


def _kind_of_signature(name: str, parameters: Sequence[Mapping[str, Any]]) -> Kind | None:
    """The kind of a function; None without values for a required argument."""
    first, *others = parameters
    base: dict[str, tuple[str, ...]] = {}
    optional: dict[str, tuple[str, ...]] = {}
    min_count = 1
    for parameter in others:
        argument, required = parameter["name"], parameter.get("required", False)
        default = parameter.get("default")
        values = split_row(_VALUES.get(argument, "")) if required else _other_values(argument, default)
        if argument == "axis" and any(word in name for word in ("arg", "cum", "softmax")):
            values = tuple(value for value in values if value[0] not in "[(")
        if required and argument in _TENSOR_ARGUMENTS:
            min_count += 1
        elif required and not values:
            return None
        elif values and (required or (argument in _PASSED_ARGUMENTS and not str(default).startswith("-"))):
            base[argument] = values
        elif values and argument not in _OMITTED_ARGUMENTS:
            optional[argument] = values
    takes_list = first["name"] in _LIST_ARGUMENTS
    rule: PackingRule = "list" if takes_list else "each"
    is_variadic = takes_list or first["name"].startswith("*")
    counts = (min_count, min_count + 2 if is_variadic else min_count)
    return Kind(name, combine(base), optional, counts=counts, packing=rule, inputs=_inputs_of(name), weight=2)


def _inputs_of(name: str) -> tuple[str, ...]:
    """Inputs to try for an operation on images or integers, or none."""
    if any(word in name for word in ("bitwise_", "_shift", "gcd", "lcm")):
        return ("ids", "open-ids", "id")
    return ("rgb", "image") if any(word in name for word in ("image.", "pool", "conv", "to_space", "to_depth")) else ()


def _other_values(argument: str, default: Any) -> tuple[str, ...]:
    """Values for an optional argument, of its default's type but not equal to it."""
    if isinstance(default, bool):
        return (repr(not default),)
    values = split_row(_VALUES.get(argument, ""))
    if isinstance(default, str):
        return tuple(value for value in values if value.startswith('"') and value != f'"{default}"')
    if values:
        return tuple(value for value in values if value != repr(default))
    match default:
        case int():
            return (repr(default + 1),)
        case float():
            return ("0.25" if default == 0.5 else "0.5",)
    return ()


def expression(kind: str, arguments: Arguments, tensors: Sequence[str], packed: str) -> str:
    if len(arguments) == 1 and not arguments[0][0]:
        return arguments[0][1]
    inputs = [f"[{', '.join(tensors)}]"] if packed == "list" else list(tensors)
    return f"{kind}({', '.join((*inputs, *(f'{name}={text}' for name, text in arguments)))})"
