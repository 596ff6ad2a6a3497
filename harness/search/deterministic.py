"""The same graphs from Hypothesis while it shrinks, whichever modules are imported.

Hypothesis also draws numbers that it finds in the code of the modules that are imported and not installed, so that what
it makes of a graph would depend on what a process has imported so far, and on every edit. Here that is left out. Graphs
that are drawn evenly (`even_draws.py`) need none of this.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis.internal.conjecture import providers

_LOCK = threading.Lock()
_inside = 0
_theirs: Any = None
"""Of all threads together: the last one out puts back what was there."""


@contextmanager
def deterministic() -> Iterator[None]:
    """Draw from nothing but the seed. A Hypothesis that looks for numbers in another way is left alone."""
    look: Any = getattr(providers, "_get_local_constants", None)
    cache: Any = getattr(getattr(providers, "CONSTANTS_CACHE", None), "cache", None)
    constants: Any = getattr(providers, "Constants", None)
    if look is None or cache is None or constants is None:
        yield
        return
    global _inside, _theirs
    with _LOCK:
        if not _inside:
            none = constants()
            _theirs = look
            cache.clear()
            providers._get_local_constants = lambda: none
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                providers._get_local_constants = _theirs
                cache.clear()
