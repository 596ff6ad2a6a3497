"""The examples of known issues, tried once: what each shows on a subject."""

from __future__ import annotations

from clonediff.harness.answers.replay_target import NotFoundError
from clonediff.harness.scripts.of_finding import example_of, script_of
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.expected import example_on
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import Finding


def shown_by_example(issue: KnownIssue, subject: Subject | None = None) -> tuple[Finding, Script]:
    """What the example of a known issue shows, as a finding, and the script of that."""
    subject = Subject.parse(issue.generation) if subject is None else subject
    if issue.generation != subject.generation:
        raise NotFoundError(f"{issue.id}: is an issue of {issue.generation}, and {subject} of {subject.generation}")
    if issue.example is None:
        raise NotFoundError(f"{issue.id}: this known issue has no example to try; name a finding")
    with SubjectProcess(subject, place=place_of(subject)) as process:
        trials = GraphTrials(process, KnownIssues(), cloners=(issue.cloner,))
        breaks, shown = example_on(issue, trials)
        if shown is None:
            why = "that cannot be told" if breaks is None else "it does not break there"
            raise NotFoundError(f"{issue.id}: its example does not show it on {subject}: {why}")
        with trials.asking():
            script = script_of(shown, subject.generation, process.versions)
        return example_of(issue, shown, subject, process.versions), script
