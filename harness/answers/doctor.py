"""What of clonediff works on this machine, and what is missing for the rest.

Asks metadata, the file system and the programs that are here; needs no network. Subjects are started, each in its own
process.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import msgspec

from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects import Case, SubjectError, SubjectProcess
from clonediff.harness.subjects.presence import gpus, missing
from clonediff.harness.subjects.releases import installed, interpreters
from clonediff.harness.subjects.releases.requirements import version_beside
from clonediff.harness.subjects.releases.store import cache
from clonediff.harness.subjects.releases.table import stacks
from clonediff.harness.subjects.subject import Subject, installed_names
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues

PACKAGES = (
    *("clonediff", "tensorflow", "keras", "tf_keras", "jax", "torch", "numpy", "hypothesis", "distributed"),
    *("pytest", "playwright"),
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
GIB = 1 << 30
ONE_SUBJECT = 0.8
"""GiB that a warm subject takes at first, on TensorFlow."""
ROOM = 2.0
"""GiB that a stack of an old TensorFlow takes, or a long campaign's folder at most."""

_NO_MODULE = re.compile(r"No module named '([A-Za-z0-9_]+)")
_OPTIONAL = {
    "jax": ("keras/jax", "jax"),
    "torch": ("keras/torch", "torch"),
    "pytest": ("the property tests", "test"),
    "playwright": ("the tests of the report in a browser", "test"),
}
"""What clonediff does without: what it is for, and the extra that installs it."""
_SMALL = "{}\n\nx = keras.Input((2,), name='x')\nmodel = keras.Model(x, keras.layers.Dense(2)(x))\n"


class SubjectHealth(msgspec.Struct, frozen=True):
    """A subject: whether it works (None: it was not started), or why it does not. `verdicts` has those of one trial."""

    subject: str
    works: bool | None
    reason: str = ""
    versions: dict[str, str] = {}
    devices: tuple[str, ...] = ()
    verdicts: dict[str, str] = {}
    seconds: float = 0.0


class Folder(msgspec.Struct, frozen=True):
    """A folder that is written to, there or yet to be made. `problem` says why it cannot be; `free` is in bytes."""

    path: str
    free: int
    problem: str = ""


class Diagnosis(msgspec.Struct, frozen=True):
    """Everything that was found. `packages` has None for what is not installed, `pythons` for what was not found."""

    python: str
    packages: dict[str, str | None]
    subjects: tuple[SubjectHealth, ...]
    releases: dict[str, str | None]
    pythons: dict[str, str | None]
    gpus: tuple[str, ...]
    browser: str | None
    git: str | None
    cores: int
    memory: int
    available: int
    folders: dict[str, Folder]
    advice: tuple[str, ...]
    format: int = 1

    @property
    def works(self) -> bool | None:
        """Whether the installed Keras does, None where it was not started: all else can be lived without."""
        return next((each.works for each in self.subjects if each.subject == "keras"), False)


def diagnose(
    *, start: bool = True, runs: Path | None = None, say: Callable[[str], None] = lambda line: None
) -> Diagnosis:
    """Look at this machine. `start`: start each subject that is here and have it try a small graph."""
    import psutil  # type: ignore[import-untyped]  # it comes without types

    memory = psutil.virtual_memory()
    seen = []
    for subject in _subjects():
        say(f"{subject} ...")
        seen.append(_subject(subject, start))
    found = Diagnosis(
        python=platform.python_version(),
        packages={name: _version(name) for name in PACKAGES},
        subjects=tuple(seen),
        releases={
            each.release if each.how in (None, "laid over") else f"{each.release} ({each.how})": each.broken
            for each in installed()
        },
        pythons={python: _interpreter(python) for python in dict.fromkeys(stack.python for stack in stacks())},
        gpus=gpus(),
        browser=next(filter(None, map(shutil.which, BROWSERS)), None),
        git=shutil.which("git"),
        cores=len(os.sched_getaffinity(0)),
        memory=int(memory.total),
        available=int(memory.available),
        folders={"runs": _folder((runs or Path("runs")).absolute()), "cache": _folder(cache())},
        advice=(),
    )
    return msgspec.structs.replace(found, advice=tuple(advice(found)))


