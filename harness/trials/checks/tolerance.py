"""How far two devices, or two backends, may be apart, by dtype. The one table; zero means zero."""

from __future__ import annotations

TOLERANCE = {
    "float64": (1e-9, 1e-9),
    "float32": (1e-4, 1e-5),
    "float16": (1e-2, 1e-3),
    "bfloat16": (5e-2, 1e-2),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-9, 1e-9),
}
"""Relative to the expected value, and absolute; an element passes within either added up, as NumPy has it.

Sums taken in another order: some 100 roundings of float32 and float64, some 10 of the halves. Others are exact.
"""
EXACT = (0.0, 0.0)


def tolerance(dtype: str) -> tuple[float, float]:
    """The tolerance of a dtype; exact for integers, booleans, text and everything else.

    A prefix names the kind of tensor: "SparseTensor:float32".
    """
    return TOLERANCE.get(dtype.rpartition(":")[2], EXACT)


def coarser(dtype: str, other: str) -> str:
    """That of two dtypes which allows more. What is exact stays so: an integer is no rounded number."""
    return dtype if tolerance(dtype) == EXACT else max((dtype, other), key=tolerance)
