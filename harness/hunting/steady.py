"""The same draws from the same seed, whichever modules are imported.

Hypothesis also draws numbers that it finds in the code of the modules that are imported and not installed, so that
which graphs a seed gives would depend on what a process has imported so far, and on every edit. Here that is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis.internal.conjecture import providers


@contextmanager
def steady() -> Iterator[None]:
    """Draw from nothing but the seed. A Hypothesis that looks for numbers in another way is left alone."""
    look: Any = getattr(providers, "_get_local_constants", None)
    cache: Any = getattr(getattr(providers, "CONSTANTS_CACHE", None), "cache", None)
    constants: Any = getattr(providers, "Constants", None)
    if look is None or cache is None or constants is None:
        yield
        return
    none = constants()
    cache.clear()
    providers._get_local_constants = lambda: none
    try:
        yield
    finally:
        providers._get_local_constants = look
        cache.clear()