def advice(found: Diagnosis) -> Iterator[str]:
    """A line for each thing that is missing or wrong: what it is for, and what to do."""
    for name, version in found.packages.items():
        if version is None and name not in _OPTIONAL:
            yield f"{name} is not installed, and clonediff needs it: pip install --upgrade clonediff"
        elif version is None:
            purpose, extra = _OPTIONAL[name]
            yield f"{name} is not installed: for {purpose}, pip install 'clonediff[{extra}]'"
    for each in found.subjects:
        package = each.subject.partition("/")[2].partition("@")[0] or each.subject.partition("@")[0]
        if each.works is False and found.packages.get(package, "") is not None:
            module = _NO_MODULE.search(each.reason)
            todo = f"; pip install {module[1]}" if module else ""
            yield f"{each.subject} does not work: {each.reason}{todo}"
    for release, broken in found.releases.items():
        if broken is not None:
            yield f"{release} is broken in the cache: clonediff subjects remove {release}; {broken}"
    lacking = [python for python, path in found.pythons.items() if path is None]
    if lacking:
        named = " and ".join(filter(None, (", ".join(lacking[:-1]), lacking[-1])))
        yield f"no Python {named} is here: for tf.keras and Keras 2 of their day, {interpreters.to_get(lacking)}"
    if not found.gpus:
        yield "no GPU is here: subjects with @gpu cannot be tried; neither nvidia-smi nor the driver names one"
    if found.browser is None:
        yield f"no {BROWSERS[0]} is on PATH: the tests of the report in a browser are skipped"
    if found.git is None:
        yield "git is not on PATH: `clonediff judge` applies a diff with it; install git"
    if found.available < ONE_SUBJECT * GIB:
        yield f"{found.available / GIB:.1f} GiB of memory are free, and a subject takes {ONE_SUBJECT}: end something"
    for name, folder in found.folders.items():
        if folder.problem:
            option = "set CLONEDIFF_CACHE to another folder" if name == "cache" else "work in another, or give --out"
            yield f"{folder.path} cannot be written to ({folder.problem}): {option}"
        elif folder.free < ROOM * GIB:
            yield f"{folder.free / GIB:.1f} GiB are free for {folder.path}: make room, {ROOM:g} GiB are wanted"


def _subjects() -> list[Subject]:
    specs = installed_names()
    if gpus():
        specs += [f"{spec}@gpu" for spec in specs if not spec.endswith("/numpy")]
    return [Subject.parse(spec) for spec in specs]


def _subject(subject: Subject, start: bool) -> SubjectHealth:
    lacking = missing(subject)
    if lacking is not None:
        return SubjectHealth(str(subject), False, lacking.removeprefix(f"{subject}: "))
    if not start:
        return SubjectHealth(str(subject), None)
    began = time.monotonic()
    case = Case(_SMALL.format(DIALECTS[subject.dialect].imports["keras"]), ({"shape": [2], "dtype": "float32"},))
    try:
        with SubjectProcess(subject) as process:
            trial = GraphTrials(process, KnownIssues()).try_case(case)
            ready, versions = process.ready, process.versions
    except SubjectError as error:
        return SubjectHealth(str(subject), False, str(error).partition("\n")[0].removeprefix(f"{subject}: "))
    reason = trial.lost.said if trial.lost else ""
    if trial.refused:
        reason = f"it does not build a Dense layer: {trial.refused.type}: {trial.refused.message}"
    return SubjectHealth(
        str(subject),
        trial.built,
        reason,
        versions,
        ready.devices,
        {name: clone.verdict.value for name, clone in trial.clones.items()},
        time.monotonic() - began,
    )


def _version(package: str) -> str | None:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return version_beside(package) or metadata.version(package)
    return None


def _interpreter(python: str) -> str | None:
    found, _ = interpreters.find(python)
    return found.path if found is not None else None


def _folder(path: Path) -> Folder:
    """A folder as it is, or as the nearest one above it lets it be made."""
    there = next(each for each in (path, *path.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
        return Folder(str(path), shutil.disk_usage(there).free)
    except OSError as error:
        return Folder(str(path), 0, error.strerror or str(error))
