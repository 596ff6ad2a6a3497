"""What is true of a class, worked out once, and forgotten with the class."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def once_a_class(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Remember the result for each class, for as long as there is the class, which may hold on to a trial's model."""
    results: Any = weakref.WeakKeyDictionary()

    def of_class(kind: Any) -> Result:
        try:
            result: Result = results[kind]
        except KeyError:
            result = results[kind] = function(kind)
        return result

    return of_class
