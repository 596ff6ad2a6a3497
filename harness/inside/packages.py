"""Whose class an object is of: Keras', a backend's, Python's own, or the user's."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from clonediff.harness.fixed import parts

Result = TypeVar("Result")

KERAS = ("keras", "tf_keras")
BACKENDS = parts.BACKENDS | {"numpy"}
_POLICIES = ("DTypePolicy", "Policy")


def once_a_class(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Remember the result for each class, for as long as there is the class, which may hold on to a trial's model."""
    results: Any = weakref.WeakKeyDictionary()

    def of_class(kind: Any) -> Result:
        if kind not in results:
            results[kind] = function(kind)
        result: Result = results[kind]
        return result

    return of_class


def root_of(kind: Any) -> str:
    """The package that a class or a function is of."""
    return str(kind.__module__ or "").partition(".")[0]


def is_of_backend(kind: Any) -> bool:
    """Whether a class is a backend's, or what Keras derives from it for all of its layers."""
    return root_of(kind) in BACKENDS or kind.__module__.startswith("keras.src.backend.")


@once_a_class
def is_users(kind: Any) -> bool:
    """Whether a class is of no package that is part of Keras, a backend or Python."""
    root = root_of(kind)
    return root not in KERAS and root not in BACKENDS and root not in sys.stdlib_module_names


@once_a_class
def is_of_keras(kind: Any) -> bool:
    return any(root_of(base) in KERAS for base in kind.__mro__)


@once_a_class
def is_policy(kind: Any) -> bool:
    """Whether it is a class of dtype policies: these are immutable in practice, and one may be shared by design."""
    return is_of_keras(kind) and any(base.__name__ in _POLICIES for base in kind.__mro__)
