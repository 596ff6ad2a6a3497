"""Bugs of the past on real releases, on both sides of where they ended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import run
from clonediff.reports.corpus import load, shows

CORPUS = load()
SIDES = [
    ("shared-at-two-depths", "3.2.1", True),
    ("shared-at-two-depths", "3.10.0", False),
    ("lambda-refused", "3.2.1", True),
    ("lambda-refused", "3.10.0", False),
    ("sequential-on-new-inputs", "3.2.1", True),
    ("sequential-on-new-inputs", "3.10.0", False),
    ("one-input-in-a-list", "3.10.0", True),
    pytest.param(
        "one-input-in-a-list",
        "3.5.0",
        False,
        marks=pytest.mark.slow(reason="a release more to install and start; two other bugs are tried on both sides"),
    ),
]


@pytest.mark.parametrize(("name", "version", "broken"), SIDES, ids=lambda each: str(each))
def test_a_bug_shows_where_it_was_and_nowhere_else(
    keras3: Callable[[str], SubjectProcess], name: str, version: str, broken: bool
) -> None:
    bug = CORPUS[name]
    process = keras3(version)  # with none, the one that is installed
    trial = run(case_of(CORPUS.graph(bug), process.subject.generation), process, (bug.cloner,))
    assert trial.built
    assert shows(bug, trial.clones[bug.cloner].causes) == broken
