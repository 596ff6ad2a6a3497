"""What a person is told of a campaign: progress, findings, the end of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.events import (
    Found,
    MakingSmaller,
    ShardEnded,
    ShardLost,
    Stopping,
    SubjectLost,
    Tick,
    Unsteady,
)
from clonediff.harness.campaign.shards import (
    KnownRetried,
    Plan,
    RefusedGraph,
    Setup,
    ShardDone,
    SubjectStarted,
    WrittenFinding,
)
from clonediff.harness.campaign.totals import Totals
from clonediff.harness.cli.text.campaign import CampaignText, summary
from clonediff.reports.known import load
from clonediff.reports.reading import read_run
from clonediff.reports.records import Budget, Finding, Severity
from tests.reports.making import finding, run_folder
from tests.reports.test_broken import NAME, RAN, a_run

MET = SubjectStarted("keras", {"keras": "3.15.1", "tensorflow": "2.21.0"}, "beside", "3.15.1")
FINDING = Finding(
    "made-raises", "a title", "keras", "upstream", msgspec.Raw(b"{}"), (), "", subject="keras", proof=True, count=3
)
KEY = ("upstream", "made-raises")
BUDGET = Budget(trials=200)


@pytest.fixture
def totals() -> Totals:
    totals = Totals(load())
    totals.meet(MET)
    return totals


def console(totals: Totals, budget: Budget = BUDGET, *, quiet: bool = False) -> CampaignText:
    setup = Setup("c", ("upstream", "fixed"), 8)
    return CampaignText(Plan("2026-01-01T00:00:00+00:00", ("keras",), setup, 0, budget), totals, quiet=quiet)


def shard(turn: int, **fields: object) -> ShardDone:
    return ShardDone("keras", turn, **{"trials": 50, **fields})  # type: ignore[arg-type]  # by name


def test_progress_is_a_plain_line_where_nobody_watches(totals: Totals, capsys: pytest.CaptureFixture[str]) -> None:
    listener = console(totals)
    totals.shard(shard(0, known={"input-name": 7}))
    listener(ShardEnded(shard(0)))
    listener(MakingSmaller("keras", KEY, "a title", begins=True))
    listener(Tick(None, 2))
    told = capsys.readouterr()
    assert told.out == ""
    assert "50 trials" in told.err
    assert "0 new, 7 known" in told.err
    assert "making smaller: a title" in told.err
    assert "150 to go" in told.err
    assert told.err.endswith("\n")
    assert "\r" not in told.err
    assert "\x1b" not in told.err


def test_progress_says_how_much_time_is_left(totals: Totals, capsys: pytest.CaptureFixture[str]) -> None:
    listener = console(totals, Budget(minutes=3.0))
    listener(Tick(95.0, 1))
    assert "2 min left" in capsys.readouterr().err


def test_what_is_settled_is_not_told_as_being_made_smaller(totals: Totals, capsys: pytest.CaptureFixture[str]) -> None:
    listener = console(totals)
    listener(MakingSmaller("keras", KEY, "a title", begins=True))
    listener(MakingSmaller("keras", KEY, "a title", begins=False))
    listener(Tick(None, 1))
    assert "making smaller" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        pytest.param(True, "its script fails alone", id="proven"),
        pytest.param(False, "its script does not fail alone, so it does not count", id="not-proven"),
        pytest.param(None, "not known whether its script fails alone: it was not run", id="not-run"),
    ],
)
def test_a_finding_is_a_line_when_it_is_seen_and_one_when_it_is_small(
    proof: bool | None, said: str, totals: Totals, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = console(totals)
    drawn = msgspec.structs.replace(FINDING, proof=None, smallest=False)
    for event in (
        Found(drawn, "", first=True),
        Found(msgspec.structs.replace(drawn, proof=True), ""),
        Found(msgspec.structs.replace(FINDING, proof=proof), ""),
    ):
        listener(event)
    assert capsys.readouterr().out.splitlines() == [
        "found: a title [upstream: made-raises]",
        f"as small as it gets: a title [upstream: made-raises]; {said}",
    ]


def test_a_script_hears_of_what_goes_wrong_and_of_nothing_else(
    totals: Totals, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = console(totals, quiet=True)
    for event in (
        Found(FINDING, "", first=True),
        Found(FINDING, ""),
        Unsteady("keras", "a title", None),
        Tick(None, 1),
    ):
        listener(event)
    assert capsys.readouterr() == ("", "")
    listener(SubjectLost("keras/jax", "keras/jax: not here"))
    listener(ShardLost("keras", 3, "it ended its worker"))
    listener(Stopping(2))
    told = capsys.readouterr()
    assert told.out == ""
    assert "not here" in told.err
    assert "shard 3" in told.err
    assert "Ctrl-C again" in told.err


def test_nothing_from_a_graph_or_a_child_is_obeyed_by_the_terminal(
    totals: Totals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = console(totals)
    evil = "\x1b[2Jgone\r\x07\u202e"
    evil_one = msgspec.structs.replace(FINDING, title=evil, notes=(evil,))
    listener(Found(evil_one, "", first=True))
    listener(Found(evil_one, ""))
    listener(MakingSmaller("keras", KEY, evil, begins=True))
    listener(SubjectLost("keras", evil))
    listener(Tick(None, 1))
    totals.lost["keras"] = evil
    told = "".join(capsys.readouterr()) + summary(
        totals, read_run(run_folder(tmp_path, [finding(0, title=evil)])), "run"
    )
    assert "gone" in told
    assert not set("\x1b\r\x07\u202e") & set(told)


def test_the_summary_says_what_came_of_each_subject(totals: Totals, tmp_path: Path) -> None:
    verdicts = {"upstream: crashed": 20, "fixed: faithful": 50}
    totals.shard(
        shard(0, costly=6, prepared=2, preparing=4.0, seconds=30.0, verdicts=verdicts, known={"input-name": 30})
    )
    totals.examined(KnownRetried("keras", {"input-name": True, "lambda-refused": False}))
    totals.reduced("keras", 40, 8.0)
    totals.reduced("keras", 10, 2.0)
    totals.found(FINDING)
    totals.found(msgspec.structs.replace(FINDING, id="other", proof=False))
    totals.lost["keras/jax"] = "keras/jax: jax is not installed\nmore"
    told = summary(totals, read_run(run_folder(tmp_path)), "runs/x")
    assert "keras (keras 3.15.1, tensorflow 2.21.0)" in told
    assert "100 trials, 50 of them for making findings smaller (25% of the time), 6 with the costly checks" in told
    assert "2 graphs trained, quantized or saved before (10% of the time)" in told
    assert "known issues that no longer break: lambda-refused" in told
    assert "not tried: keras/jax: jax is not installed" in told
    assert "1 new, each with its script in runs/x/findings" in told
    assert "1 kept in runs/x/findings that do not count" in told
    assert "small as they could be" not in told
    assert "process was lost" not in told
    totals.found(msgspec.structs.replace(FINDING, id="large", smallest=False))
    assert "1 of them not as small as they could be" in summary(totals, read_run(tmp_path), "runs/x")


def test_the_summary_says_what_a_process_was_lost_over(totals: Totals, tmp_path: Path) -> None:
    run = read_run(run_folder(tmp_path))
    totals.shard(shard(0, losses={"a question to Keras": 1}))
    assert "its process was lost 1 time over a question to Keras\n" in summary(totals, run, "runs/x")
    totals.shard(shard(1, losses={"a trial": 2, "a question to Keras": 1}))
    assert (
        "its process was lost 2 times over a question to Keras, 2 times over a trial; such a trial is run once more\n"
    ) in summary(totals, run, "runs/x")


def test_the_summary_begins_with_what_is_broken(totals: Totals, tmp_path: Path) -> None:
    told = summary(totals, a_run(tmp_path), "runs/x").splitlines()
    assert told == [
        "",
        "Keras 3.15.1's clone_model is unfaithful on 290 of 300 graphs: 2 known causes, nothing new.",
        "clonediff's own cloner is faithful on all 300 graphs.",
        "",
        "Known causes, worst first, with the graphs that met each. Reasons and scripts: runs/x/known",
        "  it crashes",
        "       12  A Lambda of a Python lambda cannot be cloned [lambda-refused]",
        "  it changes a name",
        "      290  An unnamed input layer changes its name in the clone [input-name]",
        "",
        "keras (keras 3.15.1, tensorflow 2.21.0)",
        "  0 trials, 0 of them for making findings smaller, 0 with the costly checks; 0 graphs refused",
        "All of it: runs/x/report.html",
    ]


def test_the_summary_says_what_was_left_out(totals: Totals, tmp_path: Path) -> None:
    verdicts = {"upstream: crashed": 12, "upstream: left out": 288}
    run = msgspec.structs.replace(RAN, verdicts=verdicts, worst={"upstream: crashes": 12}, at_least=Severity.COMPUTES)
    told = summary(totals, a_run(tmp_path, run), "runs/x").splitlines()
    assert told[1:3] == [
        "Keras 3.15.1's clone_model crashes on 12 of 300 graphs: 2 known causes, nothing new.",
        "left out by --at-least computes: what only trains differently or loses a property or changes a name; "
        "graphs with only that: 288 with upstream.",
    ]


def test_the_summary_says_why_graphs_were_refused(totals: Totals, tmp_path: Path) -> None:
    refusals = [RefusedGraph(why, msgspec.Raw(b"{}")) for why in ("ValueError: a", "TypeError: b", "ValueError: a")]
    totals.shard(ShardDone("keras", 0, trials=50, refusals=tuple(refusals)))
    told = summary(totals, a_run(tmp_path), "runs/x").splitlines()
    (place,) = [number for number, line in enumerate(told) if line.endswith("3 graphs refused")]
    assert [line.partition(" [")[0] for line in told[place + 1 : place + 3]] == [
        "        2 refused: ValueError: a",
        "        1 refused: TypeError: b",
    ]


def test_the_summary_fits_a_screen(totals: Totals, tmp_path: Path) -> None:
    met = tuple(msgspec.structs.replace(NAME, id=f"issue-{number:02}", count=50 - number) for number in range(17))
    told = summary(totals, a_run(tmp_path, msgspec.structs.replace(RAN, known=met)), "runs/x").splitlines()
    assert len(told) <= 24
    assert "17 known causes" in told[1]
    assert "  and 7 more: in runs/x/report.html" in told


def test_what_is_known_is_counted_by_graph_with_the_worst_that_it_did(totals: Totals) -> None:
    totals.shard(shard(0, known={"input-name": 3}, severities={"input-name": Severity.NAME}))
    totals.shard(shard(1, known={"input-name": 4}, severities={"input-name": Severity.COMPUTES}))
    totals.shard(shard(2, known={"input-name": 1}, severities={"input-name": Severity.PROPERTY}))
    (met,) = (each for each in totals.known_met() if each.id == "input-name")
    assert (met.count, met.severity, met.folder) == (8, Severity.COMPUTES, "")
    totals.examined(KnownRetried("keras", {"input-name": True}, {"input-name": WrittenFinding(FINDING, "")}))
    assert [each.folder for each in totals.known_met() if each.folder] == ["keras-input-name"]


def test_graphs_are_counted_by_the_worst_in_all_shards(totals: Totals) -> None:
    totals.shard(shard(0, worst={"upstream: crashes": 2, "upstream: name": 30}))
    totals.shard(shard(1, worst={"upstream: crashes": 1, "fixed: trains": 1}))
    assert totals.drawn.worst == {"fixed: trains": 1, "upstream: crashes": 3, "upstream: name": 30}


def test_known_issues_are_told_with_whether_they_break(totals: Totals) -> None:
    totals.shard(shard(0, known={"input-name": 30}))
    totals.examined(KnownRetried("keras", {"input-name": True}))
    met = {each.id: each for each in totals.known_met()}
    assert (met["input-name"].count, met["input-name"].breaks) == (30, True)
    assert met["lambda-refused"].breaks is None
    assert all(each.subject == "keras" and each.generation == "keras" for each in met.values())


def test_a_finding_that_comes_again_replaces_the_first(totals: Totals) -> None:
    totals.found(FINDING)
    totals.found(msgspec.structs.replace(FINDING, count=8))
    assert [each.count for each in totals.new()] == [8]


def test_what_of_the_corpus_cannot_be_read_is_told(totals: Totals, capsys: pytest.CaptureFixture[str]) -> None:
    console(totals).warn("corpus/keras/x.json: not a graph")
    assert "corpus/keras/x.json: not a graph" in capsys.readouterr().err
