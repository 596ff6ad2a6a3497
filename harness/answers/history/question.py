"""What a history is about: a graph, who clones it, and the cause that is looked for.

Reads a finding, a graph or the name of a known issue, and says where one of them is wrong. Must not import Keras.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from harness.answers.replay.files import graph_in, is_finding
from harness.answers.replay.outcome import Expected
from harness.subjects.case import COSTLY
from harness.subjects.subject import Subject
from reports.known import KnownIssue, KnownIssues, load
from reports.records import Finding, RecordError, read
from strategies.graph import Graph, from_json
from strategies.typing import infer, read_example

UPSTREAM = "upstream"
_APART = ("backend", "device")


class QuestionError(ValueError):
    """What was named is no finding, no graph and no known issue, or one that no release can be asked about."""


class Question(msgspec.Struct, frozen=True):
    """What is looked for: the cause of a finding, a known issue, or anything at all.

    `suffix` has the backend and the device that it was seen on, as they stand behind a release: "/jax@gpu". `apart`
    says why the answer is not one about the finding that was named; "" where it is.
    """

    about: str
    graph: Graph
    cloner: str = UPSTREAM
    expected: Expected = Expected()
    apart: str = ""
    suffix: str = ""

    @property
    def sought(self) -> bool:
        """Whether one cause is looked for; otherwise anything breaks the promise."""
        return self.expected.sought

    @property
    def checks(self) -> tuple[str, ...]:
        """The costly parts of a trial that it takes to see it."""
        return COSTLY if self.expected.costly else ()


def question_of(what: str, cloner: str | None = None) -> Question:
    """The question that a finding's folder, its finding.json, a graph's file or the id of a known issue asks."""
    path = Path(what)
    if path.is_dir():
        if not (path / "finding.json").is_file():
            raise QuestionError(f"{path}: expected a finding's folder, and there is no finding.json in it")
        return _of_finding(path / "finding.json", cloner)
    if path.is_file():
        return _of_finding(path, cloner) if _is_finding(path) else _of_graph(path, cloner)
    known = load()
    if what in (issue.id for issue in known.issues):
        return _of_issue(known[what], cloner)
    raise QuestionError(_unknown(what, known))


def finding_file(what: str) -> Path | None:
    """The file of a finding that was named; None where it was something else."""
    path = Path(what)
    path = path / "finding.json" if path.is_dir() else path
    return path if path.is_file() and _is_finding(path) else None


def _is_finding(path: Path) -> bool:
    try:
        return path.name == "finding.json" or is_finding(path)
    except RecordError as error:
        raise QuestionError(str(error)) from None


def _of_finding(path: Path, cloner: str | None) -> Question:
    finding = read(path, Finding)
    graph = from_json(bytes(finding.graph), f"{path}: graph")
    infer(graph, f"{path}: graph")
    about, cloned_by = f"{finding.title} [{finding.id}]", finding.cloner or UPSTREAM
    if finding.root is None:
        apart = "the finding is of an original that fails, and what is asked of each release is whether a clone does"
        return Question(f"the graph of: {about}", graph, cloner or UPSTREAM, apart=apart)
    if finding.root.check in _APART:
        raise QuestionError(
            f"{path}: tells of two {finding.root.check}s that differ, not of a clone: no release can answer for it"
        )
    apart = f"the finding is of {cloned_by}, and {cloner} is asked about" if cloner not in (None, cloned_by) else ""
    expected = replace(Expected.of(finding), anywhere=True)
    return Question(about, graph, cloner or cloned_by, expected, apart, _suffix(finding.subject))


def _suffix(name: str) -> str:
    if not name:
        return ""
    subject = replace(Subject.parse(name), version=None)
    return str(subject).removeprefix(subject.package)


def _of_graph(path: Path, cloner: str | None) -> Question:
    found = graph_in(path)
    return Question(str(path), found.graph, cloner or found.cloner or UPSTREAM)


def _of_issue(issue: KnownIssue, cloner: str | None) -> Question:
    if issue.example is None:
        raise QuestionError(f"{issue.id}: this known issue has no example to try; name a finding or a graph")
    graph = read_example(issue.example, f"{issue.id}: example")
    patterns = tuple(
        replace(pattern, frame=None, leads_to=None) for pattern in issue.match if pattern.check or pattern.aspect
    )
    return Question(
        f"{issue.title} [{issue.id}]",
        graph,
        cloner or issue.cloner,
        Expected(issue=replace(issue, match=patterns or issue.match)),
    )


def _unknown(what: str, known: KnownIssues) -> str:
    ids: Sequence[str] = [issue.id for issue in known.issues if issue.example is not None]
    near = difflib.get_close_matches(what, ids, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; known issues are listed in reports/known_issues.toml"
    return f"{what}: no such folder or file, and no known issue with an example{hint}"


__all__ = ["Question", "QuestionError", "RecordError", "question_of"]
