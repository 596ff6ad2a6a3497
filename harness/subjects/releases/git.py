"""git, asked about a repository of somebody. Nothing in it is changed, and what it answers is bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from clonediff.harness.subjects.outcomes import ReleaseError

WANTED = "name a checkout of Keras 3, REPOSITORY#COMMIT, or a wheel"
_LIMIT = 300.0
"""The seconds that git may take: a repository may have to fetch what it was cloned without."""

_OF_ANOTHER = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
"""The variables by which a hook of git names its own repository: those of `git rev-parse --local-env-vars`."""
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.autocrlf=false")
"""No program that a repository names is run, and a file is read as it was committed."""


class GitError(ReleaseError):
    """git ended with an error. `said` is the line that says which."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


def git(tree: str, folder: Path, *arguments: str) -> bytes:
    """What git prints in a folder. `tree` is how the user named it."""
    program = shutil.which("git")
    if program is None:
        raise ReleaseError(f"{tree}: git is not on PATH, and a checkout is read with it: install git, or name a wheel")
    variables = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    variables |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = [program, "--no-optional-locks", *settings, "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, env=variables, timeout=_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReleaseError(f"{tree}: git cannot be asked: {error}") from error
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        said = next((line for line in told if line.startswith(("fatal:", "error:"))), told[-1] if told else "")
        raise GitError(f"{tree}: git cannot read {folder}: {said}: {WANTED}", said)
    return done.stdout


def hold_whole(tree: str, folder: Path) -> None:
    """Raise where a folder is a part of a repository, and not the whole."""
    within = git(tree, folder, "rev-parse", "--show-prefix").decode().rstrip("\n/")
    if within:
        raise ReleaseError(f"{tree}: is the folder {within} of a checkout: name the folder of the whole")


def whole_name(tree: str, folder: Path, name: str) -> str:
    """The forty digits of a commit, a tag or a branch."""
    try:
        found = git(tree, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitError as error:
        if error.said:
            raise
        raise ReleaseError(
            f"{tree}: {folder} has no commit, tag or branch {name!r}: git -C {folder} fetch, or look at "
            f"git -C {folder} log"
        ) from None
    return found.decode().strip()


def parting(tree: str, folder: Path, one: str, other: str) -> str:
    """The commit where two branches part."""
    first, second = (whole_name(tree, folder, name) for name in (one, other))
    try:
        return git(tree, folder, "merge-base", first, second).decode().split()[0]
    except GitError as error:
        if error.said:
            raise
        raise cut_off(tree, folder, one, other) from None


def is_shallow(tree: str, folder: Path) -> bool:
    """Whether a repository was cloned without the commits of long ago."""
    return git(tree, folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def cut_off(tree: str, folder: Path, one: str, other: str) -> ReleaseError:
    """The error for two commits that nothing is known to lie before."""
    if is_shallow(tree, folder):
        return ReleaseError(
            f"{tree}: what {one} and {other} have in common was not fetched, {folder} is a shallow clone: "
            f"git -C {folder} fetch --unshallow"
        )
    return ReleaseError(f"{tree}: {one} and {other} have no commit in common: name two of one history")
