"""The list of known issues as it is shipped: each accuses a line, shows a graph, and matches no more than its cause."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from pathlib import Path

import pytest

from reports.known import KnownIssue, load
from strategies import read_example

ISSUES = load().issues
LINE = re.compile(r"\b((?:keras|tf_keras)/src/[\w/]+\.py):(\d+)")
READ_IN = {"keras": "3.15.1", "tf_keras": "2.21.0"}
"""The releases in which the lines were read."""

each_issue = pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.id)


@each_issue
def test_the_cause_is_a_sentence_that_names_a_line(issue: KnownIssue) -> None:
    lines = LINE.findall(issue.because)
    assert lines
    assert {file.partition("/")[0] for file, _ in lines} == {issue.generation}
    assert "\n" not in issue.because
    assert not issue.because.endswith(".")


@each_issue
def test_the_line_is_there(issue: KnownIssue) -> None:
    spec = importlib.util.find_spec(issue.generation)
    if spec is None or importlib.metadata.version(issue.generation.replace("_", "-")) != READ_IN[issue.generation]:
        pytest.skip(reason=f"{issue.generation} {READ_IN[issue.generation]} is not installed here")
    for file, line in LINE.findall(issue.because):
        source = Path(str((spec.submodule_search_locations or [""])[0])).parent / file
        assert source.read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()


@each_issue
def test_the_example_is_a_graph_of_its_generation(issue: KnownIssue) -> None:
    assert issue.example is not None
    assert read_example(issue.example, issue.id).generation == issue.generation


@each_issue
def test_a_match_says_more_than_where_it_shows(issue: KnownIssue) -> None:
    for pattern in issue.match:
        assert pattern.check is not None
        assert pattern.check not in ("outputs", "masks", "training", "saved"), "match the root"
        if pattern.check == "made":
            assert pattern.exception is not None
            assert pattern.frame is not None
        else:
            assert pattern.aspect not in (None, "*")
