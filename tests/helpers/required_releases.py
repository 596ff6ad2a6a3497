"""Releases that tests need: a test is skipped if its release cannot be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from typing import NoReturn, TypeVar

import pytest

from clonediff.harness.subjects.environment import SearchPath
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject

T = TypeVar("T")


def get_or_skip(get: Callable[[], T]) -> T:
    """Return the result of `get`; skip the test if that cannot install a release."""
    try:
        return get()
    except ReleaseError as error:
        skip_or_fail(str(error))


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test; if CLONEDIFF_REQUIRE_RELEASES is 1, as in CI, let it fail."""
    if os.environ.get("CLONEDIFF_REQUIRE_RELEASES") == "1":
        pytest.fail(reason=reason)
    pytest.skip(reason=reason)


@cache
def _search_path(name: str) -> SearchPath | str:
    """Return the search path of a subject, or why its release cannot be installed. Cached."""
    try:
        return search_path_of(Subject.parse(name))
    except ReleaseError as error:
        return str(error)


def search_path_or_skip(name: str) -> SearchPath:
    """Return the search path of a subject; skip the test if its release cannot be installed."""
    found = _search_path(name)
    return skip_or_fail(found) if isinstance(found, str) else found


def why_missing(name: str) -> str:
    """Say what this machine lacks for a subject; "" if it seems to lack nothing."""
    command, found = shutil.which("nvidia-smi"), _search_path(name)
    if "@gpu" in name and not (command and subprocess.run([command, "-L"], capture_output=True).stdout):
        return f"{name}: no GPU on this machine"
    return found if isinstance(found, str) else ""
