"""Which names Keras gives to what an operation becomes, in the order in which all of it is made."""

from __future__ import annotations

from clonediff.strategies.kinds.operations import form_of

_Words = tuple[tuple[str, ...], tuple[str, ...]]
_OPERATORS: dict[str, _Words] = {
    "half": (("true_divide",), ("tf.math.truediv",)),
    "from_one": (("subtract",), ("tf.math.subtract",)),
    "first": (("get_item",), ("tf.__operators__.getitem",)),
    "narrow": (("get_item",), ("tf.__operators__.getitem",)),
    "slice": (("get_item",), ("tf.__operators__.getitem",)),
    "of_batch": (("get_item", "add"), ("tf.__operators__.getitem", "tf.__operators__.add")),
    "positive": (("get_item", "greater"), ("tf.__operators__.getitem", "tf.math.greater")),
    "add": (("add",), ("tf.__operators__.add",)),
    "divide": (("true_divide",), ("tf.math.truediv",)),
    "floor_divide": (("floor_divide",), ("tf.math.floordiv",)),
    "mod": (("mod",), ("tf.math.floormod",)),
    "power": (("power",), ("tf.math.pow",)),
    "matmul": (("matmul",), ("tf.linalg.matmul",)),
    "equal": (("equal",), ("tf.__operators__.eq",)),
    "not_equal": (("not_equal",), ("tf.__operators__.ne",)),
    "absolute": (("absolute",), ("tf.math.abs",)),
    "and": (("logical_and",), ("tf.math.logical_and",)),
    "or": (("logical_or",), ("tf.math.logical_or",)),
    "xor": (("logical_xor",), ("tf.math.logical_xor",)),
    "invert": (("logical_not",), ("tf.math.logical_not",)),
}
"""What an operator becomes, where that has not its own name."""
_CLASSES = {
    "cdist": "c_dist",
    "batch_normalization": "batch_norm",
    "hard_swish": "hard_silu",
    "layer_normalization": "layer_norm",
    "rms_normalization": "rms_norm",
    "swish": "silu",
    "abs": "absolute",
    "allclose": "all_close",
    "conj": "conjugate",
    "isin": "is_in",
    "searchsorted": "search_sorted",
    "extract_patches_3d": "extract_patches",
}
"""What a function of Keras 3 becomes, where its class has another name."""

_DEFINITE = (("swapaxes", "matmul", "add"), ("tf.linalg.matmul", "tf.__operators__.add"))
_MADE: dict[str, _Words] = {
    "above": (("greater",), ("tf.math.greater",)),
    "above listed": (("greater",), ()),
    "any": (("greater", "any"), ()),
    "classes": (("argmax",), ()),
    "order": (("argsort",), ()),
    "average": (("mean",), ()),
    "complex": (("polar",), ()),
    "one": (("get_item",), ()),
    "twice": (("concatenate",), ()),
    "lengths": (("get_item", "ones_like", "sum", "cast"), ()),
    "single": (("get_item", "ones_like", "cast"), ()),
    "flat": (("ravel",), ()),
    "rows": (("reshape",), ()),
    "turned": (("swapaxes",), ("tf.linalg.matrix_transpose",)),
    "definite": _DEFINITE,
    "definite one": (("get_item", "get_item", "transpose", "matmul", "add"), ()),
    "factor": ((*_DEFINITE[0], "cholesky"), ()),
    "then real": (("real",), ()),
    "then float": (("cast",), ()),
    "then mean": (("mean", "multiply"), ("tf.math.reduce_mean", "tf.math.multiply")),
    "then nothing": (("zeros_like",), ()),
}
"""What is made of a tensor first, or of a result, by the word of the table that says so."""


def operation_names(kind: str, tensors: int, older: bool) -> tuple[str, ...]:
    """The names, numbers aside, of all that one call of an operation on so many tensors makes."""
    form = form_of(kind)
    first = [_MADE.get(how, ((), ()))[older] for how in form.of[:tensors]]
    last = [_MADE.get(f"then {how}", ((), ()))[older] for how in form.then]
    return tuple(name for names in (*first, _own(kind, older), *last) for name in names)


def _own(kind: str, older: bool) -> tuple[str, ...]:
    place, _, name = kind.rpartition(".")
    if place == "operator":
        return _OPERATORS.get(name, ((name,), (f"tf.math.{name}",)))[older]
    return (kind,) if older else (_CLASSES.get(name, name),)
