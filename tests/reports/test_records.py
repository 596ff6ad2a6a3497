"""The folder of a run: it is written atomically, and read back even if a file is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clonediff.reports.records import Run
from clonediff.reports.run_folder import RunFolder, read_run
from tests.helpers.example_runs import example_finding, finding, write_run

pytestmark = pytest.mark.no_keras


def test_a_run_is_read_back_unchanged(tmp_path: Path) -> None:
    read_back = read_run(write_run(tmp_path, [finding(0, proof=False, count=3)]))
    (stored,) = read_back.findings
    assert (stored.finding.title, stored.finding.count, stored.finding.proof) == (finding(0)["title"], 3, False)
    assert stored.script == finding(0)["source"]
    assert (read_back.run.seconds, read_back.run.total.graphs, read_back.is_readable) == (100.0, 300, True)
    assert (read_back.problems, read_back.damaged_folders) == ((), ())


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk is full")

    folder = RunFolder(tmp_path)
    folder.write_finding(example_finding(0, title="then"))
    files = {path: path.read_text() for path in tmp_path.rglob("*.*")}
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk"):
        folder.write_finding(example_finding(0, title="now"))
    assert {path: path.read_text() for path in tmp_path.rglob("*.*")} == files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'{"started": 3}', "Expected `str`, got `int` - at `$.started`", id="type"),
        pytest.param(b"{}", "missing required field `started`", id="missing"),
        pytest.param(b'{"started": "x", "format": 99}', "made by a newer clonediff", id="newer"),
        pytest.param(b'{"started": "x", "format": 1}', "made by an older clonediff", id="older"),
        pytest.param(b'{"started": ', "truncated", id="cut"),
        pytest.param(b'{"started": "\xff"}', "UTF-8", id="no text"),
        pytest.param(b'{"started": "x", "other": ' + b"[" * 100_000, "nested too deep", id="deep"),
        pytest.param(None, "cannot be read (No such file or directory)", id="no file"),
    ],
)
def test_a_wrong_run_file_is_named_and_findings_are_read(content: bytes | None, message: str, tmp_path: Path) -> None:
    write_run(tmp_path, [finding(0)])
    (tmp_path / "run.json").unlink()
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    read_back = read_run(tmp_path)
    assert (read_back.is_readable, len(read_back.findings)) == (False, 1)
    assert read_back.problems[0].startswith("run.json: ") and message.lower() in read_back.problems[0].lower()


def test_a_truncated_finding_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    write_run(tmp_path, [finding(0), finding(1)])
    file = next(iter(sorted(tmp_path.rglob("finding.json"))))
    content = file.read_bytes()
    for part in range(0, len(content) - 1, len(content) // 40):  # a file that only lacks its last newline is complete
        file.write_bytes(content[:part])
        read_back = read_run(tmp_path)
        assert (len(read_back.findings), read_back.damaged_folders) == (1, (file.parent.name,))
        assert read_back.problems[0].startswith(f"findings/{file.parent.name}/finding.json: ")


def test_unfinished_files_of_a_killed_process_are_ignored(tmp_path: Path) -> None:
    write_run(tmp_path, [finding(0)])
    (tmp_path / "findings" / "keras-upstream-half").mkdir()
    (tmp_path / "findings" / "keras-upstream-half" / "repro.py").write_text("import keras\n")
    (tmp_path / ".run.json.1a2b3c4d").write_text('{"sta')
    assert read_run(tmp_path).problems == ()


@pytest.mark.parametrize("missing", ["nothing here", "a file", "an empty folder"])
def test_a_path_without_a_run_is_an_error(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    if missing == "a file":
        path.write_text("{}")
    elif missing == "an empty folder":
        path.mkdir()
    with pytest.raises(ValueError, match="expected the folder of a run"):
        read_run(path)


def test_a_finding_can_be_replaced_and_withdrawn(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.write_finding(example_finding(0, smallest=False, source="big = 1\n"))
    folder.write_finding(example_finding(0, source="small = 1\n"))
    (stored,) = read_run(folder.path).findings
    assert (stored.script, stored.finding.smallest) == ("small = 1\n", True)
    folder.withdraw(stored.finding)
    assert read_run(folder.path).findings == ()
    assert len(list(folder.path.glob("flaky/*/finding.json"))) == 1
    for graph in (b"first", b"second"):
        folder.write_example("refused", "keras", "ValueError: no", graph)
    assert [file.read_bytes() for file in folder.path.glob("refused/keras-ValueError-*.json")] == [b"first\n"]


def test_runs_that_start_in_the_same_second_have_separate_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [RunFolder(None).path for _ in range(5)]
    assert len(set(folders)) == 5
    assert (tmp_path / "runs" / "latest").resolve() == folders[-1].resolve()


def test_an_earlier_run_is_renamed_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "nightly"
    first = RunFolder(path)
    first.write_run(Run("2026-11-29"))
    with pytest.raises(FileExistsError, match="another run is writing here"):
        RunFolder(path)
    os.close(first._lock)
    second = RunFolder(path)
    (stored,) = (folder for folder in tmp_path.iterdir() if folder != path)
    assert stored.name.startswith("nightly-20") and read_run(stored).run.started == "2026-11-29"
    assert [file.name for file in path.iterdir()] == [".lock"]
    os.close(second._lock)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.txt").touch()
    with pytest.raises(FileExistsError, match="expected an empty folder"):
        RunFolder(tmp_path / "mine")
