"""A unified diff, applied with `git apply` to a private copy of a release's package.

Owns which file of the package a path of the diff means. A path that leaves the copy is refused.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

LIMIT = 60.0
"""The seconds that `git apply` may take."""

_FILE = re.compile(r"^--- (?P<old>\S[^\t\n]*).*\n\+\+\+ (?P<new>\S[^\t\n]*)", re.MULTILINE)
_ASIDE = re.compile(
    r"(^|/)(tests?|docs?|examples?|benchmarks?|integration_tests|\.github)/|(_test|_tests)\.py$|^[^/]+\.md$"
)
_LINK = re.compile(r"^(?:new file mode|new mode|index \S+) 120000$", re.MULTILINE)
_NOWHERE = "/dev/null"
_DEEPEST = 10
_CONTEXT = 3
"""The lines that a hunk usually has after what it changes."""


class PatchError(ValueError):
    """A diff that cannot be applied; the message names the file. That is a verdict on it."""


class Applied(msgspec.Struct, frozen=True):
    """The folder to put first on the path, the files changed in it, the paths of the diff left aside."""

    folder: Path
    changed: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


def apply(diff: str, package: Path, private: Path) -> Applied:
    """Copy a package into the folder `private` and apply a diff there, all of it or nothing."""
    if _LINK.search(diff):
        raise PatchError("it makes a link, which no fix of a module needs: refused")
    files = [(match["old"].strip(), match["new"].strip()) for match in _FILE.finditer(diff)]
    if not files:
        raise PatchError("no diff in it: no line `--- FILE` with a line `+++ FILE` after it")
    strip, folder = _depth(files, package)
    inside, left_out = [], []
    for old, new in files:
        named = old if new == _NOWHERE else new
        if _in_package(old, new, strip, folder, package):
            inside.append(_placed(named, strip, folder))
        elif _ASIDE.search(re.sub(r"^[ab]/", "", named)):
            left_out.append(named)
        else:
            raise PatchError(f"{named}: the release has no such file")
    if not inside:
        raise PatchError(f"it changes no file of the release: {', '.join(left_out)}")
    try:
        _copy(package, private / package.name, [private / place for place in inside])
        changed = _git_apply(diff, private, strip, folder, inside)
    except BaseException:
        shutil.rmtree(private, ignore_errors=True)
        raise
    return Applied(private, changed, tuple(left_out))


def find_git() -> str:
    """The path of git; an error says what to do where there is none."""
    git = shutil.which("git")
    if git is None:
        raise FileNotFoundError(
            "git is not on PATH, and a diff is applied with `git apply`: install git, or give the changed functions in "
            "a Python file instead of the diff"
        )
    return git


def _git_apply(diff: str, private: Path, strip: int, folder: str, inside: Sequence[str]) -> tuple[Path, ...]:
    """Apply those parts of a diff; the files that it changed."""
    git = find_git()
    # Whitespace at the end of a line is lost where people copy a diff from.
    command = [git, "apply", "--apply", "--numstat", "-z", "--whitespace=fix", "--unidiff-zero", f"-p{strip}"]
    command += [f"--directory={folder}"] if folder else []
    command += [f"--include={place}" for place in inside]
    # Within somebody's repository, git would leave out what is not in its index, without an error.
    private = private.resolve()
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {"GIT_CEILING_DIRECTORIES": str(private.parent), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    variables |= {"HOME": str(private), "XDG_CONFIG_HOME": str(private)}
    # Blank lines at the end of a text are often lost. git takes these for those that a hunk lacks, or ignores them.
    text = (diff if diff.endswith("\n") else f"{diff}\n") + "\n" * _CONTEXT
    try:
        done = subprocess.run(
            command, cwd=private, env=variables, input=text.encode(), capture_output=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise PatchError(f"`git apply` was not done after {LIMIT:g} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        places = re.findall(r"^error: patch failed: (.*)", said, re.MULTILINE)
        if places:
            raise PatchError(f"{' and '.join(places)}: the release has other lines there; make the diff against it")
        corrupt = re.search(r"^error: corrupt patch at line (\d+)", said, re.MULTILINE)
        if corrupt and int(corrupt[1]) > len(diff.splitlines()):
            raise PatchError("its last hunk has fewer lines than its head says")
        errors = re.findall(r"^(?:error|fatal): (.*)", said, re.MULTILINE)
        raise PatchError("; ".join(errors[:4]) or f"`git apply` ended with exit code {done.returncode}")
    names = [line.split("\t", 2)[2] for line in done.stdout.decode(errors="replace").split("\0") if line]
    if not names:
        raise PatchError("it changes no line of the release")
    return tuple(path for name in dict.fromkeys(names) if (path := private / name).exists())


def _depth(files: Sequence[tuple[str, str]], package: Path) -> tuple[int, str]:
    """How many leading parts of its paths a diff is applied without, and in which folder: so that most are there.

    The leading parts are `a/`, `src/`, the folder of a checkout; a path may also begin within the package.
    """
    ways = [(strip, folder) for strip in range(_DEEPEST) for folder in ("", package.name)]

    def found(way: tuple[int, str]) -> int:
        return sum(_in_package(old, new, *way, package) for old, new in files)

    return max(ways, key=found)


def _in_package(old: str, new: str, strip: int, folder: str, package: Path) -> bool:
    """Whether a file of a diff, its leading parts left away, is one of the package, or is made there."""
    place = _placed(new if old == _NOWHERE else old, strip, folder)
    if any(".." in _placed(path, strip, folder).split("/") for path in (old, new)):
        return False
    if not place.startswith(f"{package.name}/"):
        return False
    return not folder if old == _NOWHERE else (package.parent / place).is_file()


def _placed(path: str, strip: int, folder: str) -> str:
    return "/".join([*([folder] if folder else []), *path.strip('"').split("/")[strip:]])


def _copy(package: Path, private: Path, written: Sequence[Path]) -> None:
    """A copy of a package."""
    shutil.copytree(package, private)  # with its bytecode, which takes a process seconds to make
    for path in written:
        for made in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            made.unlink()
