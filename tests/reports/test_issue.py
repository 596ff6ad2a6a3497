"""The text of an issue, and the summary for a CI job's page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from clonediff.reports.issue import PROMISES, issue
from clonediff.reports.reading import read_run
from clonediff.reports.summary import summary
from tests.reports.making import finding, many, nightly, run_folder

SCRIPT = "import keras\n\nmodel = 1\n"


def headings(text: str) -> list[str]:
    outside = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.*)$", outside, re.MULTILINE)


def test_an_issue_has_what_a_maintainer_reads_in_that_order() -> None:
    text = issue(finding(0), SCRIPT)
    expected = ["What happens", "What should happen", "Script", "Versions"]
    assert headings(text)[1:] == expected
    assert text.startswith(f"# {finding(0).title}\n")
    assert f"```python\n{SCRIPT}```" in text
    assert "3 of 12 numbers differ, by 0.25 at most. The first, at [0, 1]: `0.5` in the original, `0.25`" in text
    assert "| keras | 3.15.1 |" in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"proof": True}, "Its script fails alone.", id="proven"),
        pytest.param({"proof": False}, "Its script does not fail alone, so it does not count: look", id="not proven"),
        pytest.param({"cloner": "fixed"}, "clonediff.clone", id="ours"),
        pytest.param({"differences": (), "detail": "ValueError: no"}, "cannot be built or run", id="refused"),
    ],
)
def test_an_issue_says_what_is_known(changes: dict[str, object], said: str) -> None:
    assert said in issue(replace(finding(0), **changes), SCRIPT)


def test_each_check_has_its_promise() -> None:
    from clonediff.harness.trials.checks import CHECKS

    assert set(CHECKS) <= set(PROMISES)


def test_a_summary_has_the_verdict_what_ran_and_what_was_found(tmp_path: Path) -> None:
    text = summary(read_run(run_folder(tmp_path, [finding(0), finding(1, known="lambda-refused")], run=nightly())))
    counts = "computes something else on 20 of 12,000 graphs, loses a property on 80, changes only a name on 600"
    assert headings(text) == [
        f"clonediff: clone_model of Keras 3.15.1, tf_keras 2.21.0 {counts}: 2 known causes, 1 new",
        *("What it breaks", "New", "Of known issues", "What ran"),
    ]
    assert "12,000 trials in 1 h, 3.3 a second, seed 7, 2 jobs" in text
    assert "| keras/jax | not tried: keras/jax: jax is not installed |" in text


def test_a_summary_of_five_hundred_fits_on_a_page(tmp_path: Path) -> None:
    text = summary(read_run(run_folder(tmp_path, many(500))))
    assert len(text.encode()) < 100_000
    assert "and 450 more, in the report" in text
