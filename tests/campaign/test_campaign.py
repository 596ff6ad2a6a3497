"""Campaigns on a real Keras: the same findings however they are run, and whatever happens to them on the way."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import pytest

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.reports.reading import read_run
from clonediff.reports.records import Severity
from clonediff.strategies.graph import Call, Function, Graph, Input, Layer, Ref, from_json
from tests.campaign.running import (
    UNKNOWN,
    below,
    found,
    fuzz,
    fuzzing,
    known_without,
    subjects_below,
    summary,
    workers_below,
)
from tests.command_line import imported_by
from tests.example_graphs import EXAMPLES
from tests.interrupting import interrupt
from tests.planted import planted
from tests.waiting import PATIENCE, until

TRIALS = 10
SEED = 52
"""Of which one of the first graphs is a small model that is frozen."""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return known_without(tmp_path_factory.mktemp("known"), UNKNOWN)


@pytest.fixture(scope="module")
def whole(known: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one job that nothing happens to."""
    folder = tmp_path_factory.mktemp("whole")
    done = fuzz(folder, *_asked(known, "run"), "--jobs", "1")
    assert done.returncode == 1, done.stderr
    return folder / "run"


def _asked(known: Path, out: str) -> list[str]:
    return ["--trials", str(TRIALS), "--seed", str(SEED), "--known-issues", str(known), "--out", out, "--json"]


def test_what_is_found_is_kept_with_everything_that_a_person_needs(whole: Path) -> None:
    its = read_run(whole)
    assert not its.problems
    assert len(its.findings) == 1
    assert {kept.finding.proof for kept in its.findings} == {True}
    assert all(kept.issue and kept.script for kept in its.findings)
    assert its.run.drawn == TRIALS
    assert its.run.ended
    assert its.run.known
    assert all(each.count for each in its.run.known)
    assert (whole / "report.html").exists()


