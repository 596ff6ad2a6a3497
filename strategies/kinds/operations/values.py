"""What is worth trying for an argument of an operation, by its name, or by what it is where nobody says it.

Owns the values, and those that follow from the tensor: it proposes them, and Keras accepts or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from clonediff.strategies.graph import Array, Function, Seq, Value
from clonediff.strategies.kinds.arguments import Table
from clonediff.strategies.kinds.kind import LEFT_OUT, NO_PLAIN_DEFAULT, Parameter, Spec, Specs, listed, tupled
from clonediff.strategies.kinds.lambdas import BATCH

BODIES = (
    "lambda v: v + 1.0",
    "lambda v: 0.5 * v",
    "lambda v: ops.max(v) < 3.0",
    "lambda i, v: v + 1.0",
    "lambda i, v: 0.5 * v",
    "lambda carry, v: (carry + v, carry + v)",
    "lambda a, b: a + b",
    "lambda a, b: ops.maximum(a, b)",
    "lambda: ops.ones((1,))",
    "lambda: ops.zeros((1,))",
    "lambda v: keras.random.dropout(v, 0.5, seed=7)",
    "lambda v: v + keras.random.normal(ops.shape(v), seed=7)",
    "np.array([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0], [3.0, 3.0]])",
    "np.array([[0.0, 1.0], [0.0, 3.0], [3.0, 0.0], [3.0, 2.0]])",
)
"""What stands in the catalogue as it is written, with the names of Keras 3."""

TENSOR = ("<tensor>",)
"""The values of an argument that is always a tensor of the model."""


def _body(*numbers: int) -> tuple[Value, ...]:
    return tuple(Function("body", (BODIES[number],)) for number in numbers)


_FUNCTIONS: tuple[Value, ...] = tuple(
    Function(form, (text,))
    for form, text in (
        ("lambda", "x * 2.0"),
        ("named", "x + 1.0"),
        ("closure", "x * 2.0"),
        ("partial", "x * 2.0"),
        ("module", "x * 2.0"),
        ("method", "x * 2.0"),
    )
)
_ONE, _THREE = Array((1,)), Array((3,))
_SECOND: tuple[Value, ...] = (2.0, 0.5, "<one>", 3)

_VALUES: Table = {
    # -- what stands for a second tensor, where there is none
    **dict.fromkeys(("x1", "x2", "y", "other"), _SECOND),
    # -- axes
    "axis": (-1, 1, tupled(1, -1), listed(1)),
    "axes": ("<last axis first>", "<first axes swapped>"),
    "perm": ("<last axis first>", "<first axes swapped>"),
    "axis1": (1,),
    "axis2": (2, -1),
    "source": (1, -1),
    "destination": (-1, 1),
    "spatial_dims": (tupled(1, 2),),
    # -- shapes and sizes
    **dict.fromkeys(("newshape", "shape"), ("<flat>", "<rows>")),
    "repeats": (2,),
    "multiples": ("<twice>",),
    "pad_width": ("<widths>",),
    "paddings": ("<widths>",),
    "shift": (1, -2),
    "indices_or_sections": (2, listed(1)),
    "num_or_size_splits": (2,),
    **dict.fromkeys(("start_indices", "begin"), ("<from the first>", "<from the second>")),
    "size": (tupled(3, 2), 2, tupled(2, 2, 2)),
    "output_size": (tupled(2, 2), 2),
    "output_shape": (tupled(2, 5, 5, 2),),
    "minlength": (6,),
    "num_segments": (2,),
    "num": (3,),
    "N": (3,),
    "n": (1, 2),
    "k": (1, 2, -1),
    "kth": (1,),
    "decimals": (1,),
    "order": (1, 0),
    "ord": (1, 2),
    "offset": (0, "<channels>"),
    "num_lower": (0, -1),
    "num_upper": (-1, 1),
    **dict.fromkeys(("num_classes", "depth"), (6,)),
    # -- numbers
    **dict.fromkeys(("x_min", "clip_value_min"), (-0.5, "<one>")),
    **dict.fromkeys(("x_max", "clip_value_max"), (1.0, 0.75)),
    "fill_value": (2.0, "<one>"),
    "constant_values": (1.0,),
    "default_value": (0.0, -1.0),
    "threshold": (0.25, 0.5),
    "initial": (0.5,),
    "tol": (0.5,),
    "rcond": (0.5,),
    "epsilon": (0.5,),
    **dict.fromkeys(("posinf", "neginf"), (9.0,)),
    "q": (0.5, 0.25),
    "delta": (0.25,),
    "max_val": (1.0, 2.0),
    "seed": (7,),
    # -- arrays
    "indices": (Array((1,), "int32"), Array((3,), "int32")),
    "segment_ids": (Array((BATCH,), "int32"),),
    "bins": (_THREE,),
    "sorted_sequence": (_THREE,),
    **dict.fromkeys(("gamma", "beta", "scale", "mean", "variance", "bias", "weights"), ("<channels>",)),
    **dict.fromkeys(("kernel", "filters"), ("<windows>",)),
    "depthwise_kernel": ("<a window each>",),
    "pointwise_kernel": ("<mixes channels>",),
    "coordinates": (Array((4, 3)),),
    "transform": (Array((8,)),),
    "translation": (Array((2,)),),
    # -- windows
    **dict.fromkeys(("pool_size", "ksize", "block_size"), (2,)),
    "kernel_size": (2, tupled(1, 3)),
    "sigma": (tupled(0.5, 0.5),),
    "filter_size": (1,),  # through one that is larger than an image TensorFlow reads what is in memory
    "strides": (1, 2),
    "sequence_length": (4, 2),
    "sequence_stride": (1, 2),
    "fft_length": (4,),
    "sequence_lengths": ("<steps>",),
    "window": (None,),
    **dict.fromkeys(("top_padding", "left_padding", "right_padding"), (1,)),
    **dict.fromkeys(("top_cropping", "left_cropping", "right_cropping"), (1,)),
    **dict.fromkeys(("bottom_padding", "bottom_cropping"), (0,)),
    # -- words
    "dtype": ("float64", "float16", "bfloat16", "int32", "bool"),
    "mode": ("same", "reflect", "symmetric", "complete"),
    "padding": ("same",),
    "method": ("nearest", "linear"),
    "interpolation": ("nearest", "bicubic"),
    "fill_mode": ("nearest", "reflect"),
    "indexing": ("ij",),
    "side": ("right",),
    "strategy": ("beam_search",),
    "direction": ("DESCENDING",),
    "pattern": ("a b -> b a", "a b -> (a b)"),
    "subscripts": ("...i->...", "...i->...i", "...i,...i->..."),
    "equation": ("...i->...", "...i,...i->..."),
    # -- functions
    "f": (*_FUNCTIONS, *_body(10, 11)),
    **dict.fromkeys(("fun", "function"), _FUNCTIONS),
    "true_fn": _body(8),
    "false_fn": _body(9),
    "cond": _body(2),
    "body": _body(0),
    "body_fun": _body(3, 4),
    "branches": (Seq(_body(0, 1)),),
    "index": (1, 0),
    "lower": (0, 1),
    "upper": (3,),
    "maximum_iterations": (3, 2),
    "start_points": _body(12),
    "end_points": _body(13),
}

_OF_FUNCTIONS: Mapping[str, Table] = {
    "dot": {"x2": ("<columns>",)},
    "tensordot": {"x2": ("<columns>",), "b": ("<columns>",), "axes": (1,)},
    "inner": {"x2": ("<across>",)},
    "isin": {"x2": (_THREE, 1.0)},
    "ldexp": {"x2": (2, Array((1,), "int32"))},
    "moments": {"axes": (listed(1), listed(-1))},
    "rot90": {"axes": (tupled(1, 2),)},
    "reverse": {"axis": (listed(1), listed(-1), listed(1, -1))},
    "expand_dims": {"axis": (-1, 1)},
    "resize": {"size": (tupled(3, 2),)},
    "one_hot": {"axis": (-1, 1)},
    "cross": {"x2": TENSOR, "axis": (-1, 1)},
    "geomspace": {"axis": ()},
    "unique": {"axis": (), "size": (4,), "fill_value": (0.0,)},
    "where": {"x1": (0.0,), "x2": (1.0,), "x": (0.0,), "y": (1.0,)},
    "broadcast_to": {"shape": ("<batch>",)},
    "slice": {"shape": ("<all but the last>",), "size": ("<all but one>",)},
    "scatter": {"indices": (Array((BATCH, 1), "int32"),), "shape": ("<three>",)},
    "scatter_update": {"indices": (listed(listed(0, 0)),), "updates": (_ONE,)},
    "take_along_axis": {"indices": TENSOR, "axis": (-1,)},
    "full": {"shape": (tupled(3), tupled(2, 3)), "fill_value": TENSOR},
    "unravel_index": {"shape": (tupled(2, 3),)},
    "top_k": {"k": (1, 2)},
    "diag_part": {"k": ()},
    "unstack": {"num": ()},
    "bincount": {"weights": ()},
    "percentile": {"q": (50, 25)},
    "nanpercentile": {"q": (50, 25)},
    "dot_product_attention": {"scale": (0.5,), "bias": ()},
    "scale_and_translate": {"scale": (Array((2,)),), "method": ("linear", "cubic")},
    "batch_normalization": {"axis": (-1,), "offset": ("<channels>",)},
    "stft": {"sequence_length": (4,)},
    "istft": {"sequence_length": (4,), "sequence_stride": (2,)},
    "scan": {"f": _body(5), "init": ("<all ones>",)},
    "associative_scan": {"f": _body(6, 7)},
}
"""What an argument means in one function only, by the function's name."""

