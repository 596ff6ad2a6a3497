"""Real releases from the index, installed, found again and spoilt.

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
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.place import BESIDE
from clonediff.harness.subjects.releases import ReleaseError, in_full, place_of, store
from clonediff.harness.subjects.releases.store import MANIFEST, Manifest
from clonediff.harness.subjects.releases.table import newest_nightly
from clonediff.reports.records import read
from tests.command_line import CLONEDIFF
from tests.repositories import commit, git
from tests.required_releases import had
from tests.waiting import PATIENCE, until

RELEASE, ENTRY = "keras==3.0.5", "keras-3.0.5"
INSTALL = """
import sys
from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.releases import place_of

place_of(Subject.parse(sys.argv[1]))
"""
UNREACHED = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "UV_DEFAULT_INDEX": "http://127.0.0.1:9/"}

Installed = Callable[[], Path]


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


def manifests(cache: Path) -> list[Manifest]:
    return [read(cache / "releases" / name / MANIFEST, Manifest) for name in kept(cache) if not name.startswith(".")]


def kept(cache: Path) -> list[str]:
    folder = cache / "releases"
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture(scope="module")
def index() -> None:
    """The package index answers."""
    had(newest_nightly)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, index: None) -> Path:
    """A cache in which an installer was killed; what it said then of itself."""
    cache = tmp_path_factory.mktemp("cache")
    process = installing(cache)
    # Its files are there, its manifest is not.
    until(lambda: list(cache.glob(f"releases/.{ENTRY}*/site/keras/__init__.py")), process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (cache / "killed.json").write_text(json.dumps(kept(cache)))
    return cache


@pytest.fixture(scope="module")
def cache(killed: Path) -> Path:
    """The cache with that release, which two processes were told to install at once."""
    bare = {"PYTHONDONTWRITEBYTECODE": "1"}
    two = [installing(killed, **bare) for _ in range(2)]
    said = [process.communicate(timeout=PATIENCE) for process in two]
    assert [process.returncode for process in two] == [0, 0], said
    (killed / "said.json").write_text(json.dumps([err for _, err in said]))
    return killed


def test_two_at_once_install_a_release_once(cache: Path) -> None:
    said = json.loads((cache / "said.json").read_text())
    assert sum(f"{RELEASE}: installing" in each for each in said) == 1
    assert sum("another process is at work on it; waiting" in each for each in said) == 1
    [entry] = manifests(cache)
    assert (entry.release, entry.how, entry.versions["keras"]) == (RELEASE, "laid over", "3.0.5")
    assert len(kept(cache)) == 1


def test_what_is_installed_is_found_at_once_and_starts(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(cache))
    said: list[str] = []
    place = place_of(Subject.parse(RELEASE), install=False, say=said.append)
    assert said == [], "nothing is started to see whether it works"
    assert place.how == "laid over"
    assert (Path(place.path[0]) / "keras" / "__init__.py").is_file()
    assert place.versions["keras"] == "3.0.5"


def test_what_is_around_it_changed_so_it_is_seen_to_start_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(cache))
    [entry] = kept(cache)
    manifest = store.manifest_of(entry)
    assert manifest is not None
    elsewhere = msgspec.structs.replace(manifest.checked[0], backend_version="2.18.0")
    store.seal(store.folder_of(entry), msgspec.structs.replace(manifest, checked=(elsewhere,)))
    said: list[str] = []
    place_of(Subject.parse(RELEASE), install=False, say=said.append)
    assert len(said) == 1
    assert said[0].startswith(f"{RELEASE}: starting it once, tensorflow ")
    again = store.manifest_of(entry)
    assert again is not None
    assert again.checked == (manifest.checked[0], elsewhere)
    place_of(Subject.parse(RELEASE), install=False, say=said.append)
    assert len(said) == 1


@pytest.mark.slow(reason="an installation more; test_store names a manifest that cannot be read, and builds anew")
def test_a_release_with_a_truncated_manifest_is_named_and_installed_again(cache: Path) -> None:
    [entry] = kept(cache)
    path = cache / "releases" / entry / MANIFEST
    path.write_bytes(path.read_bytes()[:200])
    _, err = installing(cache).communicate(timeout=PATIENCE)
    assert f"{path}: " in err
    assert "taken as not installed" in err
    assert kept(cache) == [entry]
    assert manifests(cache)[0].release == RELEASE


def test_an_installer_that_is_killed_leaves_nothing_that_is_found(killed: Path) -> None:
    [left] = json.loads((killed / "killed.json").read_text())
    assert left.startswith(f".{ENTRY}")


def test_a_release_is_compiled_even_where_python_is_to_write_no_bytecode(cache: Path) -> None:
    (package,) = cache.glob("releases/*/site/keras")
    assert list(package.glob("__pycache__/__init__.*.pyc"))


def test_what_a_release_needs_is_beside_it(cache: Path) -> None:
    [entry] = manifests(cache)
    # This Keras requires what TensorFlow no longer brings.
    assert "dm-tree" in entry.versions


@pytest.mark.slow(reason="an installation more; a Keras that does not start is a line in test_check_command")
def test_a_release_that_does_not_start_says_so_and_leaves_nothing(
    tmp_path: Path, index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))
    says = r"^tf_keras==2\.15\.1: does not start, tensorflow .* it wants tensorflow<2\.16"
    with pytest.raises(ReleaseError, match=says):
        place_of(Subject.parse("tf_keras==2.15.1"))
    assert kept(tmp_path) == []


def without_tools(folder: Path) -> Mapping[str, str]:
    """A machine with no uv and no interpreter but ours."""
    return {
        "PATH": str(folder),
        "HOME": str(folder),
        "PYENV_ROOT": "",
        "XDG_DATA_HOME": "",
        "UV_PYTHON_INSTALL_DIR": "",
    }


@pytest.mark.parametrize(
    ("release", "environment", "says"),
    [
        pytest.param("keras==3.12.3", UNREACHED, "the package index cannot be reached", id="no-network"),
        pytest.param("keras==3.99.0", {}, "the package index has no keras==3.99.0", id="no-version"),
        pytest.param("tensorflow==2.4.4", {}, "needs Python 3.8 for TensorFlow 2.4.4", id="no-interpreter"),
        pytest.param("tensorflow==2.4.99", {}, "there is no such release with a stack", id="no-stack"),
    ],
)
def test_what_cannot_be_had_says_why_and_leaves_nothing(
    release: str,
    environment: dict[str, str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if "3.99.0" in release:
        request.getfixturevalue("index")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    for name, value in {**without_tools(empty), **environment}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ReleaseError, match=f"^{release}: .*{says}"):
        place_of(Subject.parse(release))
    assert kept(tmp_path / "cache") == []


@pytest.mark.slow(reason="a campaign; test_engine goes on without a subject that is lost, too")
def test_fuzz_goes_on_without_a_subject_that_cannot_be_had(cache: Path, tmp_path: Path) -> None:
    arguments = ("fuzz", "--trials", "1", "--rate", "0", "--out", str(tmp_path / "run"), "--json")
    code, out, err = clonediff(cache, *arguments, "--subject", "keras==3.12.3", "--subject", RELEASE, **UNREACHED)
    assert code == 2
    assert (
        sum(
            line.startswith("clonediff: keras==3.12.3: the package index cannot be reached")
            for line in err.splitlines()
        )
        == 1
    )
    summary = json.loads(out)
    assert list(summary["lost"]) == ["keras==3.12.3"]
    assert summary["subjects"][RELEASE]["keras"] == "3.0.5"
    assert summary["subjects"][RELEASE]["stack"] == "laid over"
    assert summary["trials"] >= 1


@pytest.mark.slow(reason="an installation more; test_trees makes copies of trees that are not started")
def test_tonights_wheel_is_a_release_of_that_day(tmp_path: Path, index: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))
    name = in_full("keras-nightly")
    assert re.fullmatch(r"keras-nightly==\d+\.\d+\.\d+\.dev\d+", name)
    assert place_of(Subject.parse(name)).how == "laid over"


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
    search = ("fuzz", "--trials", "1", "--rate", "0", "--jobs", "1", "--out", str(tmp_path / "run"), "--json")
    code, out, err = clonediff(tmp_path / "cache", *search, "--subject", f"{checkout}/tensorflow")
    assert code in (0, 1), err
    [(name, versions)] = json.loads(out)["subjects"].items()
    assert re.fullmatch(r"keras==[\d.]+\+g[0-9a-f]{10}\.dirty-[0-9a-f]{8}", name)
    assert (versions["keras"], versions["stack"]) == (name.partition("==")[2], "laid over")
    shutil.rmtree(checkout)
    code, out, err = clonediff(tmp_path / "cache", "replay", "model-trainable", "--subject", name)
    assert code == 1, err
    assert out.startswith(f"STILL BROKEN  {name} ")


def test_tonights_wheel_without_a_network_says_so(tmp_path: Path) -> None:
    code, _, err = clonediff(tmp_path, "fuzz", "--subject", "keras-nightly/jax", **UNREACHED)
    assert code == 2
    assert err.startswith("clonediff: keras-nightly: the package index cannot be reached")
    assert "name them, as in keras-nightly==3.16.0.dev2026102704" in err


def test_no_release_is_what_is_beside_clonediff() -> None:
    assert place_of(Subject.parse("keras")) == BESIDE
