"""A Keras by its place: how it is spelled, what its version is, and that its copy stays as it was.

The trees are made up, and are never started; test_installs starts a real one.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.subjects import Subject, releases
from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.releases import in_full, is_tree, place_of, split
from tests.repositories import commit, git, hash_of, put_keras

VERSION_FILE = "keras/src/version.py"
LAYERS = "keras/src/layers.py"
OTHERS = {
    "GIT_DIR": "/nowhere",
    "GIT_WORK_TREE": "/nowhere",
    "GIT_INDEX_FILE": "/nowhere/index",
    "GIT_OBJECT_DIRECTORY": "/nowhere/objects",
    "GIT_CONFIG_COUNT": "1",
}
"""What a hook of git sets for the programs that it runs."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))


def copies() -> list[Path]:
    return list((releases.cache() / "packages").glob("[!.]*"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two commits; the first is the branch `old`, and a tag `feature/jax`."""
    folder = tmp_path / "checkout"
    put_keras(folder)
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "README.md").write_text("Keras\n")
    git(folder, "init", "-q")
    commit(folder)
    git(folder, "branch", "old")
    git(folder, "tag", "feature/jax")
    (folder / LAYERS).write_text("second = 2\n")
    commit(folder)
    return folder


def kept(spec: str) -> Path:
    """The folder that the copy of a tree is imported from."""
    return Path(place_of(Subject.parse(in_full(spec, str))).path[0])


def wheel(folder: Path, name: str = "keras", compression: int = zipfile.ZIP_STORED, **files: str) -> Path:
    path = folder / f"{name}-3.16.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", compression) as made:
        made.writestr(f"{name}/__init__.py", files.get("init", ""))
        if name == "keras":
            made.writestr(VERSION_FILE, '__version__ = "3.16.0.dev2026010101"\n')
        made.writestr(f"{name}-3.16.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.16.0\n")
    return path


@pytest.mark.parametrize(
    ("spec", "tree", "suffix"),
    [
        ("../keras", "../keras", ""),
        (".", ".", ""),
        ("~/keras/jax", "~/keras", "/jax"),
        ("../keras/jax@gpu:1", "../keras", "/jax@gpu:1"),
        ("../keras/jax/tensorflow", "../keras/jax", "/tensorflow"),
        ("../keras@home", "../keras@home", ""),
        ("work/keras@gpu", "work/keras", "@gpu"),
        ("../keras#HEAD@{1}/torch", "../keras#HEAD@{1}", "/torch"),
        ("keras#master", "keras#master", ""),
        ("keras.git#feature/numpy/jax", "keras.git#feature/numpy", "/jax"),
        ("keras-3.16.0-py3-none-any.whl/jax", "keras-3.16.0-py3-none-any.whl", "/jax"),
    ],
)
def test_a_tree_may_have_a_backend_and_a_device_behind_it(spec: str, tree: str, suffix: str) -> None:
    assert is_tree(spec)
    assert split(spec) == (tree, suffix)


@pytest.mark.parametrize(
    "spec",
    ["keras", "keras/jax", "keras@gpu", "keras/theano", "keras/jax/cpu", "tf_keras@tpu", "",
     "keras==3.14.1/jax", "keras-nightly/jax", "keras-2.2.4", "tensorflow==2.4.4"],
)  # fmt: skip
def test_a_release_is_no_tree_and_its_name_stays_as_it_is(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_tree(spec)
    if not spec.startswith("keras-nightly"):
        assert in_full(spec) == spec


def test_tonights_wheel_is_the_newest_of_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "_newest_nightly", lambda: "3.17.0.dev2026112602")
    assert in_full("keras-nightly/jax@gpu") == "keras-nightly==3.17.0.dev2026112602/jax@gpu"


def test_a_checkout_without_a_change_is_its_commit(checkout: Path) -> None:
    name = f"keras==3.16.0+g{hash_of(checkout)}"
    assert in_full(str(checkout), str) == name
    assert in_full(f"{checkout}#HEAD", str) == in_full(f"{checkout}#{git(checkout, 'rev-parse', 'HEAD')}", str) == name
    folder = kept(str(checkout))
    assert (folder / VERSION_FILE).read_text() == f'# The version.\n__version__ = "{name.partition("==")[2]}"\n'
    assert (folder / LAYERS).read_text() == "second = 2\n"
    assert [each.name for each in folder.iterdir()] == ["keras"]
    assert len(copies()) == 1


@pytest.mark.parametrize("spelled", ["old", "feature/jax/tensorflow", "HEAD~1", "master~1"])
def test_a_commit_is_taken_whatever_lies_in_the_folder(checkout: Path, spelled: str) -> None:
    git(checkout, "branch", "-M", "master")
    (checkout / LAYERS).write_text("third = 3\n")
    assert in_full(f"{checkout}#{spelled}", str) == f"keras==3.16.0+g{hash_of(checkout, 'old')}"
    assert (kept(f"{checkout}#{spelled}") / LAYERS).read_text() == "first = 1\n"


def test_a_bare_repository_is_asked_for_a_commit(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "clone", "-q", "--bare", str(checkout), str(tmp_path / "keras.git"))
    assert in_full(f"{tmp_path / 'keras.git'}#old", str) == f"keras==3.16.0+g{hash_of(checkout, 'old')}"
    with pytest.raises(
        ReleaseError, match="is a repository without files: name a commit of it, as in .*keras.git#HEAD"
    ):
        in_full(str(tmp_path / "keras.git"), str)


def _change(folder: Path) -> None:
    (folder / LAYERS).write_text("third = 3\n")


def _stage(folder: Path) -> None:
    _change(folder)
    git(folder, "add", LAYERS)


def _add(folder: Path) -> None:
    (folder / "keras/src/new.py").write_text("")


def _remove(folder: Path) -> None:
    (folder / LAYERS).unlink()


@pytest.mark.parametrize("edit", [_change, _stage, _add, _remove], ids=["changed", "staged", "added", "removed"])
def test_an_edited_checkout_has_a_version_of_its_own(checkout: Path, edit: Callable[[Path], None]) -> None:
    clean = in_full(str(checkout), str)
    edit(checkout)
    dirty = in_full(str(checkout), str)
    assert re.fullmatch(rf"{re.escape(clean)}\.dirty-[0-9a-f]{{8}}", dirty)
    assert Subject.parse(dirty).version == dirty.partition("==")[2]
    assert in_full(str(checkout), str) == dirty
    _add(checkout)
    (checkout / "keras/src/new.py").write_text("again = 1\n")
    assert in_full(str(checkout), str) not in (clean, dirty)


def test_what_is_no_part_of_keras_or_ignored_makes_nothing_dirty(checkout: Path) -> None:
    clean = in_full(str(checkout), str)
    (checkout / "README.md").write_text("changed\n")
    (checkout / "notes.txt").write_text("new\n")
    (checkout / "keras/out.log").write_text("new\n")
    assert in_full(str(checkout), str) == clean


def test_a_copy_stays_as_it_was_when_the_tree_changes_moves_and_goes(checkout: Path, tmp_path: Path) -> None:
    (checkout / LAYERS).write_text("third = 3\n")
    name = in_full(str(checkout), str)
    (checkout / LAYERS).write_text("fourth = 4\n")
    checkout.rename(tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "elsewhere")
    [folder] = place_of(Subject.parse(name)).path
    assert (Path(folder) / LAYERS).read_text() == "third = 3\n"


def _link(folder: Path, name: str, target: str) -> None:
    (folder / name).symlink_to(target)


@pytest.mark.parametrize("dirty", [False, True], ids=["commit", "edited"])
def test_a_link_within_a_tree_is_what_it_leads_to(checkout: Path, dirty: bool) -> None:
    _link(checkout, "keras/src/linked.py", "layers.py")
    _link(checkout, "keras/gone", "nowhere")
    if not dirty:
        commit(checkout)
    assert (kept(str(checkout)) / "keras/src/linked.py").read_text() == "second = 2\n"


@pytest.mark.parametrize("dirty", [False, True], ids=["commit", "edited"])
@pytest.mark.parametrize("target", ["/etc/passwd", "../../../secret"])
def test_a_link_that_leaves_a_tree_is_not_followed(checkout: Path, tmp_path: Path, target: str, dirty: bool) -> None:
    (tmp_path / "secret").write_text("secret")
    _link(checkout, "keras/src/linked.py", target)
    if not dirty:
        commit(checkout)
    with pytest.raises(UnusableCodeError, match=r"linked.py"):
        in_full(str(checkout), str)
    assert not copies()


def test_a_hook_of_git_names_its_own_repository(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = in_full(str(checkout), str)
    for name, value in OTHERS.items():
        monkeypatch.setenv(name, value)
    assert in_full(str(checkout), str) == expected


def test_no_program_of_a_repository_is_run_and_its_files_are_as_committed(checkout: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    git(checkout, "config", "core.fsmonitor", str(program))
    git(checkout, "config", "core.autocrlf", "true")
    assert (kept(str(checkout)) / LAYERS).read_bytes() == b"second = 2\n"
    assert not (tmp_path / "ran").exists()


def test_of_what_git_says_the_error_is_told(checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf 'hint: one\\nfatal: the cause\\n\\nhint: another\\n' >&2\nexit 128\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(ReleaseError, match="fatal: the cause: name a checkout"):
        in_full(str(checkout), str)


def test_a_wheel_is_told_by_what_is_in_it(tmp_path: Path) -> None:
    first = in_full(str(wheel(tmp_path)), str)
    assert re.fullmatch(r"keras==3\.16\.0\.dev2026010101\+wheel-[0-9a-f]{8}", first)
    assert in_full(f"{wheel(tmp_path)}/tensorflow", str) == first
    assert in_full(str(wheel(tmp_path, init="another = 1")), str) != first
    assert (kept(str(wheel(tmp_path))) / "keras-3.16.0.dist-info").is_dir()


def test_a_wheel_puts_no_file_outside_of_its_copy(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    with zipfile.ZipFile(path, "a") as made:
        made.writestr("../outside.py", "outside = 1\n")
    assert (kept(str(path)) / "outside.py").is_file()


def test_a_copy_that_is_removed_is_asked_for_anew(checkout: Path, tmp_path: Path) -> None:
    names = [in_full(f"{checkout}#{each}", str) for each in ("old", "HEAD")]
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(ReleaseError, match=r"is the copy of a tree, and there is none in .*: name the tree, as in"):
        place_of(Subject.parse(names[0]), say=str)
    assert in_full(f"{checkout}#old", str) == names[0]


def _no_commit(folder: Path) -> str:
    return f"{folder}#nowhere"


def _option(folder: Path) -> str:
    return f"{folder}#--all"


def _part(folder: Path) -> str:
    return str(folder / "keras")


def _no_checkout(folder: Path) -> str:
    shutil.rmtree(folder / ".git")
    return str(folder)


def _another(folder: Path) -> str:
    git(folder, "rm", "-rq", "keras")
    (folder / "numpy").mkdir()
    (folder / "numpy/__init__.py").write_text("")
    commit(folder)
    return str(folder)


def _no_version(folder: Path) -> str:
    (folder / VERSION_FILE).write_text('__version__ = "next"\n')
    return str(folder)


def _old(folder: Path) -> str:
    put_keras(folder, version="2.6.0")
    return str(folder)


def _of_directory(offset: int) -> Callable[[bytes], int]:
    return lambda content: content.index(b"PK\1\2") + offset


def _of_data(content: bytes) -> int:
    return content.index(b"keras/__init__.py") + len(b"keras/__init__.py")


def _spoilt(where: Callable[[bytes], int], to: int) -> Callable[[Path], str]:
    """A wheel with another byte somewhere."""

    def spoil(folder: Path) -> str:
        path = wheel(folder, init="first = 1\n" * 100, compression=zipfile.ZIP_DEFLATED)
        content = bytearray(path.read_bytes())
        content[where(bytes(content))] = to
        path.write_bytes(content)
        return str(path)

    return spoil


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        pytest.param(_no_commit, "has no commit, tag or branch 'nowhere': git -C .* fetch", id="no-commit"),
        pytest.param(_option, "has no commit, tag or branch '--all'", id="an-option-of-git"),
        pytest.param(_part, "is the folder keras of a checkout: name the folder of the whole", id="a-part"),
        pytest.param(_no_checkout, "not a git repository.*: name a checkout of Keras 3", id="no-checkout"),
        pytest.param(
            _another, "has no version in keras/src/version.py: name a checkout of Keras 3", id="another-project"
        ),
        pytest.param(_no_version, "keras/src/version.py says 'next', which is not a version", id="no-version"),
        pytest.param(_old, "keras can be asked for from 3.1 on", id="too-old"),
        pytest.param(lambda _: "./nowhere", "there is no folder .*nowhere: name a checkout", id="no-folder"),
        pytest.param(lambda it: f"{wheel(it)}#abc", "is a file, which has no commits: leave #abc out", id="wheel#abc"),
        pytest.param(lambda _: "no.whl#abc", "there is no file .*no.whl: name a checkout", id="no-file#abc"),
        pytest.param(_spoilt(_of_directory(8), 1), "is no wheel: .* is encrypted, .*: build it again", id="encrypted"),
        pytest.param(_spoilt(_of_directory(10), 99), "is no wheel: That compression .*: build", id="compressed-oddly"),
        pytest.param(_spoilt(_of_data, 255), "is no wheel: Error -3 .*: build it again", id="spoilt"),
        pytest.param(lambda _: "no.whl", "there is no file .*no.whl: name a checkout", id="no-file"),
        pytest.param(lambda it: str(it / "README.md"), "is no wheel: File is not a zip file", id="no-wheel"),
        pytest.param(lambda it: str(wheel(it, "numpy")), "has no version in keras/src/version.py: name", id="numpy"),
    ],
)
def test_what_cannot_be_had_is_told_with_what_to_do(checkout: Path, spec: Callable[[Path], str], says: str) -> None:
    named = spec(checkout)
    with pytest.raises(ReleaseError, match=says) as raised:
        in_full(named, str)
    assert str(raised.value).startswith(f"{named}: ")
    assert not copies()


def test_without_git_a_checkout_cannot_be_read(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ReleaseError, match="git is not on PATH, .*: install git, or name a wheel"):
        in_full(str(checkout), str)
