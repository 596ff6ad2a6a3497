"""What is kept of a campaign for whoever goes on with it, also where a file was cut off or altered."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.done_log import DoneLog
from clonediff.harness.campaign.shards import (
    KnownRetried,
    MadeSmaller,
    Plan,
    Setup,
    ShardDone,
    Spent,
    SubjectStarted,
    WrittenFinding,
)
from clonediff.reports.records import Budget, Coverage, Finding, RecordError
from clonediff.reports.run_folder import append

GRAPH = msgspec.Raw(
    b'{"inputs":[{"shape":[1]}],"layers":[],"calls":[],"takes":{"is":"ref","node":0},"gives":{"is":"ref","node":0}}'
)
FINDING = Finding("f", "title", "keras", "upstream", GRAPH, (), "source", subject="keras")
KEY = ("upstream", "f")
DONE = [
    SubjectStarted("keras", {"keras": "3.15.1"}, "beside", "3.15.1"),
    KnownRetried("keras", {"known": True, "gone": False, "unknown": None}),
    ShardDone(
        "keras", 0, 50, verdicts={"fixed: faithful": 50}, raw_findings=(WrittenFinding(FINDING),), met=((KEY, 2),)
    ),
    ShardDone("keras", 1, 50, coverage=Coverage(50, {"Dense": 9}, {"Dense": {"frozen": 1}})),
    MadeSmaller("keras", KEY, 0, FINDING, "import keras\n", 61),
    MadeSmaller("keras", KEY, 0, FINDING, rest="10"),
    MadeSmaller("keras", ("", "process-lost-sigsegv"), 1),
    Spent(12.5),
]


@pytest.fixture
def done_log(tmp_path: Path) -> DoneLog:
    done_log = DoneLog(tmp_path)
    for each in DONE:
        done_log.add(each)
    return done_log


def test_what_is_added_is_read_back(done_log: DoneLog) -> None:
    assert msgspec.json.encode(done_log.read()) == msgspec.json.encode(DONE)
    assert not done_log.problems


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    setup = Setup("c", ("upstream", "fixed"), 8)
    plan = Plan("2026-01-01T00:00:00+00:00", ("keras",), setup, 7, Budget(minutes=3.0), {"keras": (GRAPH,)})
    DoneLog(tmp_path).begin(plan)
    kept, asked = (msgspec.json.decode(msgspec.json.encode(each)) for each in (DoneLog(tmp_path).plan(), plan))
    assert kept == asked


def test_a_plan_with_something_else_than_graphs_is_refused(tmp_path: Path) -> None:
    plan = Plan("", ("keras",), Setup("c", ("upstream",), 8), 7, Budget(trials=1), {"keras": (msgspec.Raw(b"3"),)})
    DoneLog(tmp_path).begin(plan)
    with pytest.raises(RecordError, match=r"plan\.json: first"):
        DoneLog(tmp_path).plan()


def test_nothing_done_is_no_problem(tmp_path: Path) -> None:
    assert DoneLog(tmp_path).read() == []


def test_a_folder_without_a_plan_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="give --resume the folder of a run"):
        DoneLog(tmp_path).plan()


def test_wherever_the_file_was_cut_off_all_whole_lines_are_read(tmp_path: Path, done_log: DoneLog) -> None:
    path = tmp_path / "done.ndjson"
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        fresh = DoneLog(tmp_path)
        whole = content[:length].count(b"\n")
        # What lacks nothing but the end of its line may be whole as well.
        assert len(fresh.read()) in (whole, whole + 1)
        assert len(fresh.problems) <= 1


def test_a_line_after_one_that_was_cut_off_is_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"whole\ncut o")
    append(path, b"next")
    append(path, b"last")
    assert path.read_bytes() == b"whole\ncut o\nnext\nlast\n"


def test_fields_that_are_no_longer_kept_are_read_over(tmp_path: Path) -> None:
    (tmp_path / "done.ndjson").write_text(
        '{"type":"met","subject":"keras","lost":"","unable":"","clonediff":"0.1.0"}\n'
        '{"type":"shard","subject":"keras","turn":0,"trials":50,"recycled":2,"reached":{},"failed":"gone"}\n'
    )
    log = DoneLog(tmp_path)
    assert log.read() == [SubjectStarted("keras", clonediff="0.1.0"), ShardDone("keras", 0, 50)]
    assert not log.problems


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\x00\xff\x00", id="bytes"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"type":"shard","subject":3,"turn":"x"}', id="types"),
        pytest.param(b'{"type":"nonsense"}', id="unknown"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"type":"shard","subject":"\xff","turn":2}', id="not UTF-8"),
        pytest.param(
            msgspec.json.encode(
                MadeSmaller("keras", KEY, 0, msgspec.structs.replace(FINDING, graph=msgspec.Raw(b"{}")))
            ),
            id="no graph",
        ),
    ],
)
def test_an_altered_line_is_named_and_the_others_are_read(tmp_path: Path, done_log: DoneLog, line: bytes) -> None:
    path = tmp_path / "done.ndjson"
    lines = path.read_bytes().splitlines()
    lines[2] = line
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert len(done_log.read()) == len(DONE) - 1
    assert len(done_log.problems) == 1
    assert "line 3" in done_log.problems[0]
