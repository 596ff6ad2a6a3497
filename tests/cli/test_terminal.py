"""The one terminal: progress, tables, colours, and what happens on an interrupt."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import Result
from clonediff.harness.cli import terminal
from clonediff.harness.cli.campaign_text import CampaignText
from clonediff.harness.cli.terminal import Progress, estimate, exit_code, say_table
from clonediff.reports.records import Counts, Run
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies.program import to_json
from tests.command_line import imported_by
from tests.example_graphs import example
from tests.interrupting import interrupt, under_way
from tests.reports.making import finding
from tests.waiting import until


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, as progress sees it."""
    now = [0.0]
    monkeypatch.setattr("clonediff.harness.cli.terminal.time.monotonic", lambda: now[0])
    return now


def test_progress_is_a_plain_line_now_and_then_where_nobody_watches(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    with Progress() as progress, Progress(quiet=True) as quiet:
        for clock[0] in (1.0, 3.0, 10.0, 17.0, 20.0, 40.0):
            progress.show(lambda: f"at {clock[0]}\x1b[2J")
            quiet.show("nothing")
    assert capsys.readouterr() == ("", "at 3.0\\x1b[2J\nat 20.0\\x1b[2J\nat 40.0\\x1b[2J\n")


@pytest.mark.parametrize(("variables", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_has_colours_if_its_user_wants_them(
    variables: dict[str, str], colours: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"TERM": "xterm-256color", **variables}
    console = Console(file=io.StringIO(), force_terminal=True, width=40, _environ=environment)
    monkeypatch.setattr(terminal, "_OUT", console)
    say_table(("release", "answer", "what"), [("keras==3.12.3", "breaks", "long " * 9), ("keras", "gone", "")])
    assert ("\x1b[31m" in capsys.readouterr().out) is colours


def test_a_table_is_plain_where_it_is_piped(capsys: pytest.CaptureFixture[str]) -> None:
    say_table(("release", "answer", "what"), [("keras==3.12.3", "breaks", "a long reason"), ("keras", "gone", "\x07")])
    assert capsys.readouterr().out.splitlines() == [
        "release        answer  what",
        "keras==3.12.3  breaks  a long reason",
        "keras          gone    \\x07",
    ]


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [(0, 9, ""), (9, 9, ""), (1, 3, ", about 20 s left"), (1, 61, ", about 10 min left")],
)
def test_an_estimate(done: int, total: int, said: str) -> None:
    assert estimate(done, total, 10.0) == said


def test_an_interrupt_comes_before_a_failure_and_that_before_a_break() -> None:
    codes = [exit_code(interrupted=True, failed=True), exit_code(failed=True, breaks=True), exit_code(breaks=True)]
    assert [*codes, exit_code()] == [130, 2, 1, 0]


@pytest.mark.parametrize("quiet", [False, True])
def test_a_campaign_says_what_it_finds_and_where_it_is(
    quiet: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    text = CampaignText(quiet=quiet)
    run = Run("now", ("keras",), trials=200)
    folder, corpus = RunFolder(tmp_path / "run"), NightlyCorpus(tmp_path / "corpus")
    record = Record(folder, run, corpus, text.found, text.warn, text.progress)
    evil = "gone\x1b[2J\r\x07\u202e"
    drawn = finding(0, title=evil, proof=None, smallest=False)
    record.found(drawn)
    record.found(finding(0, title=evil))
    record.add("keras", Result({}, Counts(graphs=50, known={"input-name": {"name": 7}})))
    clock[0] = 10.0
    text.progress(record, float("inf"), [evil])
    text.progress(record, 0.0, [])
    record.lose("keras/jax", f"keras/jax: {evil}")
    out, err = capsys.readouterr()
    assert not set("\x1b\r\x07\u202e") & {*out, *err}
    assert (
        [line.partition(":")[0] for line in out.splitlines()] == []
        if quiet
        else [
            "found",
            "as small as it gets (its script fails alone)",
        ]
    )
    assert ("50 trials, 1 new, 1 known cause, making smaller: gone" in err) is not quiet
    assert ("50 of 200 graphs, about 30 s left" in err) is not quiet
    assert "clonediff: keras/jax: gone" in err


def test_an_interrupt_of_a_replay_prints_what_was_replayed(tmp_path: Path) -> None:
    graph = json.loads(to_json(example("input-name")))
    for number in range(2000):
        (tmp_path / f"{number:04}.json").write_text(json.dumps({**graph, "source": f"{graph['source']}# {number}\n"}))
    with under_way("replay", str(tmp_path), cwd=tmp_path, PYTHONUNBUFFERED="1") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("breaks       keras  0000.json")
        stdout, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert stdout.splitlines()[-1].startswith("interrupted; ")
    assert " of 2000 replayed" in stdout
    assert "Traceback" not in stderr


def test_an_interrupt_of_an_audit_ends_it(tmp_path: Path) -> None:
    waits = "import pathlib, threading\n\nimport keras\n\n\nclass Waits(keras.layers.Layer):\n    def __init__(self):\n"
    forever = "        pathlib.Path('waits').touch()\n        threading.Event().wait()\n"
    (tmp_path / "mine.py").write_text(waits + forever)
    with under_way("audit", "mine.py", cwd=tmp_path) as process:
        until((tmp_path / "waits").exists, process)
        _, stderr = interrupt(process)
    assert process.returncode == 130, stderr


@pytest.mark.parametrize("arguments", [("--help",), ("repro", "lambda-refused")], ids=["help", "repro"])
def test_reading_imports_neither_keras_nor_hypothesis(arguments: tuple[str, ...]) -> None:
    imported = imported_by(*arguments)
    assert "click" in imported
    assert not imported & {"keras", "tensorflow", "tf_keras", "hypothesis"}
