"""The release's own tests for cloning, where it ships them, run with a candidate in the place of its functions.

Keras 3 has such tests in the package itself. A test that fails without any candidate does not speak against one.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from clonediff.harness.judge.processes import Prepared
from clonediff.harness.judge.record import ReleaseTests
from clonediff.harness.subjects.environment import HARNESS, environment
from clonediff.harness.subjects.subject import Subject

_MENTIONS = re.compile(r"\bclone_model\b")

_BOOT = """\
import json, sys

about = json.load(open(sys.argv[1], encoding="utf-8"))
sys.path[:0] = about["path"]
sys.path.insert(0, about["harness"])
from inside.candidates import cloning
from inside.frameworks import framework

sys.path.pop(0)
said = cloning(framework(about["dialect"]), about["pieces"])
if said.get("failure"):
    sys.exit("not loaded: %s" % said["failure"])
import pytest

sys.exit(pytest.main(about["arguments"]))
"""


class Suite(msgspec.Struct, frozen=True):
    """The files with tests of cloning, and the names of those tests.

    Where there are none, or they cannot be run, `note` says so.
    """

    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    note: str = ""

    def command(self, subject: Subject, prepared: Prepared, folder: Path) -> tuple[list[str], dict[str, str]]:
        """The command that runs the suite in `folder` with a candidate in place, and its environment."""
        arguments = [*self.files, "-q", "-p", "no:cacheprovider", "-o", "addopts="]
        arguments += [f"--rootdir={folder}", f"--junitxml={folder / 'tests.xml'}", "--import-mode=importlib"]
        arguments += ["-k", " or ".join(dict.fromkeys(self.names))]
        place = prepared.place
        about = {
            "path": place.path,
            "harness": str(HARNESS),
            "dialect": subject.dialect,
            "pieces": msgspec.to_builtins(prepared.parts),
            "arguments": arguments,
        }
        (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
        variables = environment(subject, place)
        variables.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
        variables.pop("PYTEST_ADDOPTS", None)
        return [sys.executable, "-c", _BOOT, str(folder / "about.json")], variables

    def outcome(self, folder: Path, said: str | None, without: ReleaseTests | None) -> ReleaseTests:
        """What came of it. `said` is what it wrote, None if it did not end; `without` is how it went without one."""
        try:
            tree = ElementTree.parse(folder / "tests.xml")
        except (OSError, ElementTree.ParseError):
            lines = [line for line in (said or "").splitlines() if line.strip()]
            why = "they did not end" if said is None else lines[-1][:200] if lines else "they did not run"
            expected = without.passed if without else len(self.names)
            failed = tuple(name for name in self.names if without is None or name not in without.failed)
            return ReleaseTests(f"{expected} tests{_more(without)}", failed=failed, said=why if failed else "")
        cases = [each for each in tree.iter("testcase") if each.find("skipped") is None]
        wrong = [(case.get("name", ""), each) for case in cases for each in case if each.tag in ("failure", "error")]
        new = [(name, each) for name, each in wrong if without is None or name not in without.failed]
        failed, passed = tuple(name for name, _ in new), len(cases) - len(wrong)
        note = f"{passed + len(failed)} tests{_more(without)}"
        why = (new[0][1].get("message") or "").partition("\n")[0][:200] if new else ""
        seconds = sum(float(suite.get("time", 0)) for suite in tree.iter("testsuite"))
        return ReleaseTests(note, passed, failed, why, seconds)


def _more(without: ReleaseTests | None) -> str:
    return f", {len(without.failed)} more fail without it too" if without and without.failed else ""


def find_suite(cloning: Path) -> Suite:
    """The tests of cloning that a release ships; `cloning` is the file of its `clone_model`."""
    if importlib.util.find_spec("pytest") is None:
        return Suite(note="no pytest is installed")
    folder = next((each for each in cloning.parents if each.name in ("keras", "tf_keras")), cloning.parent)
    found: dict[str, list[str]] = {}
    for file in sorted((*folder.rglob("*_test.py"), *folder.rglob("test_*.py"))):
        names = _tests(file.read_text(encoding="utf-8", errors="replace"))
        if names:
            found[str(file)] = names
    if not found:
        return Suite(note="ships none")
    return Suite(tuple(found), tuple(name for names in found.values() for name in names))


def _tests(text: str) -> list[str]:
    """The tests of a file that speak of cloning: by their names, or by calling `clone_model`."""
    parts = re.split(r"^(?=[ \t]*def test)", text, flags=re.MULTILINE)
    heads = [re.match(r"[ \t]*def (test\w+)", part) for part in parts]
    return [head[1] for head, part in zip(heads, parts, strict=True) if head and _MENTIONS.search(part)]
