"""What Python warns of while a model is built, or cloned: each warning once, and the frames that it came by."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from typing import Any, Callable, Iterator

from .canonical import without_addresses
from .failures import LONGEST_MESSAGE, plain_frames, stack

_NUMBER = re.compile(r"_?\d+")
_MOST = 20


class Warned:
    """The warnings that were given within `listening`, in their order."""

    def __init__(self) -> None:
        self._heard: dict[tuple[str, str], dict[str, Any]] = {}

    @contextlib.contextmanager
    def listening(self, below: str = "") -> Iterator[None]:
        """A scope in which all warnings are heard, and none is shown or raised; frames are those below a function."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")

            def hear(message: Any, category: Any, *where: Any, **more: Any) -> None:
                self._hear(str(message), category.__name__, below)

            warnings.showwarning = hear
            yield

    def _hear(self, text: str, category: str, below: str) -> None:
        key = category, alike(text)
        if key in self._heard or len(self._heard) >= _MOST:
            return
        frames = plain_frames(stack(sys._getframe(3)), below)
        message = without_addresses(text)[:LONGEST_MESSAGE]
        self._heard[key] = {"type": category, "message": message, "frames": frames}

    def beside(self, other: Warned) -> list[dict[str, Any]]:
        """What was heard here and not there."""
        return [told for key, told in self._heard.items() if key not in other._heard]


def leave_out(clones: dict[str, Any], built: Warned, build: Callable[[], Any]) -> None:
    """Leave out of what cloners `warned` of what was heard as the model was `built`, this time or another."""
    if any("warned" in told for told in clones.values()):
        with built.listening():
            build()
    for told in clones.values():
        if "warned" in told:
            told["warned"] = told["warned"].beside(built)


def alike(text: str) -> str:
    """The text without numbers and addresses: names are numbered, and a clone's are other ones."""
    return _NUMBER.sub("", without_addresses(text))
