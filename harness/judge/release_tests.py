"""The release's own tests for cloning, where it ships them, run with a candidate in the place of its functions.

Owns where a release has such tests: in its source archive (Keras 2.2 and 2.3) or in the package itself (Keras 3).
A test that fails without any candidate does not speak against one.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec
from filelock import FileLock

from clonediff.harness.judge.processes import Prepared
from clonediff.harness.judge.record import ReleaseTests
from clonediff.harness.subjects.environment import HARNESS, environment
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.releases.installer import put_packages
from clonediff.harness.subjects.releases.store import cache
from clonediff.harness.subjects.subject import Subject

_MENTIONS = re.compile(r"\bclone_model\b")
_LONGEST = 120.0

_BOOT = """\
import json, sys

about = json.load(open(sys.argv[1], encoding="utf-8"))
sys.path[:0] = about["path"]
sys.path.insert(0, about["harness"])
if about["v1"]:
    from inside.v1 import give_names_back

    give_names_back()
from inside.candidates import cloning
from inside.frameworks import framework

sys.path.pop(0)
said = cloning(framework(about["dialect"]), about["pieces"])
if said.get("failure"):
    sys.exit("not loaded: %s" % said["failure"])
sys.path += about["pytest"]
import pytest

sys.exit(pytest.main(about["arguments"]))
"""

_PYTEST = (
    "pytest==7.4.4",
    "pluggy==1.2.0",
    "iniconfig==2.0.0",
    "packaging==24.0",
    "exceptiongroup==1.2.2",
    "tomli==2.0.1",
    "importlib-metadata==6.7.0",
    "zipp==3.15.0",
    "typing_extensions==4.7.1",
)
"""The newest pytest that runs on Python 3.7 too, with all it needs there: for a Python that has none."""


class Suite(msgspec.Struct, frozen=True):
    """The files with tests of cloning, the names of those tests, and the folders that pytest comes from.

    Where there are none, or they cannot be run, `note` says so.
    """

    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    note: str = ""

    def command(self, subject: Subject, prepared: Prepared, folder: Path) -> tuple[list[str], dict[str, str]]:
        """The command that runs the suite in `folder` with a candidate in place, and its environment."""
        arguments = [*self.files, "-q", "-p", "no:cacheprovider", "-o", "addopts="]
        arguments += [f"--rootdir={folder}", f"--junitxml={folder / 'tests.xml'}", "--import-mode=importlib"]
        arguments += ["-k", " or ".join(dict.fromkeys(self.names))]
        place = prepared.place
        about = {
            "path": place.path,
            "pytest": self.path,
            "harness": str(HARNESS),
            "v1": place.how == "v1 mode",
            "dialect": subject.dialect,
            "pieces": msgspec.to_builtins(prepared.parts),
            "arguments": arguments,
        }
        (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
        variables = environment(subject, place)
        variables.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
        variables.pop("PYTEST_ADDOPTS", None)
        return [place.python, "-c", _BOOT, str(folder / "about.json")], variables

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


def find_suite(subject: Subject, place: ReleasePlace, version: str, cloning: Path) -> Suite:
    """The tests of cloning that a release ships; `cloning` is the file of its `clone_model`."""
    folder = next((each for each in cloning.parents if each.name in ("keras", "tf_keras")), cloning.parent)
    try:
        if subject.package == "keras" and not subject.laid_over:  # whose packages have no tests
            folder = _kept(f"{subject.package}-{version}", lambda into: _unpack(f"{subject.package}=={version}", into))
    except (OSError, ReleaseError, subprocess.SubprocessError, tarfile.TarError) as error:
        return Suite(note=f"its source archive cannot be had: {str(error).splitlines()[-1][:120]}")
    found: dict[str, list[str]] = {}
    for file in sorted((*folder.rglob("*_test.py"), *folder.rglob("test_*.py"))):
        names = _tests(file.read_text(encoding="utf-8", errors="replace"))
        if names:
            found[str(file)] = names
    if not found:
        return Suite(note="ships none")
    path: tuple[str, ...] = ()
    if place.how == "own stack" or importlib.util.find_spec("pytest") is None:
        try:
            path = (str(_kept("pytest-7.4.4", lambda into: put_packages(_PYTEST, into, place.python))),)
        except (OSError, ReleaseError) as error:
            return Suite(note=f"no pytest to be had: {str(error).splitlines()[0][:120]}")
    return Suite(tuple(found), tuple(name for names in found.values() for name in names), path)


def _tests(text: str) -> list[str]:
    """The tests of a file that speak of cloning: by their names, or by calling `clone_model`."""
    parts = re.split(r"^(?=[ \t]*def test)", text, flags=re.MULTILINE)
    heads = [re.match(r"[ \t]*def (test\w+)", part) for part in parts]
    return [head[1] for head, part in zip(heads, parts, strict=True) if head and _MENTIONS.search(part)]


def _kept(name: str, make: Callable[[Path], object]) -> Path:
    """A folder of the cache, made once."""
    store = cache() / "tests"
    store.mkdir(parents=True, exist_ok=True)
    target = store / name
    with FileLock(f"{target}.lock"):
        if not target.is_dir():
            with tempfile.TemporaryDirectory(dir=store) as folder:
                made = Path(folder) / name
                made.mkdir()
                make(made)
                shutil.move(made, target)
    return target


def _unpack(release: str, folder: Path) -> None:
    """Put the tests of a release's source archive into a folder."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", release]
    command += ["--no-binary", ":all:", "--no-build-isolation", "-d", str(folder.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST, check=False)
    archive = next(folder.parent.glob("*.tar.gz"), None)
    if archive is None:
        raise FileNotFoundError((done.stderr.strip() or f"{release} has no source archive").splitlines()[-1])
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            if re.match(r"[^/]+/tests/.*\.py$", member.name):
                member.name = member.name.partition("/tests/")[2]
                tar.extract(member, folder, filter="data")
