"""Decides whether a class is of Keras, a backend, the standard library or the user."""

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


def cached_per_class(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Cache the result by class, with weak references, so that models are freed."""
    results: weakref.WeakKeyDictionary[Any, Result] = weakref.WeakKeyDictionary()

    def cached(cls: Any) -> Result:
        if cls not in results:
            results[cls] = function(cls)
        return results[cls]

    return cached


def package_of(cls: Any) -> str:
    return str(cls.__module__ or "").partition(".")[0]


def is_backend_class(cls: Any) -> bool:
    """Whether a class is of a backend, or of the backend code of Keras."""
    return package_of(cls) in BACKENDS or cls.__module__.startswith("keras.src.backend.")


@cached_per_class
def is_user_defined(cls: Any) -> bool:
    """Whether a class or function is not of Keras, a backend or the standard library."""
    package = package_of(cls)
    return package not in KERAS and package not in BACKENDS and package not in sys.stdlib_module_names


@cached_per_class
def is_keras_class(cls: Any) -> bool:
    return any(package_of(base) in KERAS for base in cls.__mro__)


@cached_per_class
def is_policy(cls: Any) -> bool:
    """Whether a class is a dtype policy, which is immutable."""
    return is_keras_class(cls) and any(base.__name__ in _POLICIES for base in cls.__mro__)
