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
    """Which test files were run, how many tests pass without a proposal, and which of those fail with it."""

    files: tuple[str, ...]
    passing: int = 0
    broken: tuple[str, ...] = ()


def compare(copy: PrivateCopy) -> TestsCompared:
    """Run the tests of the modules that are changed in a copy, there and in the release."""
    names = (f"{path.removesuffix('.py')}_test.py" for path in copy.changed())
    files = tuple(name for name in names if (copy.folder / name).is_file())
    if not files:
        return TestsCompared(())
    before, after = (_passing(root, files) for root in (copy.release, copy.folder))
    return TestsCompared(files, len(before), tuple(sorted(before - after)))


def _passing(root: Path, files: tuple[str, ...]) -> set[str]:
    """The tests that pass in the package below a folder."""
    variables = {**os.environ, "PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={root}", *files]
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        report = Path(folder, "report.xml")
        subprocess.run([*command, f"--junitxml={report}"], cwd=root, env=variables, capture_output=True, check=False)
        cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
        return {f"{case.get('classname')}.{case.get('name')}" for case in cases if not len(case)}