@pytest.mark.slow(reason="a campaign more; tests/reports/test_draws has what a few refused graphs do, and what many do")
@pytest.mark.parametrize(("refused", "code"), [(1, 0), (3, 1)])
def test_graphs_that_cannot_be_built_are_counted_and_many_end_a_run_with_1(
    refused: int, code: int, tmp_path: Path
) -> None:
    for units in range(refused):
        dense = Layer("Dense", (("units", -units),))
        graph = Graph((Input((3,)),), (dense,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
        NightlyCorpus(tmp_path / "corpus").keep("keras", graph)
    known = known_without(tmp_path)
    done = fuzz(tmp_path, "--trials", "8", "--known-issues", str(known), "--out", "run", "--json")
    said = summary(done)
    assert (done.returncode, said["findings"], bool(said["to_mend"])) == (code, [], bool(code))
    (why,) = said["draws"]["keras"]["reasons"]
    assert why.startswith("ValueError: Received an invalid value for …")
    assert said["draws"]["keras"]["refused"] == refused
    assert len(list((tmp_path / "run" / "refused").iterdir())) == 1


@pytest.mark.slow(reason="a campaign more; tests/trials/test_at_least counts by the worst, and leaves out")
def test_graphs_are_counted_by_the_worst_and_what_costs_less_is_left_out(tmp_path: Path) -> None:
    calls: dict[str, Any] = {"calls": (Call(0, (Ref(0),)),), "takes": Ref(0), "gives": Ref(1), "generation": "keras"}
    lambda_ = Layer("Lambda", (("function", Function("lambda", ("x",))),))
    corpus = NightlyCorpus(tmp_path / "corpus")
    for layer in (lambda_, Layer("ReLU")):  # which crash, and change a name
        corpus.keep("keras", Graph((Input((3, 2)),), (layer,), **calls))
    corpus.keep("keras", from_json(EXAMPLES["weight-trainable"], "an example"))
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    asked = ("--trials", "1", "--known-issues", str(nothing), "--at-least", "trains", "--out", "run")
    done = fuzz(tmp_path, *asked, "--json")
    said = summary(done)
    assert done.returncode == 1, done.stderr
    upstream = said["worst"]["upstream"]
    assert (said["at_least"], sum(upstream.values())) == ("trains", said["drawn"])
    assert (upstream["crashes"] >= 1, upstream["trains"] >= 1, upstream["left out"] >= 1) == (True, True, True)
    assert (upstream["property"], upstream["name"]) == (0, 0)
    assert said["headline"].startswith(f"Keras {version('keras')}'s clone_model crashes on {upstream['crashes']} of ")
    severities = {kept.finding.severity for kept in read_run(tmp_path / "run").findings}
    assert severities <= {Severity.CRASHES, Severity.COMPUTES, Severity.TRAINS}
    assert {Severity.CRASHES, Severity.TRAINS} <= severities
    assert (
        f"graphs with only that: {upstream['left out']} with upstream" in (tmp_path / "run" / "summary.md").read_text()
    )


def test_a_killed_driver_loses_no_finding_and_the_next_run_begins_with_them(known: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with fuzzing(tmp_path, *_asked(known, "run"), "--jobs", "1") as process:
        until(lambda: _events(run, "finding"), process)
        left = below(process.pid)
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(left, timeout=PATIENCE)
    assert not alive, [each.cmdline() for each in alive]
    its = read_run(run)
    assert not its.problems
    assert its.findings
    assert all(kept.script for kept in its.findings)
    done = fuzz(tmp_path, "--trials", "1", "--seed", "77", "--known-issues", str(known), "--out", "next", "--json")
    assert {each["id"] for each in summary(done)["findings"]} >= {kept.finding.id for kept in its.findings}


@pytest.mark.parametrize(
    "victims",
    [
        pytest.param(
            subjects_below,
            id="subject",
            marks=pytest.mark.slow(reason="a worker takes its subject along; tests/subjects kills one by itself"),
        ),
        pytest.param(
            workers_below,
            id="worker",
            marks=pytest.mark.slow(reason="two workers begin anew; a driver that is killed takes its workers along"),
        ),
    ],
)
def test_a_process_that_is_killed_loses_nothing(victims, whole: Path, known: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run = tmp_path / "run"
    killed: set[int] = set()
    with fuzzing(tmp_path, *_asked(known, "run"), "--jobs", "2") as process:
        until(lambda: (run / "run.json").exists() or process.poll() is not None)
        while process.poll() is None and len(killed) < 2:
            for victim in [each for each in victims(process.pid) if each.pid not in killed][:1]:
                victim.kill()
                killed.add(victim.pid)
            until(lambda: process.poll() is not None or any(each.pid not in killed for each in victims(process.pid)))
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert killed
    assert process.returncode == 1, stderr
    assert json.loads(stdout)["failures"] == []
    assert found(run) == found(whole)


@dataclass(frozen=True)
class UnderWay:
    """A campaign: what was seen of it while it ran, and how it ended when it was interrupted."""

    run: Path
    listening: tuple[str, ...]
    left: list[psutil.Process]
    seconds: float
    code: int
    stdout: str
    stderr: str


def _events(run: Path, what: str) -> bool:
    """Whether such an event is written down."""
    return (run / "events.ndjson").exists() and f'"{what}"' in (run / "events.ndjson").read_text()


@pytest.fixture(scope="module")
def under_way(known: Path, tmp_path_factory: pytest.TempPathFactory) -> UnderWay:
    folder = tmp_path_factory.mktemp("under-way")
    run = folder / "run"
    asked = ("--minutes", "30", "--seed", str(SEED), "--known-issues", str(known), "--out", "run", "--jobs", "1")
    with fuzzing(folder, *asked, "--json") as process:
        until(lambda: _events(run, "finding"), process)
        left = below(process.pid)
        connections = [
            connection for each in (psutil.Process(process.pid), *left) for connection in each.net_connections("inet")
        ]
        listening = tuple(each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN)
        began = time.monotonic()
        stdout, stderr = interrupt(process)
    return UnderWay(run, listening, left, time.monotonic() - began, process.returncode, stdout, stderr)


def test_an_interrupt_ends_it_within_seconds_and_keeps_everything(under_way: UnderWay) -> None:
    assert under_way.code == 130, under_way.stderr
    assert under_way.seconds < 30
    said = json.loads(under_way.stdout)
    assert said["interrupted"]
    its = read_run(under_way.run)
    assert its.run.interrupted
    assert its.run.drawn == said["drawn"] > 0
    assert [each.finding.smallest for each in its.findings] == [False], "nobody had the time to make it smaller"
    assert len(list((under_way.run.parent / "corpus" / "keras").iterdir())) == 1
    assert (under_way.run / "report.html").exists()
    _, alive = psutil.wait_procs(under_way.left, timeout=PATIENCE)
    assert not alive


def test_nothing_listens_and_a_local_run_imports_no_dask(under_way: UnderWay) -> None:
    assert under_way.listening == ()
    assert not {"dask", "distributed"} & imported_by("fuzz", "--subject", "nothing-of-the-kind")


@pytest.mark.slow(reason="each graph that aborts, and each smaller one that is tried, starts a Keras anew")
def test_a_graph_that_kills_its_subject_is_one_finding_and_the_campaign_goes_on(tmp_path: Path) -> None:
    done = fuzz(tmp_path, "--trials", "12", "--cloner", "fixed", "--cloner", planted("aborts"), "--seed", "2", "--json")
    said = summary(done)
    deadly = [each for each in said["findings"] if "sigabrt" in each["id"]]
    assert [each["cloner"] for each in deadly] == [planted("aborts")]
    assert said["drawn"] == 12
    assert said["verdicts"]["fixed: faithful"] == 12
    assert said["verdicts"][f"{planted('aborts')}: killed its process"] == deadly[0]["count"]
