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

_count = 0
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


def tidy(framework: Framework) -> None:
    """Between two trials: forget names, and now and then collect."""
    global _count  # noqa: PLW0603 - likewise
    framework.forget()
    if not _serving:
        return
    _count += 1
    if _count % COLLECT_EVERY == 0:
        gc.collect()
    if _count % FORGET_KERNELS_EVERY == 0:
        framework.forget_kernels()
