"""Releases of Keras 3, each warm in a process of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import SubjectProcess


@pytest.fixture(scope="session")
def keras3(warm: Callable[[str], SubjectProcess]) -> Callable[[str], SubjectProcess]:
    """A release by its version, where it can be had; without one, that which is installed."""
    return lambda version: warm(f"keras=={version}" if version else "keras")
