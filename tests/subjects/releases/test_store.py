"""The store: an entry is there whole or not at all, and says what it holds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.subjects.releases import ReleaseError, store
from clonediff.harness.subjects.releases.store import Manifest

MANIFEST = Manifest(
    release="keras==3.14.1",
    how="laid over",
    python_version="3.11.7",
    versions={"keras": "3.14.1"},
    bytes=7,
    seconds=0.5,
    installed="2026-11-21T02:00:00+00:00",
    by="pip",
    clonediff="0.1.0",
    path=("site",),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))
    return tmp_path


def build(entry: str, **changed: object) -> Path:
    with store.building(entry) as folder:
        (folder / "site").mkdir()
        (folder / "site" / "module.py").write_text("value = 1")
        store.seal(folder, msgspec.structs.replace(MANIFEST, **changed))
    return store.folder_of(entry)


def build_half(entry: str) -> None:
    with store.building(entry) as folder:
        (folder / "half").write_text("")
        raise RuntimeError("no network")


def names(cache: Path) -> list[str]:
    return sorted(each.name for each in (cache / "releases").iterdir())


def test_what_is_built_is_there_as_it_was_sealed(cache: Path) -> None:
    folder = build("keras-3.14.1")
    assert store.manifest_of("keras-3.14.1") == MANIFEST
    assert (folder / "site" / "module.py").is_file()
    assert names(cache) == ["keras-3.14.1"]


def test_nothing_stays_of_a_build_that_failed(cache: Path) -> None:
    with pytest.raises(RuntimeError, match="no network"):
        build_half("keras-3.14.1")
    assert names(cache) == []


def test_a_build_that_failed_leaves_the_entry_that_was_there(cache: Path) -> None:
    build("keras-3.14.1")
    with pytest.raises(RuntimeError, match="no network"):
        build_half("keras-3.14.1")
    assert store.manifest_of("keras-3.14.1") == MANIFEST


def test_a_build_replaces_the_entry_that_was_there(cache: Path) -> None:
    (build("keras-3.14.1") / "site" / "old.py").write_text("")
    folder = build("keras-3.14.1", by="uv")
    assert not (folder / "site" / "old.py").exists()
    assert names(cache) == ["keras-3.14.1"]


def test_a_build_removes_what_was_left_of_its_own_entry_only(cache: Path) -> None:
    for name in (".keras-3.1~abc", ".keras-3.1.1~abc"):
        (cache / "releases" / name / "site").mkdir(parents=True)
    build("keras-3.1")
    assert names(cache) == [".keras-3.1.1~abc", "keras-3.1"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param("", "truncated", id="empty"),
        pytest.param(msgspec.json.encode(MANIFEST).decode()[:100], "truncated", id="cut-short"),
        pytest.param('{"release": "keras==3.14.1"}', "missing required field `how`", id="a-field-gone"),
        pytest.param(
            json.dumps({**msgspec.to_builtins(MANIFEST), "how": "by magic"}), r"`\$.how`", id="an-unknown-way"
        ),
        pytest.param('{"schema": "another program", "packages": []}', r"`\$.schema`", id="foreign"),
        pytest.param('{"format": 99}', "format 99", id="of-a-later-clonediff"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_named_and_counts_as_not_installed(content: str, says: str) -> None:
    path = build("keras-3.14.1") / "manifest.json"
    path.write_text(content)
    said: list[str] = []
    assert store.manifest_of("keras-3.14.1", said.append) is None
    assert len(said) == 1
    assert said[0].startswith(f"{path}: ")
    assert said[0].endswith("taken as not installed")
    assert re.search(says, said[0])


def test_an_entry_whose_interpreter_is_gone_counts_as_not_installed() -> None:
    folder = build("tensorflow-2.4.4", release="tensorflow==2.4.4", how="own stack", python="venv/bin/python")
    (folder / "venv" / "bin").mkdir(parents=True)
    (folder / "venv" / "bin" / "python").symlink_to("/no/such/python")
    said: list[str] = []
    assert store.manifest_of("tensorflow-2.4.4", said.append) is None
    assert "its interpreter is gone" in said[0]


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "file"))
    with pytest.raises(ReleaseError, match="CLONEDIFF_CACHE"), store.locked("keras-3.14.1", str):
        pass


HOLD = """
import sys
from clonediff.harness.subjects.releases import store
with store.locked("keras-3.14.1", print):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_who_comes_second_waits_and_says_so_until_the_first_is_killed(cache: Path) -> None:
    first = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        said: list[str] = []

        def say(line: str) -> None:
            said.append(line)
            first.kill()

        with store.locked("keras-3.14.1", say):
            assert first.wait() != 0, "it was killed, and did not let go by itself"
        assert said == ["keras-3.14.1: another process is at work on it; waiting"]
    finally:
        first.kill()
        first.communicate()
