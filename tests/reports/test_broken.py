"""What a run begins with: what Keras breaks, worst first, what is new and what holds."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import msgspec
import pytest

from clonediff.reports.broken import broken, by_worst
from clonediff.reports.page import page
from clonediff.reports.reading import RunRead, read_run
from clonediff.reports.records import KnownMet, Run, Severity
from clonediff.reports.summary import summary
from clonediff.reports.verdict import verdict
from clonediff.reports.writing import write_reports
from tests.reports.making import HOSTILE, START, VERSIONS, finding, run_folder

NAME = KnownMet(
    "input-name", "An unnamed input layer changes its name in the clone", "keras", "keras", 290, "cloning.py:399",
    "https://github.com/keras-team/keras/issues/1", "3.3.3", "3.16.0", Severity.NAME,
)  # fmt: skip
LAMBDA = KnownMet(
    "lambda-refused", "A Lambda of a Python lambda cannot be cloned", "keras", "keras", 12, "lambda_layer.py:193",
    None, "3.15.0", None, Severity.CRASHES,
)  # fmt: skip
RAN = Run(
    started=START.isoformat(),
    ended=START.isoformat(),
    subjects={"keras": VERSIONS},
    trials=300,
    verdicts={"fixed: faithful": 300, "upstream: crashed": 12, "upstream: diverged": 278, "upstream: faithful": 10},
    worst={"upstream: crashes": 12, "upstream: trains": 8, "upstream: name": 270},
    known=(NAME, LAMBDA),
)
SENTENCE = "Keras 3.15.1's clone_model crashes on 12 of 300 graphs, trains differently on 8, changes only a name on 270"


def a_run(path: Path, run: Run = RAN, findings: int = 0) -> RunRead:
    """A run in which two known issues were met."""
    folder = run_folder(path, [finding(number) for number in range(findings)], run=run)
    return read_run(folder)


@pytest.mark.parametrize(
    ("changes", "findings", "headline"),
    [
        pytest.param({}, 0, f"{SENTENCE}: 2 known causes, nothing new", id="known"),
        pytest.param({}, 2, f"{SENTENCE}: 2 known causes, 2 new", id="new"),
        pytest.param({"known": ()}, 1, f"{SENTENCE}: 1 new", id="none known"),
        pytest.param({"verdicts": {"upstream: faithful": 1}, "worst": {}, "known": ()}, 0,
                     "Keras 3.15.1's clone_model is faithful on 1 graph: nothing new", id="faithful"),
        pytest.param({"verdicts": {"fixed: diverged": 2, "fixed: faithful": 1}, "worst": {"fixed: trains": 2}}, 0,
                     "clonediff's own cloner trains differently on 2 of 3 graphs: 2 known causes, nothing new",
                     id="fixed alone"),
        pytest.param({"verdicts": {}}, 0, "Nothing new in 300 trials", id="no cloner"),
    ],
)  # fmt: skip
def test_the_first_sentence_says_what_is_broken(
    changes: dict[str, object], findings: int, headline: str, tmp_path: Path
) -> None:
    read = a_run(tmp_path, msgspec.structs.replace(RAN, **changes), findings=findings)
    assert verdict(read).headline == headline
    assert verdict(read).exit_code == bool(findings)
    assert summary(read).startswith(f"## clonediff: {headline}\n")
    assert headline in unescape(page(read))


def test_the_other_cloners_have_a_sentence_each(tmp_path: Path) -> None:
    assert verdict(a_run(tmp_path)).holds == ("clonediff's own cloner is faithful on all 300 graphs.",)


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    verdicts = {**RAN.verdicts, "upstream: diverged": 8, "upstream: left out": 270}
    worst = {"upstream: crashes": 12, "upstream: trains": 8}
    run = msgspec.structs.replace(RAN, verdicts=verdicts, worst=worst, at_least=Severity.TRAINS)
    note = (
        "left out by --at-least trains: what only loses a property or changes a name; "
        "graphs with only that: 270 with upstream"
    )
    assert verdict(a_run(tmp_path, run)).notes == (note,)


def test_the_counts_are_a_table(tmp_path: Path) -> None:
    read = a_run(tmp_path)
    assert by_worst(read.run)["upstream"] == {
        "crashes": 12, "computes": 0, "trains": 8, "property": 0, "name": 270, "left out": 0, "faithful": 10,
    }  # fmt: skip
    assert "| upstream | 12 | 0 | 8 | 0 | 270 | 10 |\n" in summary(read)


def test_causes_come_worst_first(tmp_path: Path) -> None:
    found = broken(a_run(tmp_path))
    assert [(each.issue.id, each.severity_said, each.graphs) for each in found] == [
        ("lambda-refused", "it crashes", 12),
        ("input-name", "it changes a name", 290),
    ]


def test_a_cause_of_two_subjects_is_one(tmp_path: Path) -> None:
    there = msgspec.structs.replace(NAME, subject="keras/jax", count=5, severity=Severity.PROPERTY)
    (only,) = broken(a_run(tmp_path, msgspec.structs.replace(RAN, known=(there, NAME))))
    assert (only.subjects, only.graphs, only.severity) == (("keras/jax", "keras"), 295, Severity.PROPERTY)


def test_the_page_shows_the_reason_and_the_script_of_a_known_issue(tmp_path: Path) -> None:
    text = page(a_run(tmp_path))
    for said in (
        NAME.title,
        "cloning.py:399",
        "3.3.3",
        "3.16.0",
        "290 graphs",
        "clone = keras.models.clone_model(model)",
    ):
        assert said in text, said
    assert '<a href="https://github.com/keras-team/keras/issues/1" rel="noopener noreferrer">input-name</a>' in text


def test_what_a_user_writes_of_an_issue_is_text(tmp_path: Path) -> None:
    evil = msgspec.structs.replace(
        NAME, id=HOSTILE, title=HOSTILE, because=HOSTILE, link=f"https://x/{HOSTILE}", since=HOSTILE, until=HOSTILE
    )
    read = a_run(tmp_path, msgspec.structs.replace(RAN, known=(evil,)))
    for text in (page(read), summary(read)):
        assert "<img" not in text
        assert "\x00" not in text
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("proof", "unproven", "said"),
    [
        pytest.param(True, "", "its script fails alone", id="fails"),
        pytest.param(False, "", "its script does not fail alone, so it does not count", id="holds"),
        pytest.param(None, "", "not known whether its script fails alone: it was not run", id="of an old run"),
        pytest.param(None, "it needs clonediff, and is not run",
                     "not known whether its script fails alone: it needs clonediff, and is not run", id="ours"),
    ],
)  # fmt: skip
def test_every_report_says_whether_a_script_fails_alone(
    proof: bool | None, unproven: str, said: str, tmp_path: Path
) -> None:
    found = finding(0, proof=proof, unproven=unproven)
    assert found.alone == said
    read = read_run(run_folder(tmp_path, [found], proven=False))
    write_reports(read)
    for name in ("report.html", "summary.md"):
        assert said in (tmp_path / name).read_text(), name
    issue = next((tmp_path / "findings").iterdir()) / "issue.md"
    assert f"{said[0].upper()}{said[1:]}" in issue.read_text()
