"""What a test needs and a machine may not have: a release from the index. It is had, or the test is skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from typing import NoReturn, TypeVar

import pytest

from clonediff.harness.subjects.environment import Place
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject

T = TypeVar("T")


def had(get: Callable[[], T]) -> T:
    """What `get` gets; where it says that a release cannot be had, see `not_had`."""
    try:
        return get()
    except ReleaseError as error:
        not_had(str(error))


def not_had(reason: str) -> NoReturn:
    """Skip the test; CLONEDIFF_REQUIRE_RELEASES=1 makes that a failure, as CI does."""
    if os.environ.get("CLONEDIFF_REQUIRE_RELEASES") == "1":
        pytest.fail(reason=reason)
    pytest.skip(reason=reason)


@cache
def _place(name: str) -> Place | str:
    """Where the release of a subject is, or why it cannot be had, which is tried once."""
    try:
        return place_of(Subject.parse(name))
    except ReleaseError as error:
        return str(error)


def place_or_skip(name: str) -> Place:
    """Where the release of a subject is; where it cannot be had, see `not_had`."""
    found = _place(name)
    return not_had(found) if isinstance(found, str) else found


def missing(name: str) -> str:
    """What this machine lacks for a subject; "" where that is known only once the subject has started."""
    command, found = shutil.which("nvidia-smi"), _place(name)
    if "@gpu" in name and not (command and subprocess.run([command, "-L"], capture_output=True).stdout):
        return f"{name}: no GPU on this machine"
    return found if isinstance(found, str) else ""
