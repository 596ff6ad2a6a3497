"""What stands in a run's folder while a campaign runs: each finding once it is seen, then smaller ones in its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.events import Found, ShardEnded, Unsteady
from clonediff.harness.campaign.recorder import Recorder
from clonediff.harness.campaign.shard_queue import ShardQueue
from clonediff.harness.campaign.shards import (
    MadeSmaller,
    Plan,
    RefusedGraph,
    Setup,
    ShardDone,
    SubjectStarted,
    WrittenFinding,
)
from clonediff.harness.campaign.totals import Totals
from clonediff.reports.known import KnownIssues
from clonediff.reports.reading import read_run
from clonediff.reports.records import Budget, Finding, Run, read
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies import to_json
from tests.reports.making import TWO, finding, graph_of

DRAWN = finding(0, TWO, subject="keras", versions={"keras": "3.15.1"}, smallest=False)
HALFWAY = msgspec.structs.replace(DRAWN, proof=True, count=2)
SMALL = finding(0, graph_of(0), subject="keras", versions={"keras": "3.15.1"}, proof=True)
KEY = ("upstream", DRAWN.id)


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    folder = RunFolder(tmp_path / "run")
    plan = Plan("2026-01-01T00:00:00+00:00", ("keras",), Setup("c", ("upstream",), 8), 0, Budget(trials=9))
    recorder = Recorder(folder, plan, Totals(KnownIssues(())), NightlyCorpus(tmp_path / "corpus"), 1)
    recorder(SubjectStarted("keras", {"keras": "3.15.1"}, "3.15.1"))
    try:
        yield recorder
    finally:
        folder.close()


def _kept(path: Path) -> list[Finding]:
    return [each.finding for each in read_run(path / "run").findings]


def _corpus(path: Path) -> int:
    return len(list((path / "corpus").glob("*/*.json")))


def test_a_finding_is_there_as_soon_as_it_is_seen_and_is_replaced_by_smaller_ones(
    recorder: Recorder, tmp_path: Path
) -> None:
    recorder(Found(DRAWN, "drawn = 1\n", first=True))
    (kept,) = read_run(tmp_path / "run").findings
    assert (kept.finding.smallest, kept.finding.proof) == (False, None)
    assert kept.script == "drawn = 1\n"
    recorder(Found(HALFWAY, "halfway = 1\n"))
    (kept,) = read_run(tmp_path / "run").findings
    assert (kept.finding.smallest, kept.finding.proof, kept.script) == (False, True, "halfway = 1\n")
    assert not _corpus(tmp_path), "other nights try what is small"
    recorder(Found(SMALL, "small = 1\n"))
    (kept,) = read_run(tmp_path / "run").findings
    assert (kept.finding.smallest, kept.script) == (True, "small = 1\n")
    assert _corpus(tmp_path) == 1
    events = [each.event for each in read_run(tmp_path / "run").events]
    assert (events.count("finding"), events.count("proof")) == (1, 1)


def test_what_did_not_show_again_is_taken_back(recorder: Recorder, tmp_path: Path) -> None:
    recorder(Found(DRAWN, "drawn = 1\n", first=True))
    assert recorder.totals.new()
    recorder(Unsteady("keras", DRAWN.title, DRAWN))
    assert not _kept(tmp_path)
    assert not recorder.totals.new()
    assert len(list((tmp_path / "run" / "unsteady").iterdir())) == 1


def test_what_there_was_no_time_for_is_kept_for_other_nights_as_it_is(recorder: Recorder, tmp_path: Path) -> None:
    shard_queue = ShardQueue("keras", 0, (), None)
    shard_queue.done(ShardDone("keras", 0, raw_findings=(WrittenFinding(DRAWN),), met=((KEY, 2),)))
    recorder(Found(DRAWN, "drawn = 1\n", first=True))
    recorder.finish([shard_queue], interrupted=True)
    assert [(each.smallest, each.count) for each in _kept(tmp_path)] == [(False, 2)]
    assert _corpus(tmp_path) == 1
    shard_queue.settled(MadeSmaller("keras", KEY, 0, HALFWAY, "halfway = 1\n", rest="1"))
    recorder.finish([shard_queue], interrupted=True)
    assert [each.proof for each in _kept(tmp_path)] == [True]


def test_the_smallest_graph_is_kept_for_each_reason_for_which_one_was_refused(
    recorder: Recorder, tmp_path: Path
) -> None:
    graphs = sorted((msgspec.Raw(to_json(graph_of(number))) for number in range(3)), key=lambda each: -len(bytes(each)))
    whys = ("ValueError: no <such> shape", "TypeError: no", "ValueError: no <such> shape")
    for turn, (why, graph) in enumerate(zip(whys, graphs, strict=True)):
        recorder(ShardEnded(ShardDone("keras", turn, trials=1, refusals=(RefusedGraph(why, graph),))))
    kept = sorted((tmp_path / "run" / "refused").iterdir())
    assert [each.name.rpartition("-")[0] for each in kept] == ["keras-TypeError", "keras-ValueError"]
    assert [each.read_bytes().strip() for each in kept] == [bytes(graphs[1]), bytes(graphs[2])]
    assert recorder.totals.of["keras"].draws().reasons == {whys[0]: 2, whys[1]: 1}


def test_a_run_says_how_much_time_went_into_making_findings_smaller(recorder: Recorder, tmp_path: Path) -> None:
    recorder(ShardEnded(ShardDone("keras", 0, trials=50, seconds=30.0)))
    recorder(MadeSmaller("keras", KEY, 0, trials=20, seconds=9.5))
    recorder(MadeSmaller("keras", KEY, 0, trials=4, seconds=0.5))
    recorder.write("2026-01-01T00:01:00+00:00")
    run = read(tmp_path / "run" / "run.json", Run)
    assert (run.drawing, run.reducing, run.trials, run.drawn) == (30.0, 10.0, 74, 50)
