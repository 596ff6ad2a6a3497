"""uv or pip at work: packages in exact versions, put into a folder or into a new virtual environment.

Owns their command lines and environments, and what their output says of a failure. Never touches the environment that
clonediff runs in.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases.interpreters import Interpreter

LIMIT = 3600.0
"""The seconds that a tool may take: half a gigabyte over a slow network."""

_NOT_OURS = re.compile(
    r"PYTHON(PATH|HOME)|VIRTUAL_ENV|PIP_(TARGET|PREFIX|ROOT|USER|PYTHON|REQUIRE_VIRTUALENV|LOG|QUIET|VERBOSE)"
)
_UNREACHED = re.compile(
    r"connection broken|Failed to establish|Max retries|name resolution|ConnectTimeout|ReadTimeout|timed out|"
    r"ProxyError|SSLError|error sending request|Failed to fetch|tcp connect|network is unreachable",
    re.IGNORECASE,
)
_NO_SUCH = re.compile(
    r"No matching distribution|Could not find a version|there is no version of|not found in the package registry|"
    r"no wheels with a matching|requires a different Python",
    re.IGNORECASE,
)
_FULL = re.compile(r"No space left on device|os error 28|Errno 28|Disk quota exceeded", re.IGNORECASE)


class InstallerError(ReleaseError):
    """A tool that failed. `reason` is why, in a few words."""

    def __init__(self, reason: str, lines: tuple[str, ...] = ()) -> None:
        """Keep the reason apart from the last lines of the tool."""
        super().__init__(reason, None, lines)
        self.reason = reason
        self.lines = lines


def put_packages(requirements: Sequence[str], folder: Path, python: str | None = None) -> str:
    """Put packages, without what they depend on, into a folder, for an interpreter; by what that was done.

    They are compiled: a release is started often, and Python may be told to write no bytecode then.
    """
    interpreter = python or sys.executable
    wanted = ["--no-deps", "--target", str(folder), *requirements]

    def by_uv(uv: str) -> None:
        _run([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", interpreter, *wanted], folder.parent)

    def by_pip() -> None:
        _run([interpreter, "-m", "pip", *_PIP, "--compile", *wanted], folder.parent)

    return _by_either(by_uv, by_pip, has_pip=python is not None or importlib.util.find_spec("pip") is not None)


def make_environment(venv: Path, interpreter: Interpreter, pins: Sequence[str]) -> str:
    """Make a virtual environment with exactly these packages; by what that was done."""

    def by_uv(uv: str) -> None:
        shutil.rmtree(venv, ignore_errors=True)
        _run([uv, "venv", "--quiet", "--python", interpreter.path, str(venv)], venv.parent)
        _run([uv, "pip", "install", "--quiet", "--no-deps", "--python", str(python_of(venv)), *pins], venv.parent)

    def by_pip() -> None:
        shutil.rmtree(venv, ignore_errors=True)
        _run([interpreter.path, "-m", "venv", str(venv)], venv.parent)
        _run([str(python_of(venv)), "-m", "pip", *_PIP, "--no-compile", "--no-deps", *pins], venv.parent)

    return _by_either(by_uv, by_pip, has_pip=not interpreter.missing)


def python_of(venv: Path) -> Path:
    """The interpreter of a virtual environment. Started so, it finds its packages wherever the folder was moved."""
    return venv / "bin" / "python"


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


_PIP = (
    "install",
    "--quiet",
    "--no-input",
    "--disable-pip-version-check",
    "--no-warn-script-location",
    "--prefer-binary",
    "--retries=1",
)


def _by_either(by_uv: Callable[[str], None], by_pip: Callable[[], None], *, has_pip: bool) -> str:
    """Have uv do it, or else pip, whose error is told where both fail."""
    found = uv()
    failed: InstallerError | None = None
    if found is not None:
        try:
            by_uv(found)
        except InstallerError as error:
            failed = error
        else:
            return "uv"
    if not has_pip:
        raise failed or InstallerError("neither uv nor pip is there to install it with: python -m ensurepip")
    by_pip()
    return "pip"


def _run(command: Sequence[str], beside: Path) -> None:
    # Both unpack beside the folder: a rename then, and gone with it when this process is killed.
    temporary = beside / "tmp"
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        command,
        env=surroundings(os.environ, temporary),
        cwd=beside,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        _end(process)
        raise InstallerError(f"{Path(command[0]).name} was not done after {LIMIT:g} s") from None
    except BaseException:
        _end(process)
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    if process.returncode:
        raise _failed(output, beside)


def surroundings(base: Mapping[str, str], temporary: Path) -> dict[str, str]:
    """The environment of a tool: without what would send its work elsewhere."""
    kept = {name: value for name, value in base.items() if not _NOT_OURS.fullmatch(name)}
    return {"UV_HTTP_RETRIES": "1", **kept, "TMPDIR": str(temporary), "PIP_USER": "0"}


def _failed(output: str, folder: Path) -> InstallerError:
    lines = tuple(line for line in output.splitlines() if line.strip())
    if _FULL.search(output):
        return InstallerError(
            f"the disk of {folder.parent} is full: make room, or name a folder elsewhere in CLONEDIFF_CACHE"
        )
    if unreached(output):
        return InstallerError("the package index cannot be reached: look at the network, and at `pip config list`")
    if _NO_SUCH.search(output):
        wanted = re.search(r"No matching distribution found for (\S+)|there is no version of (\S+)", output)
        name = next(filter(None, wanted.groups()), "") if wanted else ""
        versions = f"`pip index versions {re.split('[<>=!~]', name)[0] or 'PACKAGE'}`"
        return InstallerError(
            f"the package index has no {name or 'such version'} for this machine and this Python; {versions} lists "
            "what it has"
        )
    errors = [line for line in lines if line.lower().startswith(("error", "  cause"))] or list(lines[-1:])
    return InstallerError(errors[-1].strip() if errors else "the installer failed without a word", lines)


def unreached(output: str) -> bool:
    """Whether the output of uv or pip says that the index did not answer."""
    return _UNREACHED.search(output) is not None


def _end(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()
