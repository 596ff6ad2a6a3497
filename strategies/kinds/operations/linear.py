"""Linear algebra, Fourier transforms, complex numbers."""

from __future__ import annotations

from collections.abc import Mapping

from strategies.graph import Array, Function, Layer, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Gives, Spec, Specs
from strategies.kinds.operations.rules import (
    GRID,
    KNOWN,
    MATRIX,
    NO,
    VECTOR,
    Suits,
    colours,
    each,
    given,
    kept,
    operation,
    several,
    suiting,
    wide,
)


def _square(shape: Dims, layer: Layer) -> Dims:
    """Of a matrix that was made square."""
    return (*shape[:-1], shape[-2])


def _wide(size: int) -> Suits:
    """An array with as many rows as the tensor has columns."""

    def array(spec: Spec, drawn: Value) -> Value:
        return NO if spec.shape[-1] is None else Array((spec.shape[-1], size))

    return array


def _across(spec: Spec, drawn: Value) -> Value:
    return NO if spec.shape[-1] is None else Array((2, spec.shape[-1]))


def _columns(count: int) -> Gives:
    return given(lambda shape, layer: (*shape[:-1], count))


def _fits_array(gives: Gives, axis: int) -> Gives:
    """Where the array suits the tensor's last dimension."""

    def checked(specs: Specs, layer: Layer) -> Specs | None:
        other = layer.arg("x2")
        if not isinstance(other, Array) or other.shape[axis] != specs[0].shape[-1]:
            return None
        return gives(specs, layer)

    return checked


def _of_signal(shape: Dims, layer: Layer) -> Dims | None:
    return None if shape[-1] is None else (*shape[:-1], shape[-1] // 2 + 1)


def _equation(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """One letter for each tensor."""
    text = str(drawn["subscripts"])
    return {"subscripts": text.replace("...i->", "...i,...i->") if len(specs) == 2 and "," not in text else text}


def _summed(specs: Specs, layer: Layer) -> Specs | None:
    text = str(layer.arg("subscripts"))
    if text.count(",") != len(specs) - 1:
        return None
    return (Spec(specs[0].shape if text.endswith("i") else specs[0].shape[:-1], specs[0].dtype),)


def _diagonal(shape: Dims, layer: Layer) -> Dims | None:
    first, second = shape[:2]
    return None if first is None or second is None else (*shape[2:], min(first, second))


_FUNCTIONS: tuple[Value, ...] = (Function("lambda", ("x * 2.0",)), Function("named", ("x * 2.0",)))
_SQUARE = given(_square)
_VECTORS = given(lambda shape, layer: (*shape[:-2], shape[-2]))
_NUMBER = given(lambda shape, layer: shape[:-2])
_PRODUCT: tuple[Value, ...] = ("array",)

KINDS = (
    operation("matmul", _SQUARE, GRID, 2, of=("", "turned")),
    operation("dot", _fits_array(_columns(2), 0), arrange=suiting(x2=_wide(2)), x2=_PRODUCT),
    operation("inner", _fits_array(_columns(2), -1), KNOWN, arrange=suiting(x2=_across), x2=_PRODUCT),
    operation("tensordot", _fits_array(_columns(3), 0), arrange=suiting(x2=_wide(3)), x2=_PRODUCT, axes=(1,)),
    operation(
        "einsum",
        _summed,
        takes=(1, 2),
        leads=("subscripts",),
        arrange=_equation,
        subscripts=("...i->...", "...i->...i"),
    ),
    operation("cross", fits=colours, takes=2),
    *each("outer vdot", lambda name: operation(name, takes=2, then=("mean",))),
    operation("kron", fits=VECTOR, takes=2, then=("mean",)),
    operation("correlate", fits=VECTOR, takes=2, of=("one", "one"), then=("mean",), mode=(LEFT_OUT, "same")),
    operation("corrcoef", fits=wide(VECTOR, 3), then=("mean",)),
    operation("diagonal", given(_diagonal), GRID, offset=(LEFT_OUT, 0), axis1=(1,), axis2=(2,)),
    operation("cdist", given(lambda shape, layer: (shape[0], shape[0])), MATRIX, 2),
    # -- square matrices
    *each("cholesky", lambda name: operation(name, _SQUARE, GRID, of=("definite",), upper=(LEFT_OUT, True))),
    operation("cholesky_inverse", _SQUARE, GRID, of=("factor",), upper=(LEFT_OUT, False)),
    *each("inv", lambda name: operation(name, _SQUARE, GRID, of=("definite",))),
    *each("det logdet", lambda name: operation(name, _NUMBER, GRID, of=("definite",))),
    operation("eigh", several(_VECTORS, _SQUARE), GRID, of=("definite",)),
    operation("eig", _VECTORS, GRID, of=("definite",), then=("first", "real")),
    operation("lu_factor", fits=MATRIX, of=("definite one",), then=("first", "mean")),
    operation("solve", kept, GRID, 2, of=("definite", "")),
    operation("solve_triangular", kept, GRID, 2, of=("factor", ""), lower=(True,)),
    operation("matrix_rank", fits=MATRIX, then=("mean",), tol=(LEFT_OUT, 0.5)),
    operation("pinv", given(lambda shape, layer: (*shape[:-2], shape[-1], shape[-2])), GRID, rcond=(LEFT_OUT, 0.5)),
    operation("lstsq", fits=VECTOR, takes=2, then=("mean",)),
    operation("qr", fits=MATRIX, then=("second", "mean"), mode=(LEFT_OUT, "complete")),
    operation("svd", fits=MATRIX, then=("second", "mean"), full_matrices=(LEFT_OUT, False)),
    operation(
        "jvp",
        takes=2,
        leads=("fun",),
        names=("primals", "tangents"),
        of=("pair", "pair"),
        then=("second",),
        fun=_FUNCTIONS,
    ),
    # -- complex numbers, as pairs of real ones
    *each("fft fft2 ifft2", lambda name: operation(name, several(kept, kept), GRID, of=("complex pair",))),
    operation("rfft", several(given(_of_signal), given(_of_signal)), KNOWN, fft_length=(LEFT_OUT,)),
    operation(
        "irfft", given(lambda shape, layer: (*shape[:-1], 4)), wide(KNOWN, 3), of=("complex pair",), fft_length=(4,)
    ),
    operation("view_as_real", given(lambda shape, layer: (*shape, 2)), of=("complex",)),
    operation("polar", takes=2, then=("real",)),
)
