"""Finding and installing the code of subjects: names, copies, and errors.

The checkouts are fake and are not started. Releases are installed from the package index into a cache of the test. If
one cannot be installed, the test is skipped; it fails if CLONEDIFF_REQUIRE_RELEASES is 1.
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
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases import pin, search_path_of
from tests.helpers.command_line import CLONEDIFF
from tests.helpers.git_repositories import commit, git, hash_of, put_keras
from tests.helpers.required_releases import get_or_skip
from tests.helpers.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.no_keras

RELEASE = "keras==3.12.3"
LAYERS = "keras/src/layers.py"
VERSION_FILE = "keras/src/version.py"
UNREACHABLE_INDEX = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "UV_DEFAULT_INDEX": "http://127.0.0.1:9/"}


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two commits; the first has the branch `old` and the tag `feature/jax`."""
    folder = tmp_path / "checkout"
    put_keras(folder)
    git(folder, "init", "-q")
    commit(folder)
    git(folder, "branch", "old")
    git(folder, "tag", "feature/jax")
    (folder / LAYERS).write_text("second = 2\n")
    commit(folder)
    return folder


def write_wheel(folder: Path, package: str = "keras", line: str = "first = 1\n") -> Path:
    path = folder / f"{package}-3.16.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "")
        archive.writestr(f"{package}/src/layers.py", line)
        archive.writestr(f"{package}/src/version.py", '__version__ = "3.16.0"\n')
        metadata = f"{package}-3.16.0.dist-info"
        archive.writestr(f"{metadata}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 3.16.0\n")
        archive.writestr(f"{metadata}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{metadata}/RECORD", "")
    return path


def copy_of(spec: str) -> Path:
    """Return the folder of the copy of a checkout, from which Keras is imported."""
    return Path(search_path_of(Subject.parse(pin(spec)))[0])


def cached_copies() -> list[str]:
    return sorted(folder.name for folder in (Path(os.environ["CLONEDIFF_CACHE"]) / "packages").glob("*"))


@pytest.mark.parametrize(
    ("spec", "tree"),
    [
        ("../keras", "../keras"),
        (".", "."),
        ("~/keras/jax", "~/keras"),
        ("../keras/jax/tensorflow@gpu:1", "../keras/jax"),
        ("../keras@home", "../keras@home"),
        ("../keras#HEAD@{1}/torch", "../keras#HEAD@{1}"),
        ("keras#master", "keras#master"),
        ("keras.git#feature/numpy/jax", "keras.git#feature/numpy"),
        ("keras-3.16.0-py3-none-any.whl/jax", "keras-3.16.0-py3-none-any.whl"),
    ],
)
def test_a_path_may_end_with_a_backend_and_a_device(
    spec: str, tree: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReleaseError, match=f"^{re.escape(tree)}: (there is no file or folder|has no version)"):
        pin(spec)


@pytest.mark.parametrize(
    "spec", ["keras", "keras/jax", "keras@gpu", "keras/theano", "tf_keras@tpu", "", "keras==3.14.1/jax", "keras-2.2.4"]
)
def test_the_name_of_a_release_is_no_path(spec: str) -> None:
    assert pin(spec) == spec


@pytest.mark.parametrize("name", ["old", "feature/jax/tensorflow", "HEAD~1"])
def test_a_commit_is_copied_without_the_changes_in_the_folder(
    checkout: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / LAYERS).write_text("third = 3\n")
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # git sets these variables for its hooks
        monkeypatch.setenv(variable, "/nowhere")
    version = f"3.16.0+g{hash_of(checkout, 'old')}"
    assert pin(f"{checkout}#{name}") == f"keras=={version}"
    folder = copy_of(f"{checkout}#{name}")
    assert (folder / VERSION_FILE).read_text() == f'# The version.\n__version__ = "{version}"\n'
    assert (folder / LAYERS).read_text() == "first = 1\n"
    assert [path.name for path in folder.iterdir()] == ["keras"]
    assert len(cached_copies()) == 1


