"""The folder of a known issue that was met: written once it is known what its example shows, whichever comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clonediff.harness.campaign.events import Event, ShardEnded
from clonediff.harness.campaign.recorder import Recorder
from clonediff.harness.campaign.shards import KnownRetried, Plan, Setup, ShardDone, SubjectStarted, WrittenFinding
from clonediff.harness.campaign.totals import Totals
from clonediff.reports.known import load
from clonediff.reports.reading import read_run
from clonediff.reports.records import Budget, Severity, read
from clonediff.reports.records import Run as Ran
from clonediff.reports.run_folder import RunFolder, known_folder
from tests.reports.making import finding

MET = SubjectStarted("keras", {"keras": "3.15.1"}, "3.15.1")
SHOWN = finding(4, subject="keras", known="input-name")
EXAMPLES = {name: WrittenFinding(SHOWN, f"{name} = 1\n") for name in ("input-name", "model-trainable")}
EXAMINED = KnownRetried("keras", dict.fromkeys(EXAMPLES, True), EXAMPLES)
SHARD = ShardEnded(ShardDone("keras", 0, 50, known={"input-name": 9}, severities={"input-name": Severity.NAME}))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    folder = RunFolder(tmp_path / "run")
    yield folder
    folder.close()


def recorder(folder: RunFolder) -> Recorder:
    plan = Plan("2026-01-01T00:00:00+00:00", ("keras",), Setup("c", ("upstream",), 8), 0, Budget(trials=50))
    return Recorder(folder, plan, Totals(load()), None, 1)


@pytest.mark.parametrize("events", [(MET, EXAMINED, SHARD), (MET, SHARD, EXAMINED)], ids=["examined", "met"])
def test_the_script_of_a_known_issue_that_was_met_is_kept(events: tuple[Event, ...], folder: RunFolder) -> None:
    listener = recorder(folder)
    for event in events:
        assert not (folder.path / "known").exists()
        listener(event)
    listener.finish([], interrupted=False)
    assert [each.name for each in (folder.path / "known").iterdir()] == ["keras-input-name"], "the other was not met"
    (kept,) = read_run(folder.path).known
    assert (kept.finding.id, kept.finding.known, kept.script) == (SHOWN.id, "input-name", "input-name = 1\n")
    known = {each.id: each for each in read(folder.path / "run.json", Ran).known or ()}
    assert (known["input-name"].folder, known["input-name"].severity) == ("keras-input-name", Severity.NAME)
    assert (known["model-trainable"].folder, known["model-trainable"].severity) == ("", None)


def test_a_run_that_is_gone_on_with_writes_it_as_it_was(folder: RunFolder) -> None:
    for _ in range(2):
        listener = recorder(folder)
        for event in (MET, EXAMINED, SHARD):
            listener(event)
    assert sorted(each.name for each in (folder.path / "known" / "keras-input-name").iterdir()) == [
        "finding.json",
        "repro.py",
    ]


def test_a_folder_is_called_as_its_issue_whatever_that_is_called() -> None:
    assert known_folder("keras", "input-name") == "keras-input-name"
    odd = ["../../etc", "..", "a b", "a-b", "a/b", "\x00", "x" * 400, "x" * 401, "\ud800", "\u202e"]
    names = [known_folder("keras", each) for each in odd]
    assert len(set(names)) == len(odd)
    for name in names:
        assert "/" not in name
        assert "\x00" not in name
        assert 3 < len(name.encode("utf-8")) < 200
