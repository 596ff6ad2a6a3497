"""Real releases from the index, installed and found again.

Installations of a megabyte or two, each into a cache of its own. Where the index cannot be reached, they are
skipped; CLONEDIFF_REQUIRE_RELEASES=1 makes that a failure.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.place import BESIDE
from clonediff.harness.subjects.releases import in_full, installer_variables, place_of
from tests.command_line import CLONEDIFF
from tests.repositories import commit, git
from tests.required_releases import had
from tests.waiting import PATIENCE, until

RELEASE = "keras==3.12.3"
INSTALL = """
import sys
from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.releases import place_of

place_of(Subject.parse(sys.argv[1]))
"""
UNREACHED = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "UV_DEFAULT_INDEX": "http://127.0.0.1:9/"}


def start(cache: Path, *command: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        env={**os.environ, "CLONEDIFF_CACHE": str(cache), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def clonediff(cache: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = start(cache, *CLONEDIFF, *arguments, **environment)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def installing(cache: Path, **environment: str) -> subprocess.Popen[str]:
    return start(cache, sys.executable, "-c", INSTALL, RELEASE, **environment)


def kept(cache: Path) -> list[str]:
    folder = cache / "packages"
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture(scope="module")
def index() -> None:
    """The package index answers."""
    had(lambda: in_full("keras-nightly"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, index: None) -> Path:
    """A cache in which an installer was killed."""
    cache = tmp_path_factory.mktemp("cache")
    process = installing(cache)
    until(lambda: list(cache.glob("packages/.unfinished-*/keras*")), process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [name for name in kept(cache) if not name.startswith(".")] == []
    return cache


@pytest.fixture(scope="module")
def cache(killed: Path) -> Path:
    """The cache with that release, which two processes were told to install at once."""
    two = [installing(killed, PYTHONDONTWRITEBYTECODE="1") for _ in range(2)]
    said = [process.communicate(timeout=PATIENCE)[1] for process in two]
    assert [process.returncode for process in two] == [0, 0], said
    assert sum(f"{RELEASE}: installing" in each for each in said) == 1
    assert sum("another process is installing; waiting" in each for each in said) == 1
    return killed


@pytest.mark.slow(reason="it installs a release")
def test_a_release_is_installed_once_and_found_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(cache))
    [entry] = kept(cache)
    said: list[str] = []
    place = place_of(Subject.parse(RELEASE), say=said.append)
    assert said == []
    assert place.path == (str(cache / "packages" / entry),)
    assert (Path(place.path[0]) / "keras" / "__init__.py").is_file()


@pytest.mark.slow(reason="it installs a release")
def test_a_release_is_compiled_even_where_python_is_to_write_no_bytecode(cache: Path) -> None:
    (package,) = cache.glob("packages/*/keras")
    assert list(package.glob("__pycache__/__init__.*.pyc"))


@pytest.mark.parametrize(
    ("release", "environment", "advice"),
    [
        pytest.param(RELEASE, UNREACHED, "the package index cannot be reached: check", id="no-network"),
        pytest.param("keras==3.99.0", {}, "name a version that the package index has$", id="no-version"),
    ],
)
def test_what_cannot_be_had_says_why_and_leaves_nothing(
    release: str, environment: dict[str, str], advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ReleaseError, match=f"^{release}: cannot be installed: .*: {advice}"):
        place_of(Subject.parse(release))
    assert not list(tmp_path.glob("packages/*"))


@pytest.mark.slow(reason="a campaign; test_engine goes on without a subject that is lost, too")
def test_fuzz_goes_on_without_a_subject_that_cannot_be_had(cache: Path, tmp_path: Path) -> None:
    arguments = ("fuzz", "--trials", "1", "--out", str(tmp_path / "run"), "--json")
    code, out, err = clonediff(cache, *arguments, "--subject", "keras==3.12.4", "--subject", RELEASE, **UNREACHED)
    assert code == 2
    assert sum(line.startswith("clonediff: keras==3.12.4: cannot be installed") for line in err.splitlines()) == 1
    summary = json.loads(out)
    assert list(summary["lost"]) == ["keras==3.12.4"]
    assert summary["subjects"][RELEASE]["keras"] == "3.12.3"
    assert summary["trials"] >= 1


@pytest.mark.slow(reason="an installation more; test_trees makes copies of trees that are not started")
def test_tonights_wheel_is_a_release_of_that_day(tmp_path: Path, index: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))
    name = in_full("keras-nightly")
    assert re.fullmatch(r"keras-nightly==\d+\.\d+\.\d+\.dev\d+", name)
    assert place_of(Subject.parse(name)).path


@pytest.mark.slow(reason="a campaign; test_trees makes copies of trees that are not started")
def test_a_checkout_is_searched_and_found_again_in_what_was_found(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    package = importlib.util.find_spec("keras")
    assert package is not None
    assert package.origin is not None
    shutil.copytree(Path(package.origin).parent, checkout / "keras")
    git(checkout, "init", "-q")
    commit(checkout)
    (checkout / "keras/src/new.py").write_text("")
    search = ("fuzz", "--trials", "1", "--jobs", "1", "--out", str(tmp_path / "run"), "--json")
    code, out, err = clonediff(tmp_path / "cache", *search, "--subject", f"{checkout}/tensorflow")
    assert code in (0, 1), err
    [(name, versions)] = json.loads(out)["subjects"].items()
    assert re.fullmatch(r"keras==[\d.]+\+g[0-9a-f]{10}\.dirty-[0-9a-f]{8}", name)
    assert versions["keras"] == name.partition("==")[2]
    shutil.rmtree(checkout)
    code, out, err = clonediff(tmp_path / "cache", "replay", "model-trainable", "--subject", name)
    assert code == 1, err
    assert out.startswith(f"STILL BROKEN  {name} ")


def test_tonights_wheel_without_a_network_says_so(tmp_path: Path) -> None:
    code, _, err = clonediff(tmp_path, "fuzz", "--subject", "keras-nightly/jax", **UNREACHED)
    assert code == 2
    assert err.startswith("clonediff: keras-nightly: pip does not say which releases there are")
    assert "name one, such as keras-nightly==3.16.0.dev2026102704" in err


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "file"))
    with pytest.raises(ReleaseError, match="file.*: Not a directory: make room or give access, or name another folder"):
        place_of(Subject.parse(RELEASE))


def test_pip_installs_where_it_is_told_to_and_reaches_the_index_as_the_user_does() -> None:
    user = {"PIP_TARGET": "/x", "PIP_QUIET": "3", "PYTHONPATH": "/y", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    assert installer_variables(user) == {
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_USER": "0",
        "UV_HTTP_RETRIES": "1",
    }


def test_no_release_is_what_is_beside_clonediff() -> None:
    assert place_of(Subject.parse("keras")) == BESIDE
