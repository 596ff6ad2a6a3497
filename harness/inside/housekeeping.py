"""Memory kept flat over thousands of trials, without a full collection for each.

Models are cycles of objects, so that somebody has to collect them. What was there before the first trial is frozen, so
that a collection walks over the last trials only.
"""

from __future__ import annotations

import functools
import gc
import sys
import typing

from .frameworks.interface import Framework

COLLECT_EVERY = 16
FORGET_KERNELS_EVERY = 512
"""So many trials are between two collections, and between two times that the backend forgets its kernels."""
QUESTION = 1 / 16
"""As much of a trial is a call that is tried: a layer or two, where a trial has three models."""

_count = 0.0
_serving = False


def take_over() -> None:
    """Freeze what there is and collect by count from now on. For a process of our own only."""
    global _serving  # noqa: PLW0603 - the collector is a process-wide thing
    _serving = True
    _remember_protocols()
    gc.collect()
    gc.freeze()
    gc.disable()


def _remember_protocols() -> None:
    """Let Python look at a protocol once; until 3.12 it does at each `isinstance`, of which TensorFlow asks many."""
    for name in ("_get_protocol_attrs", "_is_callable_members_only"):
        found = getattr(typing, name, None)
        if found is not None and sys.version_info < (3, 12):
            setattr(typing, name, functools.lru_cache(maxsize=None)(found))


def tidy(framework: Framework, part: float = 1) -> None:
    """Before a trial, or what is such a `part` of one: forget names, and now and then collect."""
    global _count  # noqa: PLW0603 - likewise
    framework.forget()
    if not _serving:
        return
    before, _count = _count, _count + part
    if before // COLLECT_EVERY != _count // COLLECT_EVERY:
        gc.collect()
    if before // FORGET_KERNELS_EVERY != _count // FORGET_KERNELS_EVERY:
        framework.tensors.forget_kernels()
