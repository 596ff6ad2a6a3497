"""The list of known issues as it is shipped: each accuses a line, shows a graph, and matches no more than its cause."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonediff.harness.trials.triage import LIST_OF_ONE
from clonediff.reports.known import KnownIssue, load
from clonediff.strategies.graph import from_json

ISSUES = load().issues
LINE = re.compile(r"\b((?:keras|tf_keras)/src/[\w/]+\.py):(\d+)")
READ_IN = load().read_in
OF_ANOTHER_DAY = re.compile(r"^in \d+\.\d+\.\d+(?:\.dev\d+)?, (?:tensorflow/python/)?keras/[\w/]+\.py:\d+")
"""The line of an issue that is mended, or began later, with the release that it was read in."""
EACH_LINE = re.compile(r"([\w/]+\.py)?:(\d+)")
"""A line, with its file, the name of one in the same folder, or none for the file before."""

each_issue = pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.id)


SEEN_IN_RUNS_ALONE = {
    "remat-no-gradient": "the scope that a layer was made in is its `_remat_mode`",
    "remat-mask": "the scope that a layer or a model was made in is its `_remat_mode`",
    "remat-activation": "the scope that a layer was made in is its `_remat_mode`",
    "merge-built-elsewhere": "what a layer was built for is its `_reshape_required`, and it has no other state",
    "tf-merge-built-elsewhere": "what a layer was built for is its `_reshape_required`, and it has no other state",
    "tf-normalization-built-elsewhere": "what a layer was built for is its `_fused`, and it has no other state",
}
"""Issues whose root is a private attribute, which is compared on demand."""


@each_issue
def test_the_cause_is_a_sentence_that_names_a_line(issue: KnownIssue) -> None:
    if not ((issue.until or issue.since) and OF_ANOTHER_DAY.match(issue.because)):
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
    _lines_are_there(issue, Path(str((spec.submodule_search_locations or [""])[0])).parent)


def _lines_are_there(issue: KnownIssue, folder: Path) -> None:
    for file, line in _lines_of(issue):
        code = (folder / file).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
        assert code.strip("()[]{},"), f"{file}:{line} is {code!r}"
        assert not code.startswith(("#", "else:", "try:")), f"{file}:{line} is {code!r}"


def _lines_of(issue: KnownIssue) -> Iterator[tuple[str, str]]:
    """The lines of the release that the issue was read in, those of a file that was named before with that file."""
    if OF_ANOTHER_DAY.match(issue.because):
        return
    file = ""
    for name, line in EACH_LINE.findall(issue.because):
        file = name if "/" in name else f"{file.rpartition('/')[0]}/{name}" if name else file
        if file.partition("/")[0] == issue.generation:
            yield file, line


@each_issue
def test_the_example_is_a_graph_of_its_generation(issue: KnownIssue) -> None:
    if issue.example is None:
        pytest.skip(reason="what it needs is not drawn")
    assert from_json(issue.example, issue.id).generation == issue.generation


@each_issue
def test_a_match_says_more_than_where_it_shows(issue: KnownIssue) -> None:
    for pattern in issue.match:
        assert pattern.check is not None
        in_runs = pattern.check in ("outputs", "training", "saved")
        assert not in_runs or issue.id in SEEN_IN_RUNS_ALONE, "match the root"
        assert pattern.check != "masks" or pattern.kind or pattern.given, "match the root, or say what lost the mask"
        if pattern.aspect == "no error":
            assert pattern.given is not None
        elif pattern.check == "made":
            assert pattern.exception is not None
            assert pattern.frame is not None or pattern.given == LIST_OF_ONE, "which exception comes of it is chance"
        else:
            assert pattern.aspect not in (None, "*")
