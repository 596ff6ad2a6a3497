"""Records warnings of building or cloning a model: each once, with its stack."""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from clonediff.harness.inside.canonical import without_addresses
from clonediff.harness.inside.failures import MAX_MESSAGE_LENGTH, plain_frames, stack
from clonediff.harness.observation import Failure

_NUMBER = re.compile(r"_?\d+")
_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)")
_HIDDEN_CATEGORIES = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Categories that Python hides by default."""


@contextlib.contextmanager
def ignored_warnings() -> Iterator[Any]:
    """Ignore warnings in a scope, and yield the filters that were set before."""
    filters = warnings.filters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield filters


@contextlib.contextmanager
def warning_filters(filters: Any) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filters = filters
        yield


class WarningRecorder:
    """Records the first of warnings that differ only by numbers."""

    def __init__(self) -> None:
        self._recorded: dict[tuple[str, str], Failure] = {}

    @contextlib.contextmanager
    def recording(self, function: str = "") -> Iterator[None]:
        """Record the warnings in a scope, with the frames below our `function`."""

        def record(message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
            text, category_name = without_addresses(str(message)), category.__name__
            key = category_name, _NUMBER.sub("", text)  # numbers of layer names differ in a clone
            if not issubclass(category, _HIDDEN_CATEGORIES) and key not in self._recorded:
                frames = plain_frames(stack(sys._getframe(2)), function)
                self._recorded[key] = Failure(category_name, text[:MAX_MESSAGE_LENGTH], frames)

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = record
            yield

    def warnings_since(self, baseline: WarningRecorder) -> tuple[Failure, ...]:
        """The warnings that `baseline` did not record; quoted names are not compared."""
        known = {(category, _QUOTED.sub("", text)) for category, text in baseline._recorded}
        is_new = ((category, _QUOTED.sub("", text)) not in known for category, text in self._recorded)
        return tuple(itertools.compress(self._recorded.values(), is_new))
