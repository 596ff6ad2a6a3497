"""Operations beside layers: functions of the framework, and operators.

Which there are and what arguments they have is read from the release; whether a call is possible, and what comes of it,
Keras is asked. A kind has the name of its function in the framework; a dialect says how an operator is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from clonediff.strategies.graph import Array, Value
from clonediff.strategies.kinds.kind import LEFT_OUT, Kind, Parameter, Parameters
from clonediff.strategies.kinds.operations.forms import form_of, is_operation, leading, parts
from clonediff.strategies.kinds.operations.values import BODIES, TENSOR, is_said, values, with_values_of_tensors

_OF_TENSORFLOW: Mapping[str, str] = {
    "math.": """
        abs asin asinh atan ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p log_sigmoid negative
        reciprocal rint round rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh is_finite is_inf is_nan add
        subtract multiply maximum minimum atan2 squared_difference divide_no_nan floormod truediv floordiv pow greater
        greater_equal less less_equal equal not_equal logical_and logical_or logical_xor logical_not reduce_sum
        reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance reduce_logsumexp reduce_euclidean_norm
        reduce_any reduce_all argmax argmin count_nonzero cumsum cumprod cumulative_logsumexp top_k l2_normalize
    """,
    "nn.": """
        relu relu6 selu elu silu softsign gelu leaky_relu crelu softmax log_softmax bias_add moments conv2d max_pool2d
        avg_pool2d
    """,
    "linalg.": "matmul matrix_transpose band_part diag_part trace norm inv cholesky det solve svd qr",
    "image.": "resize flip_left_right flip_up_down rgb_to_grayscale adjust_brightness",
    "": """
        zeros_like ones_like identity stop_gradient cast clip_by_value where reshape transpose expand_dims squeeze
        reverse roll tile repeat pad slice gather concat stack split unstack sort argsort one_hot tensordot einsum
    """,
}
TENSORFLOW = frozenset(f"tf.{place}{name}" for place, names in _OF_TENSORFLOW.items() for name in names.split())
"""The functions of TensorFlow that are drawn; it has thousands."""

NOT_DRAWN: Mapping[str, str] = {
    "ops.fold": "each call of it compiles for seconds (keras/src/backend/tensorflow/nn.py:1897)",
    "ops.get_item": "a slice is one",
}
"""Why a function of Keras is none."""

_STANDS = frozenset(("x1", "x2", "x", "y", "b", "other"))
"""Arguments after the first that are a tensor, or something else that stands for one."""
_MAY_STAND = ("where",)
"""Functions in which an optional argument is a tensor as well."""
_IN_LISTS = ("stack", "concat")
_LISTS = ("xs", "arrays", "tensors")
_MOST = 3
"""So many tensors are put together at most."""


def operations_of(functions: Mapping[str, Parameters | None]) -> Mapping[str, Kind]:
    """The operations of a release, by what it says of its functions; operators are everywhere.

    What is drawn of all their arguments goes through `arrange`: `options` are always given, `more` may be.
    """
    found = dict(OPERATORS)
    for name, parameters in functions.items():
        if parameters is None or name in NOT_DRAWN or (name.startswith("tf.") and name not in TENSORFLOW):
            continue
        kind = _of_function(name, parameters)
        if kind is not None:
            found[name] = kind
    return found


def _of_function(name: str, parameters: Parameters) -> Kind | None:
    """The operation that a function is; None where nobody knows what to give it."""
    short = name.rpartition(".")[2]
    leads = leading(name, (each.name for each in parameters))
    options: dict[str, tuple[Value, ...]] = {}
    more: dict[str, tuple[Value, ...]] = {}
    rest = list[Parameter]()
    for each in parameters:
        if each.name in leads:
            options[each.name] = values(name, each)
        else:
            rest.append(each)
    if not rest or rest[0].keyword_only or not all(options.values()):
        return None
    least, stand_ins = 1, list[str]()
    for each in rest[1:]:
        tried = values(name, each)
        if tried == TENSOR or (each.required and not tried):
            least += 1
        elif each.name in _STANDS and (each.required or short in _MAY_STAND):
            options[each.name] = tried
            stand_ins.append(each.name)
        elif tried:
            (options if is_said(each) else more)[each.name] = tried
    in_list = short in _IN_LISTS or (rest[0].name in _LISTS and not leads)
    many = rest[0].name.startswith("*")
    return _operation(
        name,
        (least, _MOST if in_list else least + len(stand_ins[:1]) + many),
        options,
        more,
        stand_ins=tuple(stand_ins[:1]),
        in_list=in_list,
    )


def _operation(
    name: str,
    takes: tuple[int, int],
    options: Mapping[str, tuple[Value, ...]],
    more: Mapping[str, tuple[Value, ...]] | None = None,
    *,
    stand_ins: tuple[str, ...] = (),
    in_list: bool = False,
    weight: int = 2,
) -> Kind:
    return Kind(
        name,
        options=options,
        more=more or {},
        takes=takes,
        pass_as="list" if in_list else "each",
        arrange=partial(with_values_of_tensors, stand_ins=stand_ins, least=takes[0]),
        family="operations",
        shared=False,
        weight=weight,
    )


_NUMBERS: tuple[Value, ...] = (2.0, 0.5, 3, Array((1,)), 0.0)
_KEYS = (
    "[:, 0]",
    "[:, 1:]",
    "[..., 0]",
    "[..., :1]",
    "[..., -1]",
    "[:, :-1]",
    "[:, ::2]",
    "[:, ::-1]",
    "[..., None]",
    "[:, None]",
    "[:, -2:]",
    "[:, :, 0]",
    "[:, 1:, :1]",
    "[:, -1, None]",
)
_BATCH_KEYS = ("[0]", "[-1]")


_ON_ONE = "half negative from_one first narrow positive invert absolute round"
_ON_TWO = "add subtract multiply divide floor_divide mod power less less_equal greater greater_equal equal not_equal"


def _operators() -> Iterator[Kind]:
    for name in _ON_ONE.split():
        yield _operation(f"operator.{name}", (1, 1), {})
    for name in _ON_TWO.split():
        options = {"other": _NUMBERS, "left": (LEFT_OUT, True)}
        yield _operation(f"operator.{name}", (1, 2), options, stand_ins=("other",))
    for name in ("matmul", "and", "or", "xor"):
        yield _operation(f"operator.{name}", (2, 2), {})
    yield _operation("operator.slice", (1, 1), {"key": _KEYS}, weight=8)
    yield _operation("operator.of_batch", (1, 1), {"key": _BATCH_KEYS})


OPERATORS: Mapping[str, Kind] = {kind.name: kind for kind in _operators()}
"""Operators on tensors, and slices of them, which are written alike for every framework."""

__all__ = [
    "BODIES",
    "NOT_DRAWN",
    "OPERATORS",
    "TENSORFLOW",
    "form_of",
    "is_operation",
    "leading",
    "operations_of",
    "parts",
]
