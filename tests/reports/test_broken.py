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
    known=(NAME, LAMBDA),
)


def a_run(path: Path, run: Run = RAN, findings: int = 0) -> RunRead:
    """A run in which two known issues were met."""
    folder = run_folder(path, [finding(number) for number in range(findings)], run=run)
    return read_run(folder)


def test_the_first_sentence_says_what_is_broken_and_what_holds(tmp_path: Path) -> None:
    said = verdict(a_run(tmp_path))
    assert said.headline == (
        "Keras 3.15.1's clone_model is unfaithful on 290 of 300 graphs: 2 known causes, nothing new"
    )
    assert said.holds == ("clonediff's own cloner is faithful on all 300 graphs.",)
    assert (said.state, said.broken, said.exit_code) == ("nothing", True, 0)


@pytest.mark.parametrize(
    ("changes", "findings", "headline", "holds"),
    [
        pytest.param({}, 2, "Keras 3.15.1's clone_model is unfaithful on 290 of 300 graphs: 2 known causes, 2 new",
                     ("clonediff's own cloner is faithful on all 300 graphs.",), id="new"),
        pytest.param({"known": ()}, 1, "Keras 3.15.1's clone_model is unfaithful on 290 of 300 graphs: 1 new",
                     ("clonediff's own cloner is faithful on all 300 graphs.",), id="none known"),
        pytest.param({"known": (NAME,)}, 0,
                     "Keras 3.15.1's clone_model is unfaithful on 290 of 300 graphs: 1 known cause, nothing new",
                     ("clonediff's own cloner is faithful on all 300 graphs.",), id="one known"),
        pytest.param({"verdicts": {"upstream: faithful": 1}, "known": ()}, 0,
                     "Keras 3.15.1's clone_model is faithful on 1 graph: nothing new", (), id="faithful"),
        pytest.param({"verdicts": {"fixed: diverged": 2, "fixed: faithful": 1, "roundtrip: killed": 1}, "known": ()}, 0,
                     "clonediff's own cloner is unfaithful on 2 of 3 graphs: nothing new",
                     ("The cloner roundtrip is unfaithful on 1 of 1 graph.",), id="others"),
        pytest.param({"subjects": {"keras": VERSIONS, "keras/jax": VERSIONS, "tf_keras": {"tf_keras": "2.21.0"}}}, 0,
                     "clone_model of Keras 3.15.1, tf_keras 2.21.0 is unfaithful on 290 of 300 graphs: 2 known causes, "
                     "nothing new", ("clonediff's own cloner is faithful on all 300 graphs.",), id="two releases"),
        pytest.param({"verdicts": {}}, 0, "Nothing new in 300 trials", (), id="not recorded"),
    ],
)  # fmt: skip
def test_it_says_so_whatever_ran(
    changes: dict[str, object], findings: int, headline: str, holds: tuple[str, ...], tmp_path: Path
) -> None:
    said = verdict(a_run(tmp_path, msgspec.structs.replace(RAN, **changes), findings=findings))
    assert (said.headline, said.holds) == (headline, holds)


WORST = {"upstream: crashes": 12, "upstream: trains": 8, "upstream: name": 270}
ALSO_LEFT_OUT = {"fixed: faithful": 300, "upstream: crashed": 12, "upstream: diverged": 8, "upstream: left out": 270,
                 "upstream: faithful": 10}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "headline", "holds", "left_out"),
    [
        pytest.param({"worst": WORST},
                     "Keras 3.15.1's clone_model crashes on 12 of 300 graphs, trains differently on 8, "
                     "changes only a name on 270: 2 known causes, nothing new",
                     "clonediff's own cloner is faithful on all 300 graphs.", "", id="all"),
        pytest.param({"worst": {"upstream: crashes": 12, "upstream: trains": 8}, "verdicts": ALSO_LEFT_OUT,
                      "at_least": Severity.TRAINS},
                     "Keras 3.15.1's clone_model crashes on 12 of 300 graphs, trains differently on 8: "
                     "2 known causes, nothing new",
                     "clonediff's own cloner is faithful on all 300 graphs.",
                     "left out by --at-least trains: what only loses a property or changes a name; "
                     "graphs with only that: 270 with upstream", id="left out"),
        pytest.param({"worst": {"fixed: name": 1}, "known": (), "at_least": Severity.PROPERTY,
                      "verdicts": {"fixed: diverged": 1, "upstream: left out": 2, "upstream: faithful": 1}},
                     "Keras 3.15.1's clone_model is faithful on 1 of 3 graphs, but for what was left out: nothing new",
                     "clonediff's own cloner changes only a name on 1 of 1 graph.",
                     "left out by --at-least property: what only changes a name; "
                     "graphs with only that: 2 with upstream", id="nothing else"),
        pytest.param({"at_least": Severity.PROPERTY, "verdicts": {"upstream: faithful": 3}, "known": ()},
                     "Keras 3.15.1's clone_model is faithful on all 3 graphs: nothing new", None,
                     "left out by --at-least property: what only changes a name; no graph had only that",
                     id="none"),
    ],
)  # fmt: skip
def test_graphs_are_counted_by_the_worst_that_happens_to_them(
    changes: dict[str, object], headline: str, holds: str | None, left_out: str, tmp_path: Path
) -> None:
    read = a_run(tmp_path, msgspec.structs.replace(RAN, **changes))
    said = verdict(read)
    assert (said.headline, said.holds, said.left_out) == (headline, (holds,) if holds else (), left_out)
    assert said.broken == ("faithful" not in headline)
    assert said.notes == ((left_out,) if left_out else ())
    text, whole = summary(read), page(read)
    assert text.startswith(f"## clonediff: {headline}\n")
    for written in (text, unescape(whole)):
        assert headline in written
        assert left_out in written


def test_the_counts_are_a_table(tmp_path: Path) -> None:
    read = a_run(tmp_path, msgspec.structs.replace(RAN, worst=WORST))
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


def test_the_page_shows_the_reason_of_a_known_issue(tmp_path: Path) -> None:
    text = page(a_run(tmp_path))
    for said in (NAME.title, "cloning.py:399", "3.3.3", "3.16.0", "290 graphs"):
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