CHANGES: dict[str, Callable[[Path], object]] = {
    "another file": lambda folder: (folder / LAYERS).write_text("third = 3\n"),
    "a new file": lambda folder: (folder / "keras/src/new.py").touch(),
    "a deleted file": lambda folder: (folder / LAYERS).unlink(),
    "an unrelated file": lambda folder: (folder / "setup.py").touch(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_version_of_a_folder_depends_on_its_package(checkout: Path, change: str) -> None:
    committed = pin(str(checkout))
    assert committed == pin(f"{checkout}#HEAD") == f"keras==3.16.0+g{hash_of(checkout)}"
    CHANGES[change](checkout)
    edited = pin(f"{checkout}/tensorflow")
    assert pin(f"{checkout}/tensorflow@gpu:1") == f"{edited}@gpu:1"
    assert (edited == committed) is (change == "an unrelated file")
    shutil.rmtree(checkout / ".git")
    assert re.fullmatch(r"keras==3\.16\.0\+tree-[0-9a-f]{8}", pin(str(checkout)))
    assert change == "an unrelated file" or pin(str(checkout)) == edited


def test_a_copy_is_kept_when_its_folder_is_removed(checkout: Path) -> None:
    name = pin(str(checkout))
    shutil.rmtree(checkout)
    (folder,) = search_path_of(Subject.parse(name))
    assert (Path(folder) / LAYERS).read_text() == "second = 2\n"
    shutil.rmtree(os.environ["CLONEDIFF_CACHE"])
    with pytest.raises(ReleaseError, match="no longer has the copy: name the folder again, as in --subject"):
        search_path_of(Subject.parse(name))


def test_the_version_of_a_wheel_depends_on_its_contents(tmp_path: Path) -> None:
    first = pin(str(write_wheel(tmp_path)))
    assert (copy_of(f"{write_wheel(tmp_path)}/tensorflow") / LAYERS).read_text() == "first = 1\n"
    assert pin(str(write_wheel(tmp_path, line="second = 2\n"))) != first


def _put_version(version: str | None) -> Callable[[Path], str]:
    def put(folder: Path) -> str:
        put_keras(folder, version=version or "")
        return str(folder)

    return put


def _commit_link(folder: Path) -> str:
    (folder / "keras/src/linked.py").symlink_to("/etc/passwd")
    commit(folder)
    return f"{folder}#HEAD"


def _remove_repository(folder: Path) -> str:
    shutil.rmtree(folder / ".git")
    return f"{folder}#HEAD"


def _truncate_wheel(folder: Path) -> str:
    path = write_wheel(folder)
    path.write_bytes(path.read_bytes()[:-200])
    return str(path)


ADVICE = "name a checkout of Keras 3"
NO_VERSION = f"has no version in keras/src/version.py: {ADVICE}"
UNUSABLE_CODE: dict[str, tuple[Callable[[Path], str], str]] = {
    "no-folder": (lambda _: "./nowhere", f"there is no file or folder .*nowhere: {ADVICE}"),
    "no-file": (lambda _: "no.whl", f"there is no file or folder .*no.whl: {ADVICE}"),
    "no-commit": (lambda folder: f"{folder}#nowhere", "has no commit, tag or branch 'nowhere': try git -C .* fetch"),
    "an-option-of-git": (lambda folder: f"{folder}#--all", "has no commit, tag or branch '--all'"),
    "no-repository": (_remove_repository, "not a git repository"),
    "no-git": (lambda folder: f"{folder}#old", "git is not on PATH: install git, or name a folder or a wheel"),
    "a-link-out-of-a-commit": (_commit_link, "cannot be copied: .*linked.py"),
    "a-part-of-a-checkout": (lambda folder: str(folder / "keras"), NO_VERSION),
    "an-sdist": (lambda folder: str((folder / "keras/__init__.py").rename(folder / "m").parent), "no keras/__init__"),
    "no-version": (_put_version(None), NO_VERSION),
    "an-odd-version": (_put_version("next"), r"'next\+tree-.*' is not a version"),
    "too-old": (_put_version("2.6.0"), "the oldest supported release of keras is 3.1"),
    "no-wheel": (lambda folder: str(folder / "pyproject.toml"), NO_VERSION),
    "a-truncated-wheel": (_truncate_wheel, "cannot be installed: .*: run pip to see why"),
    "another-wheel": (lambda folder: str(write_wheel(folder, "numpy")), NO_VERSION),
    "nightly-without-network": (lambda _: "keras-nightly", "cannot be installed: .*: the package index cannot be"),
}


@pytest.mark.parametrize("name", UNUSABLE_CODE)
def test_an_error_for_unusable_code_says_what_to_do(name: str, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, message = UNUSABLE_CODE[name]
    for variable, value in {**UNREACHABLE_INDEX, **({"PATH": os.devnull} if name == "no-git" else {})}.items():
        monkeypatch.setenv(variable, value)
    name_of_code = spec(checkout)
    with pytest.raises(ReleaseError, match=f"^{re.escape(name_of_code)}: .*{message}"):
        pin(name_of_code)
    assert not cached_copies()


@pytest.mark.parametrize(
    ("release", "environment", "message"),
    [
        (RELEASE, UNREACHABLE_INDEX, f"{RELEASE}: cannot be installed: .*: the package index cannot be reached: check"),
        ("keras==3.99.0", {}, "keras==3.99.0: cannot be installed: .*: name a version that the package index has$"),
        (RELEASE, {"CLONEDIFF_CACHE": os.devnull}, f"{os.devnull}.*: Not a directory: free disk space, make"),
    ],
)
def test_an_error_for_an_unavailable_release_says_what_to_do(
    release: str, environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ReleaseError, match=f"^{message}"):
        search_path_of(Subject.parse(release))
    assert not cached_copies()


def test_the_cache_drops_the_least_recently_used_copy(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonediff.harness.subjects.releases.MAX_FOLDERS", 2)
    first = pin(f"{checkout}#old")
    second = pin(f"{checkout}#HEAD")
    for folder in cached_copies():
        os.utime(Path(os.environ["CLONEDIFF_CACHE"]) / "packages" / folder, (0, 0))
    search_path_of(Subject.parse(first))
    (checkout / LAYERS).write_text("third = 3\n")
    pin(str(checkout))
    copied = " ".join(cached_copies())
    assert len(cached_copies()) == 2
    assert first.partition("+")[2] in copied and second.partition("+")[2] not in copied


def _start_installation() -> subprocess.Popen[bytes]:
    program = (
        f"from clonediff.harness.subjects import Subject, releases\nreleases.search_path_of(Subject.parse({RELEASE!r}))"
    )
    return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)


@pytest.mark.slow(reason="it installs a release")
def test_two_processes_install_a_release_once_even_after_a_kill() -> None:
    nightly = get_or_skip(lambda: pin("keras-nightly@gpu"))
    assert re.fullmatch(r"keras-nightly==\d+\.\d+\.\d+\.dev\d+@gpu", nightly)
    assert Path(*search_path_of(Subject.parse(nightly)), VERSION_FILE).is_file()
    first = _start_installation()
    wait_until(lambda: list(Path(os.environ["CLONEDIFF_CACHE"]).glob("packages/.unfinished-*/keras*")), first)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    others = [_start_installation() for _ in range(2)]
    messages = b"".join(process.communicate(timeout=PATIENCE)[1] for process in others).decode()
    assert [process.returncode for process in others] == [0, 0], messages
    assert messages.count(f"{RELEASE}: installing") == 1
    assert cached_copies()[0] == f"keras-3.12.3-{sys.implementation.cache_tag}"
    assert len(cached_copies()) == 2
    (folder,) = search_path_of(Subject.parse(RELEASE))
    assert list(Path(folder).glob("keras/__pycache__/__init__.*.pyc"))


@pytest.mark.slow(reason="a campaign; the other tests make copies that are not started")
def test_a_checkout_is_searched_and_replayed_after_its_removal(tmp_path: Path) -> None:
    package = importlib.util.find_spec("keras")
    assert package is not None and package.origin is not None
    shutil.copytree(Path(package.origin).parent, tmp_path / "checkout/keras")

    def clonediff(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*CLONEDIFF, *arguments], capture_output=True, text=True, check=False)

    search = ("fuzz", "--trials", "1", "--jobs", "1", "--out", str(tmp_path / "run"), "--json")
    result = clonediff(*search, "--subject", f"{tmp_path}/checkout/tensorflow")
    assert result.returncode in (0, 1), result.stderr
    [(name, versions)] = json.loads((tmp_path / "run/run.json").read_text())["versions"].items()
    assert re.fullmatch(r"keras==[\d.]+\+tree-[0-9a-f]{8}", name)
    assert versions["keras"] == name.partition("==")[2]
    shutil.rmtree(tmp_path / "checkout")
    result = clonediff("replay", "model-trainable", "--subject", name)
    assert result.returncode == 1, result.stderr
