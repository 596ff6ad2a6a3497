"""How far two devices, or two backends, may be apart, by dtype. The one table; zero means zero."""

from __future__ import annotations

import math
from typing import NamedTuple


class Tolerance(NamedTuple):
    """Relative to the expected value, and absolute; an element passes within either added up, as NumPy has it."""

    relative: float
    absolute: float


TOLERANCE: dict[str, Tolerance] = {
    "float64": Tolerance(1e-9, 1e-9),
    "float32": Tolerance(1e-4, 1e-5),
    "float16": Tolerance(1e-2, 1e-3),
    "bfloat16": Tolerance(5e-2, 1e-2),
    "complex64": Tolerance(1e-4, 1e-5),
    "complex128": Tolerance(1e-9, 1e-9),
}
"""Sums taken in another order: some 100 roundings of float32 and float64, some 10 of the halves. Others are exact."""

EXACT = Tolerance(0.0, 0.0)


def tolerance(dtype: str) -> Tolerance:
    """The tolerance of a dtype; exact for integers, booleans, text and everything else.

    A prefix names the kind of tensor: "SparseTensor:float32".
    """
    return TOLERANCE.get(dtype.rpartition(":")[2], EXACT)


def coarser(dtype: str, other: str) -> str:
    """That of two dtypes which allows more. What is exact stays so: an integer is no rounded number."""
    if tolerance(dtype) == EXACT:
        return dtype
    return max((dtype, other), key=tolerance)


def close(expected: float, found: float, dtype: str) -> bool:
    """Whether two elements agree. A NaN agrees with a NaN only, an infinity with itself."""
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    if math.isinf(expected) or math.isinf(found):
        return expected == found
    relative, absolute = tolerance(dtype)
    return abs(expected - found) <= absolute + relative * abs(expected)
