"""Where an interpreter of a Python is: on PATH, under pyenv, among those of uv. Each is asked before it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

_ASK = """\
import sys
missing = []
for name in ("venv", "ensurepip"):
    try:
        __import__(name)
    except ImportError:
        missing.append(name)
print("%d.%d %d.%d.%d %s %s" % (sys.version_info[:2] + sys.version_info[:3]
                                + (sys.implementation.name, ",".join(missing) or "-")))
"""


class Interpreter(msgspec.Struct, frozen=True):
    """An interpreter that answered. `missing` has the modules that it would need to make an environment by itself."""

    path: str
    version: str
    missing: tuple[str, ...] = ()


def find(python: str, *, alone: bool = True) -> tuple[Interpreter | None, list[str]]:
    """The first interpreter of that Python ("3.7"), and what was wrong with those before it.

    `alone`: it must be able to make a virtual environment by itself.
    """
    refused: list[str] = []
    asked: set[Path] = set()
    for path in _candidates(python):
        real = path.resolve()
        if real in asked:
            continue
        asked.add(real)
        answer = _ask(path, python)
        if isinstance(answer, str):
            if answer:
                refused.append(f"{path}: {answer}")
        elif alone and answer.missing:
            refused.append(f"{path}: has no {' and no '.join(answer.missing)}")
        else:
            return answer, refused
    return None, refused


def to_get(pythons: Sequence[str]) -> str:
    """The commands by which somebody gets interpreters of these Pythons."""
    of_uv = [each for each in pythons if tuple(map(int, each.split("."))) >= _OLDEST_OF_UV]
    return f"pyenv install {' '.join(pythons)}" + (f", or uv python install {' '.join(of_uv)}" if of_uv else "")


_OLDEST_OF_UV = (3, 8)
"""Of the Pythons that uv has for Linux; it takes an older one that is there."""


def _candidates(python: str) -> Iterator[Path]:
    folders = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]
    # A shim of pyenv answers for the version that is chosen where it is run, not for its name.
    folders = [each for each in folders if each.name != "shims"]
    base = Path(getattr(sys, "_base_executable", None) or sys.executable)
    named = [folder / f"python{python}" for folder in folders]
    pyenv = [
        found
        for root in dict.fromkeys((os.environ.get("PYENV_ROOT", ""), os.path.expanduser("~/.pyenv")))
        if root
        for found in _newest_first(Path(root).glob(f"versions/{python}.*/bin/python"))
    ]
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(data, "uv", "python"))
    uv = _newest_first(managed.glob(f"cpython-{python}.*/bin/python{python}"))
    others = [folder / name for folder in folders for name in ("python3", "python")]
    for path in (*named, *pyenv, *uv, base, *others):
        if path.is_file() and os.access(path, os.X_OK):
            yield path


def _newest_first(paths: Iterator[Path]) -> list[Path]:
    def patch(path: Path) -> tuple[int, ...]:
        return tuple(int(part) for part in path.parent.parent.name.replace("-", ".").split(".") if part.isdigit())

    return sorted(paths, key=patch, reverse=True)


def _ask(path: Path, python: str) -> Interpreter | str:
    """What an interpreter says of itself, or what is wrong with it; "" where it is just another Python."""
    try:
        done = subprocess.run(
            [str(path), "-I", "-c", _ASK], capture_output=True, text=True, timeout=30, check=False, cwd=os.sep
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run ({error})"
    words = done.stdout.split()
    if done.returncode or len(words) != 4:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return f"does not answer ({last[0].strip()})" if path.name == f"python{python}" else ""
    minor, version, implementation, missing = words
    if minor != python:
        return f"is Python {minor}" if path.name == f"python{python}" else ""
    if implementation != "cpython":
        return f"is {implementation}"
    return Interpreter(str(path), version, () if missing == "-" else tuple(missing.split(",")))
