"""What is found out about a class, once, and forgotten with the class."""

from __future__ import annotations

import weakref
from typing import Any, Callable, TypeVar

Found = TypeVar("Found")


def once_a_class(find: Callable[[Any], Found]) -> Callable[[Any], Found]:
    """Remember what `find` says of each class, for as long as there is the class.

    A class that a source or a method of Keras defines holds on to its module, or to the model that the method was
    called of: a cache that keeps it keeps every model of the trial.
    """
    found: Any = weakref.WeakKeyDictionary()

    def of(kind: Any) -> Found:
        if kind not in found:
            found[kind] = find(kind)
        answer: Found = found[kind]
        return answer

    return of
