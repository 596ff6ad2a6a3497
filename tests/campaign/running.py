"""Campaigns as a person runs them, in processes of their own, for the tests of this folder."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from clonediff.reports.known import KNOWN_ISSUES
from clonediff.reports.records import Finding, read
from tests.command_line import ran
from tests.interrupting import under_way

UNKNOWN = "model-trainable"
"""The known issue that a campaign of these tests is not told of, so that there is something to find, and soon."""


def known_without(folder: Path, *ids: str) -> Path:
    """A folder of known issues without some of them."""
    known = folder / "known"
    shutil.copytree(KNOWN_ISSUES, known, dirs_exist_ok=True)
    for name in ids:
        (known / f"{name}.py").unlink()
    return known


def fuzz(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`clonediff fuzz`, to its end."""
    return ran("fuzz", *arguments, cwd=folder)


@contextmanager
def fuzzing(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`clonediff fuzz` while it runs; what is left of it afterwards is ended."""
    with under_way("fuzz", *arguments, cwd=folder) as process:
        below: list[psutil.Process] = []
        try:
            yield process
        finally:
            if process.poll() is None:
                below = psutil.Process(process.pid).children(recursive=True)
                process.kill()
            for each in below:
                try:
                    each.send_signal(signal.SIGKILL)
                except psutil.NoSuchProcess:
                    continue


def summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What `--json` said."""
    assert "Traceback" not in done.stderr, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def found(run: Path) -> dict[str, tuple[int, bool | None, bytes, str]]:
    """The findings of a run, by folder: how often, what the script proved, the graph and the script."""
    its = {}
    for folder in sorted((run / "findings").iterdir()):
        assert not folder.name.startswith("."), f"{folder} was left behind"
        finding = read(folder / "finding.json", Finding)
        its[folder.name] = finding.count, finding.proof, bytes(finding.graph), (folder / "repro.py").read_text()
    return its


def below(pid: int) -> list[psutil.Process]:
    """The processes that a process has started, and they."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def subjects_below(pid: int) -> list[psutil.Process]:
    """Those of them in which a Keras runs."""
    return [each for each in below(pid) if "from inside.serve import main" in _line(each)]


def workers_below(pid: int) -> list[psutil.Process]:
    """Those of them that try shards."""
    return [each for each in below(pid) if "spawn_main" in _line(each)]


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