_OF_TENSORFLOW: Table = {"padding": ("VALID", "SAME"), "mode": ("REFLECT",)}

_SAID = frozenset(
    (
        *("axis", "axes", "perm", "axis1", "axis2", "num", "fft_length", "filter_size", "maximum_iterations", "seed"),
        *(f"{side}_{what}" for side in ("top", "bottom", "left", "right") for what in ("padding", "cropping")),
    )
)
"""Optional arguments that are given all the same: without them a function takes the batch for one axis among others, or
does nothing, or another thing each time."""
_UNSAID = frozenset(
    (
        *("name", "data_format", "sparse", "ragged", "retstep", "axisa", "axisb", "axisc", "has_aux", "return_index"),
        *("return_inverse", "return_counts", "compute_uv", "synchronized", "a_is_sparse", "b_is_sparse", "grad_a"),
        *("grad_b", "window", "value_index"),
    )
)
"""Arguments of which nothing comes that a model could be compared by."""


def is_said(parameter: Parameter) -> bool:
    """Whether an argument is always given. An axis that is counted from the end is no batch."""
    default = parameter.default
    counted = isinstance(default, int) and not isinstance(default, bool) and default < 0
    return parameter.required or (parameter.name in _SAID and not counted)


def values(kind: str, parameter: Parameter) -> tuple[Value, ...]:
    """What to try for an argument of a function; nothing where nobody knows, or nothing is worth it."""
    own = _OF_FUNCTIONS.get(kind.rpartition(".")[2], {})
    name, default = parameter.name, parameter.default
    if name in own:
        return own[name]
    if name in _UNSAID and not parameter.required:
        return ()
    if kind.startswith("tf.") and name in _OF_TENSORFLOW:
        return _OF_TENSORFLOW[name]
    found = _VALUES.get(name, () if parameter.required else _others(default))
    return tuple(each for each in found if parameter.required or _alike(each, default))


