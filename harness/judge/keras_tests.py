"""Run Keras' own tests of the modules that a proposal changes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.subjects.child import Child, scratch_folder
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.subject import Subject

TIME_LIMIT, MEMORY_LIMIT = 3600.0, 8 << 30  # seconds, bytes
_RUN = "import os, pytest, sys; os.dup(1); os.dup2(2, 1); sys.exit(pytest.main(sys.argv[1:]))"
"""Run pytest: its output goes to standard error; the pipe for responses closes when it ends."""


def compare_tests(copy: PrivateCopy, subject: Subject) -> tuple[int, tuple[str, ...]]:
    """How many tests pass on the release, and which of them fail in the copy."""
    names = [f"{path.removesuffix('.py')}_test.py" for path in copy.changed_files()]
    files = [name for name in names if (copy.folder / name).is_file()]
    passing, still_passing = (_passing_tests(root, files, subject) for root in (copy.original, copy.folder))
    return len(passing), tuple(sorted(passing - still_passing))


def _passing_tests(root: Path, files: list[str], subject: Subject) -> set[str]:
    """The tests that pass with the package in `root`."""
    if not files:
        return set()  # pytest would run all tests
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        report = Path(folder, "report.xml")
        options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"--rootdir={root}"]
        paths = [str(root / name) for name in files]
        command = [sys.executable, "-c", _RUN, *options, f"--junitxml={report}", *paths]
        child = Child(command, environment(subject, (str(root),)))
        child.ask(b"", TIME_LIMIT, MEMORY_LIMIT)
        child.close()
        cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
        return {f"{case.get('classname')}.{case.get('name')}" for case in cases if not len(case)}
