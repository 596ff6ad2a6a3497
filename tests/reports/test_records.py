"""Records and the folder of a run: written whole, read back, and as far as it goes where a file is broken."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from clonediff.reports.reading import read_run
from clonediff.reports.records import Counts, Finding, RecordError, Run, read, write, write_bytes
from clonediff.reports.run_folder import RunFolder
from tests.reports.making import a_run, finding, run_folder


def test_a_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    whole = finding(0, proof=False, count=3)
    back = read_run(run_folder(tmp_path, [whole]))
    assert back.run == a_run()
    (kept,) = back.findings
    assert msgspec.structs.replace(kept.finding, graph=whole.graph) == whole
    assert kept.script == whole.source
    assert (back.problems, back.unreadable) == ((), ())


def test_counts_are_added_field_by_field() -> None:
    first = Counts(graphs=2, seconds=1.5, worst={"upstream": {"crashes": 1}}, refused={"no": 1})
    second = Counts(graphs=1, reducing=5, worst={"upstream": {"crashes": 2, "name": 1}, "fixed": {"name": 1}})
    assert first.plus(second) == Counts(
        graphs=3,
        seconds=1.5,
        reducing=5,
        worst={"upstream": {"crashes": 3, "name": 1}, "fixed": {"name": 1}},
        refused={"no": 1},
    )


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk is full")

    path = tmp_path / "run.json"
    write(path, Run(started="then"))
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk"):
        write(path, Run(started="now"))
    assert read(path, Run).started == "then"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b'{"started": 3}', "Expected `str`, got `int` - at `$.started`", id="type"),
        pytest.param(b"{}", "missing required field `started`", id="missing"),
        pytest.param(b'{"started": "x", "format": 99}', "but this clonediff reads up to 1", id="format"),
        pytest.param(b'{"started": ', "truncated", id="cut"),
        pytest.param(b'{"started": "\xff"}', "can't decode byte 0xff", id="no text"),
        pytest.param(b'{"started": "x", "other": ' + b"[" * 100_000, "nested too deep", id="deep"),
        pytest.param(None, "cannot be read (No such file or directory)", id="no file"),
    ],
)
def test_a_wrong_file_is_named_and_the_rest_is_read(content: bytes | None, says: str, tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    (tmp_path / "run.json").unlink()
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RecordError) as caught:
        read(tmp_path / "run.json", Run)
    assert str(caught.value).startswith(f"{tmp_path}/run.json: ") and says in str(caught.value)
    back = read_run(tmp_path)
    assert (back.whole, len(back.findings)) == (False, 1)
    assert back.problems[0].startswith("run.json: ") and says in back.problems[0]


def test_every_cut_of_a_finding_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)])
    file = next(iter(sorted(tmp_path.rglob("finding.json"))))
    whole = file.read_bytes()
    for part in range(0, len(whole) - 1, len(whole) // 40):  # a file without its last line end is whole
        file.write_bytes(whole[:part])
        back = read_run(tmp_path)
        assert (len(back.findings), back.unreadable) == (1, (file.parent.name,))
        assert back.problems[0].startswith(f"findings/{file.parent.name}/finding.json: ")


def test_what_a_killed_process_was_writing_is_left_alone(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    (tmp_path / "findings" / "keras-upstream-half").mkdir()
    (tmp_path / "findings" / "keras-upstream-half" / "repro.py").write_text("import keras\n")
    (tmp_path / ".run.json.1a2b3c4d").write_text('{"sta')
    assert read_run(tmp_path).problems == ()


@pytest.mark.parametrize("missing", ["nothing here", "a file", "an empty folder"])
def test_what_is_no_run_is_an_error(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    if missing == "a file":
        path.write_text("{}")
    elif missing == "an empty folder":
        path.mkdir()
    with pytest.raises(RecordError, match="expected the folder of a run"):
        read_run(path)


def test_a_finding_is_replaced_by_a_smaller_one_and_withdrawn(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.finding(finding(0, smallest=False, source="big = 1\n"))
    folder.finding(finding(0, source="small = 1\n"))
    (kept,) = read_run(run_folder(tmp_path / "other", [])).findings or read_run(folder.path).findings
    assert (kept.script, kept.finding.smallest) == ("small = 1\n", True)
    folder.withdraw(kept.finding)
    assert read(next((folder.path / "unsteady").iterdir()) / "finding.json", Finding).title == kept.finding.title
    folder.run(a_run())
    assert read_run(folder.path).findings == ()


def test_runs_that_begin_in_one_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [RunFolder(None).path for _ in range(5)]
    assert len(set(folders)) == 5
    assert (tmp_path / "runs" / "latest").resolve() == folders[-1].resolve()
    folders[0].joinpath("mine.txt").touch()
    with pytest.raises(FileExistsError, match="expected an empty folder"):
        RunFolder(folders[0])


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_bytes(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
