"""Digests of arrays: equal if dtype, shape and bytes are; all NaNs are equal."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

import numpy as np

from clonediff.harness.observation import Leaf

MAX_KEPT_BYTES = 64 * 1024 * 1024
_dtype_name = functools.lru_cache(maxsize=None)(str)
"""The name of a dtype, cached, since NumPy is slow."""


def short_hash(data: Any, suffix: bytes = b"") -> str:
    digest = hashlib.blake2b(data, digest_size=12)
    digest.update(suffix)
    return digest.hexdigest()


class Digests:
    """One trial's digests, and the arrays that fit into `limit` bytes."""

    def __init__(self, limit: int = MAX_KEPT_BYTES) -> None:
        self._arrays: dict[str, Any] = {}
        self._free_bytes = limit

    def digest(self, array: Any) -> str:
        dtype = array.dtype
        if dtype.kind in "OSU":
            body: Any = json.dumps([as_text(item) for item in array.flat]).encode()
        else:
            array = with_equal_nans(array) if dtype.kind in "fcV" else array
            body = _bytes(array)
        digest = short_hash((f"{_dtype_name(dtype)}{array.shape}").encode(), body)
        # An array takes at most half of the free bytes, so small ones fit.
        if digest not in self._arrays and array.nbytes * 2 <= self._free_bytes:
            self._arrays[digest] = array
            self._free_bytes -= array.nbytes
        return digest

    def leaf(self, array: Any) -> Leaf:
        return Leaf(array.shape, _dtype_name(array.dtype), self.digest(array))

    def compare(self, left: str, right: str) -> dict[str, Any]:
        """How two digests' arrays differ, or which were not kept."""
        missing = [digest for digest in (left, right) if digest not in self._arrays]
        if missing:
            return {"missing": missing}
        return compare_arrays(self._arrays[left], self._arrays[right])


def _bytes(array: Any) -> Any:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def are_equal(left: Any, right: Any) -> bool:
    """Whether two arrays are equal, bit for bit."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    has_bytes = left.dtype.kind not in "OSU"  # the bytes of objects are pointers
    return bool(np.array_equal(_bytes(left), _bytes(right)) if has_bytes else left.tolist() == right.tolist())


def with_equal_nans(array: Any) -> Any:
    """The array, with equal bits for all NaNs."""
    try:
        nans = np.isnan(array)
    except TypeError:
        return array
    if nans.any():
        array = array.copy()
        array[nans] = np.nan
    return array


def compare_arrays(left: Any, right: Any) -> dict[str, Any]:
    """How two arrays differ. A NaN in only one counts, except in `max_abs`."""
    report: dict[str, Any] = {
        "shape": [list(left.shape), list(right.shape)],
        "dtype": [str(left.dtype), str(right.dtype)],
    }
    if left.shape != right.shape:
        return report
    differs = left != right
    is_numeric = left.dtype.kind not in "OSU" and right.dtype.kind not in "OSU"
    if is_numeric:
        first, second = (side.astype(np.complex128 if side.dtype.kind == "c" else np.float64) for side in (left, right))
        differs = differs & ~(np.isnan(first) & np.isnan(second))
        finite = np.isfinite(first) & np.isfinite(second)
        distance = np.abs(first - second)[finite]
        report["max_abs"] = float(distance.max()) if distance.size else None
    report["count"] = int(np.count_nonzero(differs))
    if report["count"]:
        index = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(differs)))[: max(left.ndim, 0)]
        report["first"] = list(index)
        report["values"] = [as_text(left[index]), as_text(right[index])]
    return report


def as_text(item: Any) -> str:
    if isinstance(item, bytes):
        return item.decode("utf-8", "backslashreplace")
    return str(item)
