"""Which releases can be asked for: those that have a stack, and those of the package index.

Owns the reading of stacks.toml, which says how the table was made: which Python and which exact packages a TensorFlow
of its day runs on.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import msgspec
from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases.installer import surroundings, unreached
from clonediff.harness.subjects.subject import NIGHTLY, Subject, UnknownSubjectError

TABLE = Path(__file__).with_name("stacks.toml")


class Stack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TensorFlow with everything that it needs. Its neighbours in `serves` run on the same packages.

    `keras` has the releases of Keras itself that are laid over it. `seconds` and `megabytes` are what an installation
    took and takes, to tell who waits for one.
    """

    tensorflow: str
    serves: tuple[str, ...]
    python: str
    distribution: str
    pins: tuple[str, ...]
    keras: tuple[str, ...] = ()
    seconds: int = 0
    megabytes: int = 0


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stack: tuple[Stack, ...]


@functools.cache
def stacks() -> tuple[Stack, ...]:
    """All stacks, the oldest first."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=_Table).stack


def stack_of(package: str, version: str) -> Stack | None:
    """The stack that a TensorFlow is installed with, or that a Keras 2.2 or 2.3 is laid over."""
    return next((each for each in stacks() if version in _on(each, package)), None)


def with_stack(package: str) -> list[str]:
    """The releases of a package that have a stack and can be asked for, the oldest first."""
    return [version for each in stacks() for version in _on(each, package) if _can_be_asked(package, version)]


def newest_nightly() -> str:
    """The version of the newest development release of Keras that the index has."""
    return max(_of_index(NIGHTLY, "--pre"), key=Version)


def _on(stack: Stack, package: str) -> tuple[str, ...]:
    return stack.serves if package == "tensorflow" else stack.keras if package == "keras" else ()


def _of_index(package: str, *more: str) -> list[str]:
    command = [sys.executable, "-m", "pip", "index", "versions", package, *more]
    command += ["--disable-pip-version-check", "--retries=1"]
    try:
        environment = surroundings(os.environ, Path(os.environ.get("TMPDIR") or "/tmp"))
        asked = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReleaseError(f"{package}: pip cannot be asked which releases there are: {error}") from error
    # With a folder of wheels in its configuration pip gives what is there, though the index did not answer.
    if unreached(asked.stderr):
        raise ReleaseError(
            f"{package}: the package index cannot be reached to ask which releases there are: look at the network, "
            f"and at `pip config list`; or name them, as in {package}=={'3.16.0.dev2026102704' if more else '3.14.1'}"
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
