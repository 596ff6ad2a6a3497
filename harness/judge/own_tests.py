"""The release's own tests for cloning, where it ships them, run with a candidate in the place of its functions.

Owns where a release has such tests: in its source archive (Keras 2.2 and 2.3) or in the package itself (Keras 3).
A test that fails without any candidate does not speak against one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
from filelock import FileLock

from clonediff.harness.judge.record import OwnTests
from clonediff.harness.subjects.environment import HARNESS, environment
from clonediff.harness.subjects.place import ReleasePlace
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
import pytest

sys.exit(pytest.main(about["arguments"]))
"""

_OLD_PYTEST = (
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
"""The newest pytest that runs on Python 3.7, with all it needs there."""


class Suite(msgspec.Struct, frozen=True):
    """The files with tests of cloning, the names of those tests, and the folders that pytest comes from."""

    files: tuple[str, ...]
    names: tuple[str, ...]
    path: tuple[str, ...] = ()
    note: str = ""


def find_suite(subject: Subject, place: ReleasePlace, version: str, cloning: Path, python: str) -> Suite:
    """The tests of cloning that a release ships. Where there are none, or they cannot be run, the note says so.

    `cloning` is the file of the release's `clone_model`.
    """
    folder = next((each for each in cloning.parents if each.name in ("keras", "tf_keras")), cloning.parent)
    if subject.package == "keras" and not subject.laid_over:  # whose packages have no tests
        try:
            folder = _source(subject, version)
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            return Suite((), (), note=f"its source archive cannot be had: {str(error).splitlines()[-1][:120]}")
    found: dict[str, list[str]] = {}
    for file in sorted((*folder.rglob("*_test.py"), *folder.rglob("test_*.py"))):
        text = file.read_text(encoding="utf-8", errors="replace")
        if _MENTIONS.search(text):
            names = [name for name in _tests(text) if name]
            if names:
                found[str(file)] = names
    if not found:
        return Suite((), (), note="ships none")
    try:
        path = _pytest(place, python)
    except (OSError, subprocess.SubprocessError) as error:
        return Suite((), (), note=f"no pytest to be had for Python {python}: {str(error).splitlines()[-1][:120]}")
    return Suite(tuple(found), tuple(name for names in found.values() for name in names), path)


def work(
    suite: Suite, subject: Subject, place: ReleasePlace, pieces: Sequence[dict[str, object]], folder: Path
) -> tuple[list[str], dict[str, str]]:
    """The command that runs a suite in `folder`, and its environment."""
    arguments = [*suite.files, "-q", "-p", "no:cacheprovider", "-o", "addopts="]
    arguments += [f"--rootdir={folder}", f"--junitxml={folder / 'tests.xml'}", "--import-mode=importlib"]
    arguments += ["-k", " or ".join(dict.fromkeys(suite.names))]
    about = {
        "path": [*place.path, *suite.path],
        "harness": str(HARNESS),
        "v1": place.how == "v1 mode",
        "dialect": subject.dialect,
        "pieces": list(pieces),
        "arguments": arguments,
    }
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
    surroundings = environment(subject, place)
    surroundings.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    surroundings.pop("PYTEST_ADDOPTS", None)
    return [place.python, "-c", _BOOT, str(folder / "about.json")], surroundings


def outcome(suite: Suite, folder: Path, said: str | None, without: OwnTests | None) -> OwnTests:
    """What came of a suite; `without` is how it went without a candidate."""
    if not suite.files:
        return OwnTests(suite.note)
    known_failures = set(without.failed) if without else set()
    try:
        tree = ElementTree.parse(folder / "tests.xml")
    except (OSError, ElementTree.ParseError):
        why = "they did not end" if said is None else _last(said)
        expected = without.passed if without else len(suite.names)
        return OwnTests(f"{expected} tests", failed=tuple(suite.names), said=why)
    passed, failed, why = 0, [], ""
    for case in tree.iter("testcase"):
        name = case.get("name", "")
        wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
        if wrong is not None and name not in known_failures:
            failed.append(name)
            why = why or (wrong.get("message") or "").partition("\n")[0][:200]
        elif wrong is None and case.find("skipped") is None:
            passed += 1
    note = f"{passed + len(failed)} tests"
    if known_failures:
        note += f", {len(known_failures)} more fail without it too"
    return OwnTests(note, passed, tuple(failed), why, _seconds(tree))


def _seconds(tree: ElementTree.ElementTree[Any]) -> float:
    """How long a suite took, by its own account."""
    return sum(float(suite.get("time", 0)) for suite in tree.iter("testsuite"))


def _tests(text: str) -> list[str]:
    """The tests of a file that speak of cloning: by their names, or by calling `clone_model`."""
    parts = re.split(r"^(?=[ \t]*def test)", text, flags=re.MULTILINE)
    heads = [re.match(r"[ \t]*def (test\w+)", part) for part in parts]
    return [head[1] for head, part in zip(heads, parts, strict=True) if head and _MENTIONS.search(part)]


def _store() -> Path:
    store = cache() / "tests"
    store.mkdir(parents=True, exist_ok=True)
    return store


def _source(subject: Subject, version: str) -> Path:
    """The tests in the source archive of a release, fetched once."""
    target = _store() / f"{subject.package}-{version}"
    with FileLock(f"{target}.lock"):
        if target.is_dir():
            return target
        with tempfile.TemporaryDirectory(dir=_store()) as folder:
            what = [f"{subject.package}=={version}", "-d", folder]
            _pip("download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", *what)
            archive = next(Path(folder).glob("*.tar.gz"), None)
            if archive is None:
                raise FileNotFoundError(f"{subject.package} {version} has no source archive")
            unpacked = Path(folder) / "unpacked"
            with tarfile.open(archive) as tar:
                members = [member for member in tar.getmembers() if re.match(r"[^/]+/tests/.*\.py$", member.name)]
                tar.extractall(unpacked, members, filter="data")
            tests = next(unpacked.glob("*/tests"), unpacked)
            tests.mkdir(parents=True, exist_ok=True)
            shutil.move(str(tests), target)
    return target


def _pytest(place: ReleasePlace, python: str) -> tuple[str, ...]:
    """The folders that pytest is imported from; none where that Python has it already."""
    has = subprocess.run(
        [place.python, "-c", "import pytest"], capture_output=True, timeout=60, check=False, cwd=tempfile.gettempdir()
    )
    if has.returncode == 0:
        return ()
    major, minor = (int(part) for part in python.split(".")[:2])
    old = (major, minor) < (3, 8)
    target = _store() / f"pytest-{major}.{minor}"
    with FileLock(f"{target}.lock"):
        if not target.is_dir():
            with tempfile.TemporaryDirectory(dir=_store()) as folder:
                unpacked = Path(folder) / "unpacked"
                which = ["--no-deps", *_OLD_PYTEST] if old else ["pytest<9", "exceptiongroup", "tomli"]
                _pip("install", "-q", "--target", str(unpacked), "--no-compile", *which)
                shutil.move(str(unpacked), target)
    return (str(target),)


def _pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        check=False,
    )
    if done.returncode:
        raise subprocess.SubprocessError((done.stderr.strip() or "pip failed").splitlines()[-1])


def _last(said: str) -> str:
    lines = [line for line in said.strip().splitlines() if line.strip()]
    return lines[-1][:200] if lines else "they did not run"
