"""Which releases of a package can be asked for: those of the package index, and those that have a stack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.releases.errors import ReleaseError
from clonediff.harness.subjects.releases.installer import surroundings, unreached
from clonediff.harness.subjects.releases.table import stacks
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError


def available(package: str) -> list[str]:
    """The releases of keras, tf_keras or tensorflow that can be asked for, the oldest first; no pre-releases.

    Of Keras 3 and tf_keras, what the index has for this Python; of Keras 2.2-2.3 and TensorFlow, what has a stack.
    """
    from_table = [version for each in stacks() for version in (each.serves if package == "tensorflow" else each.keras)]
    if package == "tensorflow":
        found = from_table
    elif package == "keras":
        found = [*from_table, *(version for version in _of_index(package) if Version(version).major >= 3)]
    else:
        found = _of_index(package)
    return sorted({each for each in found if _can_be_asked(package, each)}, key=Version)


def _of_index(package: str) -> list[str]:
    command = [sys.executable, "-m", "pip", "index", "versions", package, "--disable-pip-version-check", "--retries=1"]
    try:
        environment = surroundings(os.environ, Path(os.environ.get("TMPDIR") or "/tmp"))
        asked = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReleaseError(f"{package}: pip cannot be asked which releases there are: {error}") from error
    # With a folder of wheels in its configuration pip gives what is there, though the index did not answer.
    if unreached(asked.stderr):
        raise ReleaseError(
            f"{package}: the package index cannot be reached to ask which releases there are: look at the network, "
            "and at `pip config list`; or name them, as in keras==3.14.1"
        )
    for line in asked.stdout.splitlines():
        if line.startswith("Available versions:"):
            return [each.strip() for each in line.partition(":")[2].split(",")]
    last = (asked.stderr.strip().splitlines() or ["it said nothing"])[-1]
    raise ReleaseError(f"{package}: pip does not say which releases there are: {last}")


def _can_be_asked(package: str, version: str) -> bool:
    try:
        Subject.parse(f"{package}=={version}")
        return not Version(version).is_prerelease
    except (UnknownSubjectError, InvalidVersion):
        return False
