"""The context of a trial, and garbage collection between trials.

Models are reference cycles. A child process collects them after every few trials, and freezes all older objects.
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

_COLLECTION_INTERVAL = 64
_CACHE_INTERVAL = 512
"""After how many trials garbage is collected, and the kernel cache cleared."""

_trial_count = 0
_collects_garbage = False


class Context:
    """One trial's framework, seed, digests, and numbers that identify objects."""

    def __init__(self, framework: Framework, seed: int) -> None:
        self.framework = framework
        self.seed = seed
        self.seeds_backend = False  # whether the backend's own generator is seeded, too
        self.ignores_values = False
        """Whether initial values are not compared: the model ran before the trial."""
        self.private_pattern: re.Pattern[str] | None = None
        """A pattern for further private attributes to read."""
        self.digests = Digests()
        self._numbers: dict[int, tuple[int, Any]] = {}

    def ident(self, item: Any) -> int:
        """The number of an object in this trial; the object stays alive."""
        return self._numbers.setdefault(id(item), (len(self._numbers), item))[0]

    def release(self) -> None:
        """Release the trial's objects; keep digests with their arrays."""
        self._numbers = {}


def freeze_gc() -> None:
    """Freeze all objects, and let only `tidy` collect garbage. For child processes."""
    global _collects_garbage
    _collects_garbage = True
    # Before Python 3.12, each `isinstance` inspects a protocol again; TensorFlow has many.
    for name in ("_get_protocol_attrs", "_is_callable_members_only") if sys.version_info < (3, 12) else ():
        if hasattr(typing, name):
            setattr(typing, name, functools.lru_cache(maxsize=None)(getattr(typing, name)))
    gc.collect()
    gc.freeze()
    gc.disable()


def tidy(framework: Framework) -> None:
    """Reset layer names before a trial or draw; every few calls, collect garbage."""
    global _trial_count
    framework.forget()
    if not _collects_garbage:
        return
    _trial_count += 1
    if _trial_count % _COLLECTION_INTERVAL == 0:
        gc.collect()
    if _trial_count % _CACHE_INTERVAL == 0:
        framework.tensors.clear_kernel_cache()
