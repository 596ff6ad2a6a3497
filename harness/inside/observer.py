"""The observer of a trial, and garbage collection between trials.

Models are reference cycles, which only the garbage collector frees. A worker collects every few trials, and freezes
all earlier objects, so that a collection only visits the latest trials.
"""

from __future__ import annotations

import functools
import gc
import re
import sys
import typing
from typing import Any

from clonediff.harness.inside.digests import Digests
from clonediff.harness.inside.frameworks.interface import Framework

_COLLECT_EVERY = 64
_FORGET_KERNELS_EVERY = 512
"""Numbers of trials between two collections, and two clearings of the kernel cache."""

_count = 0
_serving = False


class Observer:
    """The framework, seed and digests of one trial, with a number for each object."""

    def __init__(self, framework: Framework, seed: int) -> None:
        self.framework = framework
        self.seed = seed
        self.backend_draws = False
        self.values_by_chance = False
        """Whether initial values are meaningless because the model ran before the trial."""
        self.private: re.Pattern[str] | None = None
        """Further private attributes to read."""
        self.digests = Digests()
        self._numbered: dict[int, tuple[int, Any]] = {}

    def ident(self, thing: Any) -> int:
        """The number of an object in this trial; the object is kept alive."""
        return self._numbered.setdefault(id(thing), (len(self._numbered), thing))[0]

    def release(self) -> None:
        """Release the objects of the trial, and keep the digests with their arrays."""
        self._numbered = {}


def take_over() -> None:
    """Freeze all objects, and let `tidy` collect garbage. Only for a worker process."""
    global _serving
    _serving = True
    # Before 3.12, each `isinstance` with a protocol, frequent in TensorFlow, inspects the protocol again.
    for name in ("_get_protocol_attrs", "_is_callable_members_only") if sys.version_info < (3, 12) else ():
        if hasattr(typing, name):
            setattr(typing, name, functools.lru_cache(maxsize=None)(getattr(typing, name)))
    gc.collect()
    gc.freeze()
    gc.disable()


def tidy(framework: Framework) -> None:
    """Reset names before a trial or a draw, and collect garbage every few calls."""
    global _count
    framework.forget()
    if not _serving:
        return
    _count += 1
    if _count % _COLLECT_EVERY == 0:
        gc.collect()
    if _count % _FORGET_KERNELS_EVERY == 0:
        framework.tensors.forget_kernels()
