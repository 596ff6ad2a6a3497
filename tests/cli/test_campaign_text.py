"""What a person is told of a campaign: progress, findings, the end of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import FindingWithScript, Plan, Setup, ShardResult
from clonediff.harness.cli.text.campaign import CampaignText, summary_text
from clonediff.reports.known import load
from clonediff.reports.reading import read_run
from clonediff.reports.records import Budget, Run, Severity, read
from clonediff.reports.run_folder import RunFolder
from tests.reports.making import finding, run_folder
from tests.reports.test_broken import NAME, RAN, a_run

VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0"}
FINDING = finding(0, title="a title", subject="keras", proof=True, count=3)
PLAN = Plan(
    "2026-01-01T00:00:00+00:00", ("keras",), Setup("c", ("upstream", "fixed"), load().issues), 0, Budget(None, 200)
)


def record_of(folder: Path, *, quiet: bool = False) -> tuple[Record, CampaignText]:
    text = CampaignText(PLAN, quiet=quiet)
    return Record(RunFolder(folder / "out"), PLAN, NightlyCorpus(folder / "corpus"), 1, text), text


def shard(turn: int = 0, **fields: object) -> ShardResult:
    return ShardResult("keras", turn, VERSIONS, **{"trials": 50, **fields})  # type: ignore[arg-type]  # by name


def test_progress_is_a_plain_line_where_nobody_watches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, _ = record_of(tmp_path)
    record.shard(shard(known={"input-name": 7}))
    record.progress(None, ["a title"])
    out, err = capsys.readouterr()
    assert out == ""
    for part in ("50 trials", "0 new, 7 known", "making smaller: a title", "150 to go, about"):
        assert part in err
    assert err.endswith("\n")
    assert not {"\r", "\x1b"} & set(err)


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        pytest.param(True, "its script fails alone", id="proven"),
        pytest.param(False, "its script does not fail alone, so it does not count", id="not-proven"),
        pytest.param(None, "not known whether its script fails alone: it was not run", id="not-run"),
    ],
)
def test_a_finding_is_a_line_when_it_is_seen_and_one_when_it_is_small(
    proof: bool | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, _ = record_of(tmp_path)
    drawn = msgspec.structs.replace(FINDING, proof=None, smallest=False)
    for each in (drawn, msgspec.structs.replace(FINDING, proof=proof)):
        record.found(FindingWithScript(each, "drawn = 1"))
    assert capsys.readouterr().out.splitlines() == [
        f"found: a title [upstream: {FINDING.id}]",
        f"as small as it gets: a title [upstream: {FINDING.id}]; {said}",
    ]


def test_a_script_hears_of_what_goes_wrong_and_of_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, text = record_of(tmp_path, quiet=True)
    record.found(FindingWithScript(FINDING))
    record.unsteady(FINDING)
    record.progress(None, [])
    assert capsys.readouterr() == ("", "")
    record.lose("keras/jax", "keras/jax: not here")
    text.warn("keras: shard 3 cannot be tried")
    out, err = capsys.readouterr()
    assert out == ""
    assert "not here" in err
    assert "shard 3" in err


def test_nothing_from_a_graph_or_a_child_is_obeyed_by_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, _ = record_of(tmp_path)
    evil = "\x1b[2Jgone\r\x07\u202e"
    record.shard(shard())
    record.found(FindingWithScript(msgspec.structs.replace(FINDING, title=evil)))
    record.lose("keras", evil)
    record.progress(None, [evil])
    text = summary_text(record, read_run(run_folder(tmp_path, [finding(0, title=evil)])))
    text += "".join(capsys.readouterr())
    assert "gone" in text
    assert not set("\x1b\r\x07\u202e") & set(text)


def test_the_summary_fits_a_screen(tmp_path: Path) -> None:
    record, _ = record_of(tmp_path)
    met = tuple(msgspec.structs.replace(NAME, id=f"issue-{number:02}", count=50 - number) for number in range(17))
    text = summary_text(record, a_run(tmp_path, msgspec.structs.replace(RAN, known=met))).splitlines()
    assert len(text) <= 24
    assert "17 known causes, nothing new" in text[1]
    assert text[2] == "clonediff's own cloner is faithful on all 300 graphs."
    assert f"  and 7 more: in {record.folder.path}/report.html" in text


def test_what_is_known_is_counted_by_graph_with_the_worst_that_it_did(tmp_path: Path) -> None:
    record, _ = record_of(tmp_path)
    for count, severity in ((3, Severity.NAME), (4, Severity.COMPUTES), (1, Severity.PROPERTY)):
        record.shard(shard(known={"input-name": count}, severities={"input-name": severity}))
    record.write()
    (met,) = read(record.folder.path / "run.json", Run).known or ()
    assert (met.id, met.subject, met.count, met.severity) == ("input-name", "keras", 8, Severity.COMPUTES)
