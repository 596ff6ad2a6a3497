"""Which interpreters are found, and which are refused with a reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clonediff.harness.subjects.releases.interpreters import find, to_get

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"
ANSWERS = '#!/bin/sh\necho "{answer}"\n'


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on it: no PATH, no pyenv, no uv, and an interpreter of ours that is of no use."""
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def script(path: Path, answer: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ANSWERS.format(answer=answer))
    path.chmod(0o755)
    return path


def test_none_is_found_where_there_is_none() -> None:
    assert find("3.7") == (None, [])


def test_the_one_that_runs_clonediff_is_found_without_a_path() -> None:
    found, _ = find(OURS)
    assert found is not None
    assert found.version == ".".join(map(str, sys.version_info[:3]))


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("bin/python3.7", id="path"),
        pytest.param("bin/python3", id="path-by-another-name"),
        pytest.param(".pyenv/versions/3.7.16/bin/python", id="pyenv"),
        pytest.param(".local/share/uv/python/cpython-3.7.9-linux-x86_64-gnu/bin/python3.7", id="uv"),
    ],
)
def test_one_is_found_on(place: str, machine: Path) -> None:
    path = script(machine / place, "3.7 3.7.16 cpython -")
    found, refused = find("3.7")
    assert found is not None
    assert (found.path, found.version) == (str(path), "3.7.16")
    assert refused == []


def test_the_newest_of_pyenv_is_taken(machine: Path) -> None:
    for patch in (9, 16, 4):
        script(machine / f".pyenv/versions/3.7.{patch}/bin/python", f"3.7 3.7.{patch} cpython -")
    found, _ = find("3.7")
    assert found is not None
    assert found.version == "3.7.16"


def test_a_shim_is_not_asked(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(machine / "shims" / "python3.7", "3.7 3.7.16 cpython -")
    monkeypatch.setenv("PATH", str(machine / "shims"))
    assert find("3.7") == (None, [])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param("3.8 3.8.1 cpython -", "is Python 3.8", id="another-python"),
        pytest.param("3.7 3.7.16 pypy -", "is pypy", id="pypy"),
        pytest.param("3.7 3.7.16 cpython ensurepip", "has no ensurepip", id="no-ensurepip"),
        pytest.param("command not found", "does not answer", id="no-answer"),
    ],
)
def test_one_that_will_not_do_is_refused_with_the_reason(answer: str, why: str, machine: Path) -> None:
    path = script(machine / "bin" / "python3.7", answer)
    found, refused = find("3.7")
    assert found is None
    assert len(refused) == 1
    assert refused[0].startswith(f"{path}: {why}")


def test_one_without_ensurepip_will_do_for_uv(machine: Path) -> None:
    script(machine / "bin" / "python3.7", "3.7 3.7.16 cpython ensurepip")
    found, _ = find("3.7", alone=False)
    assert found is not None
    assert found.missing == ("ensurepip",)


@pytest.mark.parametrize(
    ("pythons", "commands"),
    [
        (["3.7"], "pyenv install 3.7"),
        (["3.8"], "pyenv install 3.8, or uv python install 3.8"),
        (["3.7", "3.10"], "pyenv install 3.7 3.10, or uv python install 3.10"),
    ],
)
def test_nobody_is_sent_to_uv_for_a_python_that_it_has_not(pythons: list[str], commands: str) -> None:
    assert to_get(pythons) == commands
