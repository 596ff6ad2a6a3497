"""The examples of known issues, tried again: does the release still break on them, and what shows it?"""

from __future__ import annotations

from clonediff.harness.trials.devices import terms_of
from clonediff.harness.trials.expected import Expected, shows
from clonediff.harness.trials.graph_trials import GraphTrials, NotTried
from clonediff.harness.trials.trial import Hit
from clonediff.reports.known import KnownIssue, KnownIssues, explains
from clonediff.strategies.graph import MalformedGraph, from_json


def example_on(issue: KnownIssue, trials: GraphTrials) -> tuple[bool | None, Hit | None]:
    """Whether the example of a known issue still shows it (None: that cannot be told), and the hit that does.

    It is tried with the costly checks.

    Nothing of it is counted in the trials, whose processes are used. Whether the issue is one of this release at all,
    `since` and `until`, is for the caller to say.
    """
    subject = trials.process.subject
    if issue.example is None or issue.generation != subject.generation:
        return None, None
    try:
        graph = from_json(issue.example, issue.id)
    except MalformedGraph:
        return None, None
    apart = issue.cloner in ("backend", "device")
    others = [each for each in trials.others if apart and terms_of(subject, each.subject).check == issue.cloner]
    if apart and not others:
        return None, None
    own = GraphTrials(trials.process, KnownIssues(), others, cloners=() if apart else (issue.cloner,))
    tried = own.try_or_say_why_not(graph, costly=not apart)
    if isinstance(tried, NotTried):
        return None, None
    shown = (hit for hit in tried.hits if hit.cause is not None and explains(issue, hit.cause))
    return shows(Expected(issue=issue), tried), next(shown, None)
