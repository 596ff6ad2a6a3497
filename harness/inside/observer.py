"""What a trial observes models with, and the memory that trials leave.

Models are cycles of objects, which only the collector frees. A process of our own collects now and then, and what
was there before its first trial is frozen: a collection walks over the last trials only.
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
"""The numbers of trials between two collections, and after which the backend forgets its kernels."""

_count = 0
_serving = False


class Observer:
    """What one trial observes with. Holds on to every object it has numbered, so that no number is given twice."""

    def __init__(self, framework: Framework, seed: int) -> None:
        self.framework = framework
        self.seed = seed
        self.backend_draws = False
        self.values_by_chance = False
        """Whether the values that variables begin with say nothing: the model was run before."""
        self.private: re.Pattern[str] | None = None
        """The private attributes that are looked at."""
        self.digests = Digests()
        self._numbered: dict[int, tuple[int, Any]] = {}

    def ident(self, thing: Any) -> int:
        """The number of an object, the same for as long as the trial lasts."""
        return self._numbered.setdefault(id(thing), (len(self._numbered), thing))[0]

    def release(self) -> None:
        """Let go of the trial's objects; what is left is its digests and the arrays behind them."""
        self._numbered = {}


def take_over() -> None:
    """Freeze what there is and collect by count from now on. For a process of our own only."""
    global _serving
    _serving = True
    # Until 3.12, Python looks at a protocol anew at each `isinstance`, of which TensorFlow asks many.
    for name in ("_get_protocol_attrs", "_is_callable_members_only") if sys.version_info < (3, 12) else ():
        if hasattr(typing, name):
            setattr(typing, name, functools.lru_cache(maxsize=None)(getattr(typing, name)))
    gc.collect()
    gc.freeze()
    gc.disable()


def tidy(framework: Framework) -> None:
    """Before a trial, or a program that is drawn: forget names, and now and then collect."""
    global _count
    framework.forget()
    if not _serving:
        return
    _count += 1
    if _count % _COLLECT_EVERY == 0:
        gc.collect()
    if _count % _FORGET_KERNELS_EVERY == 0:
        framework.tensors.forget_kernels()