def _others(default: Value) -> tuple[Value, ...]:
    """Other values than the default, of its type."""
    match default:
        case bool():
            return (not default,)
        case int():
            return (default + 1,)
        case float():
            return (0.25 if default == 0.5 else 0.5,)
    return ()


def _alike(value: Value, default: Value) -> bool:
    """Whether a value is another one than the default, and a word, or true or false, where that is one."""
    if default is None or default == NO_PLAIN_DEFAULT:
        return True
    word = isinstance(value, str) and not value.startswith("<")
    return value != default and (word, isinstance(value, bool)) == (isinstance(default, str), isinstance(default, bool))


# -- values that follow from the first tensor

OfTensor: TypeAlias = Callable[[Spec], Value]


def _wide(*before: int, after: tuple[int, ...] = ()) -> OfTensor:
    """An array with the tensor's last dimension among its own."""

    def array(spec: Spec) -> Value:
        width = spec.shape[-1] if spec.shape else None
        if width is None:
            raise ValueError("a dimension is open")
        return Array((*before, width, *after))

    return array


def _sizes(spec: Spec) -> tuple[int, ...]:
    sizes = tuple(size for size in spec.shape if size is not None)
    if not sizes or len(sizes) < spec.rank:
        raise ValueError("a dimension is open")
    return sizes


