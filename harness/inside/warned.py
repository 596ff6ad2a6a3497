"""What Python warns of while a model is built, or cloned: each warning once, and the frames that it came by."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from clonediff.harness.inside.canonical import without_addresses
from clonediff.harness.inside.failures import LONGEST_MESSAGE, plain_frames, stack
from clonediff.harness.observation import Failure

_NUMBER = re.compile(r"_?\d+")
_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)")
_MOST_WARNINGS = 20
_HIDDEN_CATEGORIES = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Python hides these by default: they are for the authors of libraries."""


@contextlib.contextmanager
def unheard() -> Iterator[Any]:
    """A scope in which warnings are neither shown nor raised; it gives Python's filters as they are around it."""
    filters = warnings.filters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield filters


@contextlib.contextmanager
def heard_as(filters: Any) -> Iterator[None]:
    """A scope in which warnings are what these filters of Python's make of them, whatever is around it."""
    with warnings.catch_warnings():
        warnings.filters = filters
        yield


class Warned:
    """The warnings that were given within `listening`, by category and text without numbers, in their order."""

    def __init__(self) -> None:
        self._heard: dict[tuple[str, str], Failure] = {}

    @contextlib.contextmanager
    def listening(self, below: str = "") -> Iterator[None]:
        """A scope in which warnings are heard, and none is shown or raised; frames are those below a function."""

        def hear(message: Any, category: Any, *where: Any, **more: Any) -> None:
            text, kind = without_addresses(str(message)), category.__name__
            key = kind, _NUMBER.sub("", text)  # names are numbered, and a clone's are other ones
            if not issubclass(category, _HIDDEN_CATEGORIES) and key not in self._heard:
                frames = plain_frames(stack(sys._getframe(2)), below)
                self._heard[key] = Failure(kind, text[:LONGEST_MESSAGE], frames)

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = hear
            yield

    def beside(self, baseline: Warned) -> tuple[Failure, ...]:
        """What was heard here and not there, up to a number of them; a name that is quoted may be another since."""
        known = {(category, _QUOTED.sub("", text)) for category, text in baseline._heard}
        warnings = self._heard.items()
        new = [failure for (category, text), failure in warnings if (category, _QUOTED.sub("", text)) not in known]
        return tuple(new[:_MOST_WARNINGS])
