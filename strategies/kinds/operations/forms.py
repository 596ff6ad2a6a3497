"""How operations are called: what stands before their tensors, what is done to these first and to the result.

A graph file says no more of an operation than its name and its arguments, so that these tables are read where there is
no release at hand. An operation that stands in none of them is called on its tensors as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clonediff.strategies.graph import Value

PREFIXES = ("ops.", "tf.", "operator.")
"""What the names of operations begin with."""


def is_operation(kind: str) -> bool:
    """Whether a kind of a graph is a function of the framework, or an operator, and no layer."""
    return kind.startswith(PREFIXES)


class TensorForm(NamedTuple):
    """How an operation is called.

    `names` is what its tensors are called where their place does not say it. `of` says what each tensor is made first
    ("definite"), `then` what is done to the result ("first"), by the words that a dialect has for it.
    """

    names: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    then: tuple[str, ...] = ()


def _all(names: str, *words: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(names.split(), words)


_LEADING = frozenset(("f", "fun", "function", "cond", "body", "subscripts", "equation"))
_LEADS: Mapping[str, tuple[str, ...]] = {
    "switch": ("index", "branches"),
    "fori_loop": ("lower", "upper", "body_fun"),
    "scan": ("f", "init"),
    "searchsorted": ("sorted_sequence",),
    "full": ("shape",),
    "scatter": ("indices",),
}
_NAMES: Mapping[str, tuple[str, ...]] = {
    "slice_update": ("", "updates"),
    "scatter": ("values",),
    "jvp": ("primals", "tangents"),
    "ctc_loss": ("", "", "target_length", "output_length"),
}
# Keras refuses them on the tensors that models have: on what is not positive definite, no list, no tuple.
_OF: Mapping[str, tuple[str, ...]] = {
    **_all("cholesky inv det logdet eigh eig solve", "definite"),
    **_all("cholesky_inverse solve_triangular", "factor"),
    **_all("fft fft2 ifft2 irfft istft", "complex pair"),
    **_all("diag diagflat vander searchsorted", "flat"),
    **_all("sparse_categorical_crossentropy in_top_k", "classes"),
    **_all("lu_factor", "definite one"),
    **_all("matmul", "", "turned"),
    **_all("view_as_real", "complex"),
    **_all("meshgrid", "flat", "flat"),
    **_all("correlate", "one", "one"),
    **_all("rearrange", "one"),
    **_all("vsplit", "rows"),
    **_all("full", "average"),
    **_all("cond", "any"),
    **_all("where", "above"),
    **_all("select", "above listed", "listed"),
    **_all("depth_to_space", "twice"),
    **_all("take_along_axis", "", "order"),
    **_all("ctc_loss", "classes", "", "single", "lengths"),
    **_all("jvp", "pair", "pair"),
}
# Without it what they give has no batch; what is in an `empty_like` nobody says.
_THEN: Mapping[str, tuple[str, ...]] = {
    **_all(
        """
        outer vdot kron correlate corrcoef matrix_rank lstsq psnr ctc_loss istft in_top_k size ndim allclose unique
        bincount segment_sum segment_max segment_min segment_prod scatter rearrange vstack ravel diag diagflat vander
        full searchsorted cond ssim map_coordinates scale_and_translate geomspace broadcast_to
        """,
        "mean",
    ),
    **_all("nonzero unravel_index lu_factor meshgrid vsplit stft", "first", "mean"),
    **_all("qr svd ctc_decode", "second", "mean"),
    **_all("scan jvp", "second"),
    "ops.slice": ("mean",),  # that of TensorFlow takes -1 for the batch
    "eig": ("first", "real"),
    "polar": ("real",),
    "multi_hot": ("float",),
    "empty_like": ("nothing",),
}


def leading(kind: str, arguments: Iterable[str]) -> tuple[str, ...]:
    """Those of the arguments that stand before an operation's tensors."""
    leads = _LEADS.get(kind.rpartition(".")[2], _LEADING)
    return tuple(each for each in arguments if each in leads)


def form_of(kind: str) -> TensorForm:
    """How an operation is called, whether or not a release is at hand."""
    name = kind.rpartition(".")[2]
    if kind.startswith("operator."):
        return TensorForm(of=_OF["matmul"]) if name == "matmul" else TensorForm()
    return TensorForm(_NAMES.get(name, ()), _OF.get(name, ()), _THEN.get(kind, _THEN.get(name, ())))


_PART = re.compile(r"-?\d+|None|\.\.\.|(-?\d+)?:(-?\d+)?(:-?\d+)?")


def parts(key: Value) -> tuple[str, ...]:
    """What stands between the commas of a slice; nothing where it is none."""
    if not isinstance(key, str) or key[:1] != "[" or key[-1:] != "]":
        return ()
    found = tuple(part.strip() for part in key[1:-1].split(","))
    return found if all(_PART.fullmatch(part) for part in found) else ()
