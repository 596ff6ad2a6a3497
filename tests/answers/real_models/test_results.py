"""What came of real models: which clone counts as what, the totals, and the table."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.real_models.results import CloneOutcome, RealModel, SuiteTotals, by_suite, is_fault, made
from clonediff.harness.answers.real_models.table import cells, markdown
from clonediff.reports.records import SEVERITIES, Difference, Raised, Severity

REFUSAL = "Layer 'x' (class `X`) cannot be cloned: its constructor refuses what its config tells. Let it."


def _broken(
    message: str = "", *, check: str = "made", severity: Severity = Severity.CRASHES, documented: bool = False
) -> CauseShown:
    raised = Raised("ValueError", message, "") if message else None
    root = Difference(check, "clone", "raises", "a clone", message or "nothing", severity, raised=raised)
    headline = f"{message or 'it'} | <b>broke</b>"
    return CauseShown("id", "title", SEVERITIES[severity], "our bug", root, headline=headline, documented=documented)


def _model(name: str, upstream: tuple[CauseShown, ...] = (), fixed: tuple[CauseShown, ...] = ()) -> RealModel:
    clones = (Cloned("upstream", "", breaks=upstream), Cloned("fixed", "", breaks=fixed))
    versions = {"keras": "3.15.1", "numpy": "2"}
    checked = CheckedModel(name, "keras", Status.CHECKED, versions, layers=3, clones=clones)
    return RealModel(name, "model = 1\n", checked)


LEFT_OUT = _broken(check="structure", severity=Severity.PROPERTY, documented=True)
NOT_TRIED = RealModel("a:hangs", "", CheckedModel("a:hangs", "keras", Status.LOST, reason="it took too long"))


@pytest.mark.parametrize(
    ("breaks", "cloner", "expected"),
    [
        pytest.param((), "fixed", CloneOutcome.FAITHFUL, id="nothing"),
        pytest.param((LEFT_OUT,), "fixed", CloneOutcome.FAITHFUL, id="documented"),
        pytest.param((_broken(documented=True),), "upstream", CloneOutcome.BREAKS, id="documented to raise"),
        pytest.param((_broken(severity=Severity.NAME, check="structure"),), "fixed", CloneOutcome.NAME, id="name"),
        pytest.param((_broken(REFUSAL),), "fixed", CloneOutcome.REFUSED, id="refused"),
        pytest.param((_broken(REFUSAL),), "upstream", CloneOutcome.BREAKS, id="not a refusal of ours"),
        pytest.param((_broken("list index out of range"),), "fixed", CloneOutcome.BREAKS, id="crash"),
        pytest.param((_broken(REFUSAL, check="outputs"),), "fixed", CloneOutcome.BREAKS, id="later"),
    ],
)
def test_what_a_clone_comes_to(breaks: tuple[CauseShown, ...], cloner: str, expected: CloneOutcome) -> None:
    assert made(Cloned(cloner, "", breaks=breaks)) is expected


def test_fixed_is_at_fault_where_it_neither_holds_nor_refuses() -> None:
    models = [
        _model("a:one", upstream=(_broken("crash"),)),
        _model("a:two", fixed=(_broken(REFUSAL),)),
        _model("a:three", fixed=(_broken(severity=Severity.NAME, check="structure"),)),
        NOT_TRIED,
    ]
    assert [is_fault(each) for each in models] == [False, False, True, False]


def test_totals_are_of_each_suite_and_of_all() -> None:
    models = [_model("a:one"), NOT_TRIED, _model("b:two", upstream=(_broken("x"),), fixed=(_broken(REFUSAL),))]
    assert by_suite(models) == [
        SuiteTotals("a", 2, 1, 1, 1, 0),
        SuiteTotals("b", 1, 1, 0, 0, 1),
        SuiteTotals("all", 3, 2, 1, 1, 1),
    ]
    assert by_suite(models[:2]) == [SuiteTotals("a", 2, 1, 1, 1, 0)]


def test_a_row_says_the_first_cause_or_why_nothing_was_tried() -> None:
    assert cells(NOT_TRIED) == ("took its process with it: it took too long", "")
    upstream, fixed = cells(_model("a:one", upstream=(_broken("x"), _broken("y")), fixed=(_broken(REFUSAL),)))
    assert upstream == "x | <b>broke</b>; 1 more"
    assert fixed == f"refused: {REFUSAL}"


def test_the_table_is_markdown_in_which_a_model_says_nothing_of_its_own() -> None:
    text = markdown([_model("a:o|ne", upstream=(_broken("line\nbreak"),)), NOT_TRIED])
    tables = MarkdownIt("commonmark").enable("table").render(text)
    assert "<td>o|ne</td>" in tables
    assert "&lt;b&gt;broke&lt;/b&gt;" in tables
    assert tables.count("<tr>") == 2 + 3  # a head each, the totals of one suite, two models
    assert "On keras 3.15.1." in text
