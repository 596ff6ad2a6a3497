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
    Plan,
    Setup,
    ShardDone,
    SubjectStarted,
)
from clonediff.harness.campaign.totals import Totals
from clonediff.harness.cli.text.campaign import CampaignText, summary
from clonediff.reports.known import load
from clonediff.reports.reading import read_run
from clonediff.reports.records import Budget, Finding, Severity
from tests.reports.making import finding, run_folder
from tests.reports.test_broken import NAME, RAN, a_run

MET = SubjectStarted("keras", {"keras": "3.15.1", "tensorflow": "2.21.0"}, "3.15.1")
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
    evil_one = msgspec.structs.replace(FINDING, title=evil)
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


def test_the_summary_fits_a_screen(totals: Totals, tmp_path: Path) -> None:
    met = tuple(msgspec.structs.replace(NAME, id=f"issue-{number:02}", count=50 - number) for number in range(17))
    told = summary(totals, a_run(tmp_path, msgspec.structs.replace(RAN, known=met)), "runs/x").splitlines()
    assert len(told) <= 24
    assert "17 known causes, nothing new" in told[1]
    assert told[2] == "clonediff's own cloner is faithful on all 300 graphs."
    assert "  and 7 more: in runs/x/report.html" in told


def test_what_is_known_is_counted_by_graph_with_the_worst_that_it_did(totals: Totals) -> None:
    totals.shard(shard(0, known={"input-name": 3}, severities={"input-name": Severity.NAME}))
    totals.shard(shard(1, known={"input-name": 4}, severities={"input-name": Severity.COMPUTES}))
    totals.shard(shard(2, known={"input-name": 1}, severities={"input-name": Severity.PROPERTY}))
    (met,) = totals.known_met()
    assert (met.id, met.subject, met.count, met.severity) == ("input-name", "keras", 8, Severity.COMPUTES)


def test_a_finding_that_comes_again_replaces_the_first(totals: Totals) -> None:
    totals.found(FINDING)
    totals.found(msgspec.structs.replace(FINDING, count=8))
    assert [each.count for each in totals.new()] == [8]
