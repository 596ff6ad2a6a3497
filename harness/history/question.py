"""What a history is about: a graph, who clones it, and the cause that is looked for.

Reads a finding, a graph or the name of a known issue, and says where one of them is wrong. Must not import Keras.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from harness.hunting.hunt import COSTLY
from harness.triage import alike
from reports.known import KnownIssue, KnownIssues, explains, load
from reports.records import Cause, Finding, RecordError, read
from strategies.graph import Graph, from_json
from strategies.typing import infer

UPSTREAM = "upstream"
_COSTLY_CHECKS = ("again", "saved", "training")
_APART = ("backend", "device")


class QuestionError(ValueError):
    """What was named is no finding, no graph and no known issue, or one that no release can be asked about."""


class Question(msgspec.Struct, frozen=True):
    """What is looked for: the cause of a finding, a known issue, or anything at all."""

    about: str
    graph: Graph
    cloner: str = UPSTREAM
    cause: Cause | None = None
    issue: KnownIssue | None = None

    @property
    def sought(self) -> bool:
        """Whether one cause is looked for; otherwise anything breaks the promise."""
        return self.cause is not None or self.issue is not None

    @property
    def checks(self) -> tuple[str, ...]:
        """The costly parts of a trial that it takes to see it."""
        if self.cause is not None:
            return COSTLY if self.cause.root.check in _COSTLY_CHECKS else ()
        if self.issue is not None:
            wanted = {pattern.check for pattern in self.issue.match}
            return COSTLY if None in wanted or wanted.intersection(_COSTLY_CHECKS) else ()
        return COSTLY

    def is_it(self, cause: Cause) -> bool:
        """Whether a cause is the one that is looked for. Its frame does not count: code moves on."""
        if self.cause is not None:
            return alike(self.cause, cause)
        return self.issue is not None and explains(self.issue, cause)


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
        fields = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError) as error:
        raise QuestionError(f"{path}: expected the JSON of a finding or of a graph: {error}") from None
    return isinstance(fields, dict) and "graph" in fields


def _of_finding(path: Path, cloner: str | None) -> Question:
    finding = read(path, Finding)
    graph = _checked(from_json(bytes(finding.graph), f"{path}: graph"), f"{path}: graph")
    if not finding.differences:
        return Question(f"{finding.title} [{finding.id}]", graph, cloner or UPSTREAM)
    root = finding.differences[0]
    if root.check in _APART:
        raise QuestionError(
            f"{path}: tells of two {root.check}s that differ, not of a clone: no release can answer for it"
        )
    cause = Cause(finding.id, root, finding.differences[1:], min(each.rank for each in finding.differences))
    return Question(f"{finding.title} [{finding.id}]", graph, cloner or finding.cloner or UPSTREAM, cause=cause)


def _of_graph(path: Path, cloner: str | None) -> Question:
    return Question(str(path), _checked(from_json(path.read_bytes(), str(path)), str(path)), cloner or UPSTREAM)


def _of_issue(issue: KnownIssue, cloner: str | None) -> Question:
    if issue.example is None:
        raise QuestionError(f"{issue.id}: this known issue has no example to try; name a finding or a graph")
    graph = _checked(from_json(issue.example, f"{issue.id}: example"), f"{issue.id}: example")
    patterns = tuple(
        replace(pattern, frame=None, leads_to=None) for pattern in issue.match if pattern.check or pattern.aspect
    )
    return Question(
        f"{issue.title} [{issue.id}]",
        graph,
        cloner or issue.cloner,
        issue=replace(issue, match=patterns or issue.match),
    )


def _checked(graph: Graph, where: str) -> Graph:
    infer(graph, where)
    return graph


def _unknown(what: str, known: KnownIssues) -> str:
    ids: Sequence[str] = [issue.id for issue in known.issues if issue.example is not None]
    near = difflib.get_close_matches(what, ids, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; known issues are listed in reports/known_issues.toml"
    return f"{what}: no such folder or file, and no known issue with an example{hint}"


__all__ = ["Question", "QuestionError", "RecordError", "question_of"]
