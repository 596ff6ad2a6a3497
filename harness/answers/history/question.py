"""What a history is about: a graph, who clones it, and the cause that is looked for."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from clonediff.harness.answers.replay_target import ReplayTarget, listed, replay_targets
from clonediff.harness.inside.cloners.users import as_asked
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.expected import Expected
from clonediff.reports.known import KnownIssue, load
from clonediff.strategies.graph import Graph

UPSTREAM = "upstream"


class QuestionError(ValueError):
    """What was named is no finding, no graph and no known issue, or one that no release can be asked about."""


class HistoryQuestion(msgspec.Struct, frozen=True):
    """What is looked for: the cause of a finding, a known issue, or anything at all.

    `suffix` has the backend and the device that it was seen on, as they stand behind a release: "/jax@gpu". `file` is
    that of the finding that was named, if it was one. `apart` says why the answer is not one about that finding; ""
    where it is.
    """

    about: str
    graph: Graph
    cloner: str = UPSTREAM
    expected: Expected = Expected()
    apart: str = ""
    suffix: str = ""
    file: Path | None = None

    @property
    def sought(self) -> bool:
        """Whether one cause is looked for; otherwise anything breaks the promise."""
        return self.expected.sought


def question_of(what: str, cloner: str | None = None) -> HistoryQuestion:
    """The question that a finding, a graph's file or the id of a known issue asks."""
    found, _ = replay_targets([what], load())
    if len(found) != 1:
        said = f"{len(found)} findings or graphs: name one of {listed([each.where for each in found])}"
        raise QuestionError(f"{what}: {said if found else 'this run has no findings'}")
    (its,) = found
    cloner = as_asked(cloner, its.cloner) if cloner else cloner
    finding, graph, issue = its.finding, its.graph, its.expected.issue
    if its.problem or graph is None:
        raise QuestionError(f"{its.where}: {its.problem}")
    if finding is not None:
        return _of_finding(its, graph, cloner)
    if issue is not None:
        return HistoryQuestion(
            f"{its.title} [{its.id}]", graph, cloner or its.cloner, Expected(issue=_in_any_frame(issue))
        )
    return HistoryQuestion(its.where, graph, cloner or its.cloner)


def _of_finding(its: ReplayTarget, graph: Graph, cloner: str | None) -> HistoryQuestion:
    about, file = f"{its.title} [{its.id}]", Path(its.where)
    if its.expected.cause is None:
        apart = "the finding is of an original that fails, and what is asked of each release is whether a clone does"
        return HistoryQuestion(f"the graph of: {about}", graph, cloner or UPSTREAM, apart=apart, file=file)
    apart = f"the finding is of {its.cloner}, and {cloner} is asked about" if cloner not in (None, its.cloner) else ""
    expected = replace(its.expected, anywhere=True)
    suffix = ""
    if its.subject:
        subject = Subject.parse(its.subject)
        suffix = str(replace(subject, version=None)).removeprefix(subject.package)
    return HistoryQuestion(about, graph, cloner or its.cloner, expected, apart, suffix, file)


def _in_any_frame(issue: KnownIssue) -> KnownIssue:
    """Code moves on from release to release."""
    patterns = tuple(
        replace(pattern, frame=None, leads_to=None) for pattern in issue.match if pattern.check or pattern.aspect
    )
    return replace(issue, match=patterns or issue.match)