def _each(most: Value, last: Value) -> OfTensor:
    """One for each axis, the batch among them; another for the last."""
    return lambda spec: tupled(*(most,) * spec.rank, last)


def _one(spec: Spec) -> Value:
    return Array((1,), "int32" if "int" in spec.dtype else spec.dtype)


_OF_THE_FIRST: Mapping[str, OfTensor] = {
    "<one>": _one,
    "<channels>": _wide(),
    "<columns>": _wide(after=(2,)),
    "<across>": _wide(2),
    "<windows>": _wide(2, 2, after=(3,)),
    "<a window each>": _wide(2, 2, after=(1,)),
    "<mixes channels>": _wide(1, 1, after=(3,)),
    "<last axis first>": lambda spec: tupled(0, spec.rank, *range(1, spec.rank)),
    "<first axes swapped>": lambda spec: tupled(0, *(2, 1)[-spec.rank :], *range(3, spec.rank + 1)),
    "<flat>": lambda spec: tupled(-1, math.prod(_sizes(spec))),
    "<rows>": lambda spec: tupled(-1, math.prod(_sizes(spec)[:-1]), _sizes(spec)[-1]),
    "<twice>": _each(1, 2),
    "<widths>": _each(tupled(0, 0), tupled(1, 1)),
    "<from the first>": _each(0, 0),
    "<from the second>": _each(0, 1),
    "<batch>": lambda spec: tupled(BATCH, *_sizes(spec)),
    "<three>": lambda spec: tupled(3, *_sizes(spec)),
    "<all but the last>": lambda spec: tupled(BATCH, *_sizes(spec)[:-1], _sizes(spec)[-1] - 1),
    "<all but one>": lambda spec: tupled(*(-1,) * spec.rank, _sizes(spec)[-1] - 1),
    "<all ones>": lambda spec: Array(_sizes(spec), spec.dtype),
    "<steps>": lambda spec: listed(*_sizes(spec)[:1] * BATCH),
}
"""What is drawn as one of these words becomes a value that is made for the first tensor."""


def with_values_of_tensors(
    specs: Specs, drawn: Mapping[str, Value], *, stand_ins: tuple[str, ...] = (), least: int = 1
) -> dict[str, Value] | None:
    """The arguments that were drawn, with values made for the tensors; None where there is no such value.

    Of the arguments that stand for further tensors, as many are left out as there are tensors above the `least`.
    """
    args = dict(drawn)
    for name in stand_ins[: len(specs) - least]:
        args[name] = LEFT_OUT
    try:
        for name, value in args.items():
            if isinstance(value, str) and value in _OF_THE_FIRST:
                args[name] = _OF_THE_FIRST[value](specs[0])
    except ValueError:
        return None
    return args
