"""What Python warns of while a model is built, or cloned: each warning once, and the frames that it came by."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from typing import Any, Iterator

from .canonical import without_addresses
from .failures import LONGEST_MESSAGE, plain_frames, stack

_NUMBER = re.compile(r"_?\d+")
_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)")
_MOST = 20
_NOT_SHOWN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""What Python shows nobody, unless somebody asks for it: it is for whoever writes a library."""


@contextlib.contextmanager
def unheard() -> Iterator[Any]:
    """A scope in which warnings are neither shown nor raised: those of our own calls say nothing of a clone.

    Gives Python's filters as they are around it.
    """
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
    """The warnings that were given within `listening`, in their order."""

    def __init__(self) -> None:
        self._heard: dict[tuple[str, str], dict[str, Any]] = {}

    @contextlib.contextmanager
    def listening(self, below: str = "") -> Iterator[None]:
        """A scope in which warnings are heard, and none is shown or raised; frames are those below a function.

        Heard is what Python shows by default.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("always")

            def hear(message: Any, category: Any, *where: Any, **more: Any) -> None:
                if not issubclass(category, _NOT_SHOWN):
                    self._hear(str(message), category.__name__, below)

            warnings.showwarning = hear
            yield

    def _hear(self, text: str, category: str, below: str) -> None:
        key = category, alike(text)
        if key in self._heard:
            return
        frames = plain_frames(stack(sys._getframe(3)), below)
        message = without_addresses(text)[:LONGEST_MESSAGE]
        self._heard[key] = {"type": category, "message": message, "frames": frames}

    def beside(self, other: Warned) -> list[dict[str, Any]]:
        """What was heard here and not there, up to a number of them; a name that is quoted may be another since."""
        there = {(category, _QUOTED.sub("", text)) for category, text in other._heard}
        heard = (((category, _QUOTED.sub("", text)), told) for (category, text), told in self._heard.items())
        return [told for key, told in heard if key not in there][:_MOST]


def alike(text: str) -> str:
    """The text without numbers and addresses: names are numbered, and a clone's are other ones."""
    return _NUMBER.sub("", without_addresses(text))
