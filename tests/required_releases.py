"""What a test needs and a machine may not have: a release from the index. It is had, or the test is skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from typing import NoReturn, TypeVar

import pytest

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


def missing(name: str) -> str:
    """What this machine lacks for a subject; "" where that is known only once the subject has started."""
    subject = Subject.parse(name)
    command = shutil.which("nvidia-smi")
    if subject.device != "cpu" and not (command and subprocess.run([command, "-L"], capture_output=True).stdout):
        return f"{name}: no GPU on this machine"
    try:
        place_of(subject)
    except ReleaseError as error:
        return str(error)
    return ""
