"""Keras' own tests of the modules that a proposal touches, without it and with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.subjects.child import scratch


class TestsCompared(msgspec.Struct, frozen=True):
    """How many tests pass without a proposal, and which of them fail with it; `passing` is None where none was run."""

    passing: int | None = None
    broken: tuple[str, ...] = ()


def compare(copy: PrivateCopy) -> TestsCompared:
    """Run the tests of the modules that are changed in a copy, there and in the release."""
    names = [f"{path.removesuffix('.py')}_test.py" for path in copy.changed()]
    files = [name for name in names if (copy.folder / name).is_file()]
    before, after = (_passing(root, files) for root in (copy.release, copy.folder))
    return TestsCompared(len(before), tuple(sorted(before - after)))


def _passing(root: Path, files: list[str]) -> set[str]:
    """The tests in files below a folder that pass in the package there."""
    if not files:
        return set()  # of no files, pytest would run all
    variables = {**os.environ, "PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={root}"]
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        report = Path(folder, "report.xml")
        command += [f"--junitxml={report}", *files]
        subprocess.run(command, cwd=root, env=variables, capture_output=True, check=False)
        cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
        return {f"{case.get('classname')}.{case.get('name')}" for case in cases if not len(case)}
