"""uv or pip at work: a package put into a folder, without what it depends on.

Never touches the environment that clonediff runs in.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.subject import NIGHTLY

LIMIT = 3600.0
"""The seconds that a tool may take over a slow network."""

_NOT_OURS = re.compile(
    r"PYTHON(PATH|HOME)|VIRTUAL_ENV|PIP_(TARGET|PREFIX|ROOT|USER|PYTHON|REQUIRE_VIRTUALENV|LOG|QUIET|VERBOSE)"
)
_INSTALL = ("install", "--quiet", "--no-input", "--disable-pip-version-check", "--prefer-binary", "--retries=1")
_LAST = 8
"""The lines of a tool that are shown where it fails."""


def put_packages(requirement: str, folder: Path) -> None:
    """Put a package into a folder.

    It is compiled: a release is started often, and Python may be told to write no bytecode then.
    """
    found = uv()
    if found is not None:
        command = [found, "pip", "install", "--quiet", "--compile-bytecode", "--python", sys.executable]
    else:
        command = [sys.executable, "-m", "pip", *_INSTALL, "--compile"]
    try:
        _run([*command, "--no-deps", "--target", str(folder), requirement], folder)
    except subprocess.CalledProcessError as error:
        lines = tuple(line for line in error.output.splitlines() if line.strip())[-_LAST:]
        raise ReleaseError(
            f"{requirement}: cannot be installed: {lines[-1] if lines else 'nothing is said of why'}", None, lines
        ) from error


def newest_nightly() -> str:
    """The version of the newest development release of Keras that the index has."""
    command = [sys.executable, "-m", "pip", "index", "versions", NIGHTLY, "--pre", "--disable-pip-version-check"]
    try:
        listed = _run([*command, "--retries=1"], Path.cwd())
    except subprocess.CalledProcessError as error:
        last = (error.output.strip().splitlines() or ["it said nothing"])[-1]
        raise ReleaseError(
            f"{NIGHTLY}: pip does not say which releases there are: {last}; name one, such as "
            f"{NIGHTLY}==3.16.0.dev2026102704"
        ) from error
    for line in listed.splitlines():
        if line.startswith("Available versions:"):
            return max((each.strip() for each in line.partition(":")[2].split(",")), key=Version)
    raise ReleaseError(f"{NIGHTLY}: pip does not say which releases there are")


@functools.cache
def uv() -> str | None:
    """uv, where it is there and works, and pip is not set to an index of its own, which uv would not ask."""
    found = shutil.which("uv")
    if found is None:
        return None
    try:
        if subprocess.run([found, "--version"], capture_output=True, timeout=30, check=False).returncode:
            return None
        if {"UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"} & set(os.environ):
            return found
        listed = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if re.search(r"^[\w:.]+\.(no-)?index(-url)?=", listed.stdout, re.MULTILINE) else found


def _run(command: Sequence[str], folder: Path) -> str:
    """What a tool writes. A `CalledProcessError` has it where the tool fails."""
    with subprocess.Popen(
        command,
        env=surroundings(os.environ),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise ReleaseError(f"{Path(command[0]).name} was not done after {LIMIT:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return output


def surroundings(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a tool: without what would send its work elsewhere."""
    kept = {name: value for name, value in base.items() if not _NOT_OURS.fullmatch(name)}
    return {"UV_HTTP_RETRIES": "1", **kept, "PIP_USER": "0"}
