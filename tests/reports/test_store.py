"""A run's folder read back: put together from all its files, and as far as it goes where some of them are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clonediff.reports.reading import MOST, read_run
from clonediff.reports.records import RecordError, Run, read
from clonediff.reports.verdict import verdict
from tests.reports.making import finding, nightly, run_folder


def test_a_run_with_everything_is_read_back_as_it_was(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding()], run=nightly())
    back = read_run(tmp_path).run
    assert msgspec.structs.replace(back, findings=()) == nightly()


def test_what_is_said_of_a_finding_stands_in_its_own_file_whatever_the_events_say(tmp_path: Path) -> None:
    whole = finding(0, subject="keras", first_seen="2026-11-21T02:00:07+00:00", proof=False, count=3)
    run_folder(tmp_path, [whole])
    (tmp_path / "events.ndjson").write_text('{"at": "2026-11-21T02:00:00+00:00", "event": "end"}\n')
    (kept,) = read_run(tmp_path).findings
    assert msgspec.structs.replace(kept.finding, graph=whole.graph) == whole


@pytest.mark.parametrize("missing", ["nothing here", "a file", "an empty folder"])
def test_what_is_no_run_is_told(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "run"
    if missing == "a file":
        path.write_text("{}")
    elif missing == "an empty folder":
        path.mkdir()
    with pytest.raises(RecordError, match="expected the folder of a run"):
        read_run(path)


def test_a_truncated_finding_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1), finding(2)])
    broken = sorted((tmp_path / "findings").iterdir())[1]
    content = (broken / "finding.json").read_bytes()
    (broken / "finding.json").write_bytes(content[: len(content) // 2])
    back = read_run(tmp_path)
    assert len(back.findings) == 2
    assert back.unreadable == (broken.name,)
    assert len(back.problems) == 1
    assert back.problems[0].startswith(f"findings/{broken.name}/finding.json: ")
    assert "truncated" in back.problems[0]


def test_every_cut_of_every_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)], run=nightly())
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in (".json", ".ndjson")]
    assert len(files) == 4
    for file in files:
        whole = file.read_bytes()
        for part in range(0, len(whole) - 1, max(1, len(whole) // 40)):  # a file without its last line end is whole
            file.write_bytes(whole[:part])
            back = read_run(tmp_path)
            assert len(back.findings) == 2 - ("findings" in str(file))
            told = [problem for problem in back.problems if problem.startswith(str(file.relative_to(tmp_path)))]
            # A file of lines that ends with a whole line may be all there is.
            assert told or (file.suffix == ".ndjson" and whole[part - 1 : part] in (b"", b"\n", b"}")), part
        file.write_bytes(whole)
    assert read_run(tmp_path).problems == ()


def test_a_run_without_its_run_json_is_told_by_its_events(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    (tmp_path / "run.json").unlink()
    back = read_run(tmp_path)
    assert back.run.trials == 60
    assert list(back.run.subjects) == ["keras"]
    assert back.run.ended is not None
    assert back.problems == ("run.json: cannot be read (No such file or directory)",)
    assert verdict(back).exit_code == 1


def test_without_findings_or_run_json_it_is_not_known_what_ran(tmp_path: Path) -> None:
    run_folder(tmp_path)
    (tmp_path / "run.json").write_text('{"started": 1}')
    back = read_run(tmp_path)
    assert "`$.started`" in back.problems[0]
    assert verdict(back).exit_code == 2


def test_lines_of_events_that_are_wrong_are_named_by_their_number(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    good = (tmp_path / "events.ndjson").read_text()
    (tmp_path / "events.ndjson").write_text('{"at": "yesterday", "event": "end"}\n' + good + '{"at": "2026-')
    back = read_run(tmp_path)
    assert len(back.findings) == 1
    assert [problem.split(": ")[1] for problem in back.problems] == ["line 1", "line 6"]


def test_many_wrong_lines_are_counted(tmp_path: Path) -> None:
    run_folder(tmp_path)
    (tmp_path / "events.ndjson").write_bytes(b"\xff\x00{\n" * (MOST + 9))
    problems = read_run(tmp_path).problems
    assert len(problems) == MOST + 1
    assert problems[-1] == "events.ndjson: 9 more lines cannot be read"


def test_a_finding_that_the_run_names_and_no_folder_has_is_missed(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    run = read(tmp_path / "run.json", Run)
    (tmp_path / "run.json").write_bytes(
        msgspec.json.encode(msgspec.structs.replace(run, findings=(*run.findings, "gone-1")))
    )
    back = read_run(tmp_path)
    assert back.unreadable == ("gone-1",)
    assert "run.json names gone-1" in back.problems[0]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"graph": msgspec.Raw(b'{"inputs":[]}')}, "not a graph of version 1", id="no graph"),
        pytest.param({"graph": msgspec.Raw(b"[" * 5000 + b"]" * 5000)}, "nested too deep", id="deep"),
    ],
)
def test_an_altered_graph_is_named_and_the_finding_kept(
    tmp_path: Path, change: dict[str, msgspec.Raw], named: str
) -> None:
    run_folder(tmp_path, [finding(0)])
    file = next((tmp_path / "findings").iterdir()) / "finding.json"
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(finding(0), **change)))
    back = read_run(tmp_path)
    assert named in back.problems[0]
    if back.findings:
        assert back.findings[0].graph is None
    else:
        assert back.unreadable


def test_a_script_that_is_not_text_is_named(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)])
    one, other = sorted((tmp_path / "findings").iterdir())
    (one / "repro.py").write_bytes(b"\xff\xfe")
    (other / "repro.py").unlink()
    back = read_run(tmp_path)
    assert ["not UTF-8" in back.problems[0], "cannot be read" in back.problems[1]] == [True, True]
    assert [kept.script for kept in back.findings] == ["import keras\n", "import keras\n"]


def test_half_written_files_of_a_killed_process_are_left_alone(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    (tmp_path / "findings" / ".keras-half").mkdir()
    (tmp_path / ".run.json.1a2b3c4d").write_text('{"sta')
    assert read_run(tmp_path).problems == ()


def add(folder: Path, *events: dict[str, Any]) -> None:
    with (folder / "events.ndjson").open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in events)


END = {"at": "2026-11-21T02:01:00+00:00", "event": "end", "interrupted": True, "trials": 60}


def test_an_end_that_only_the_events_tell_is_the_end_of_the_run(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding()])
    add(tmp_path, END)
    read_back = read_run(tmp_path)
    assert (read_back.run.ended, read_back.run.interrupted) == (END["at"], True)
    assert "it has not ended: it still runs, or it was stopped" not in verdict(read_back).notes


def test_one_byte_that_is_not_text_is_named_by_its_file(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)])
    events = tmp_path / "events.ndjson"
    events.write_bytes(events.read_bytes().replace(b'"event": "end"', b'"event": "\xffnd"'))
    file = sorted((tmp_path / "findings").iterdir())[0] / "finding.json"
    file.write_bytes(file.read_bytes().replace(b'"name": "inner"', b'"name": "\xffnner"'))
    back = read_run(tmp_path)
    assert len(back.findings) == 2
    assert [problem.partition(": ")[0] for problem in back.problems] == [
        "events.ndjson",
        str(file.relative_to(tmp_path)),
    ]
    assert all("can't decode byte 0xff" in problem for problem in back.problems)
