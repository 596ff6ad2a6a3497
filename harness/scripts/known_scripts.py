"""The scripts of known issues, run on a release: whether each issue is there."""

from __future__ import annotations

import enum

from clonediff.harness.scripts.forked import ForkedScripts
from clonediff.harness.scripts.run_alone import raised_in
from clonediff.reports.known import KnownIssue


class IssueAnswer(enum.StrEnum):
    """What became of a known issue's script."""

    BREAKS = "breaks"
    GONE = "gone"
    OTHER = "fails otherwise"
    UNKNOWN = "cannot tell"


def answer_of(issue: KnownIssue, scripts: ForkedScripts) -> tuple[IssueAnswer, str]:
    """Run the script of an issue; the answer, and the last line of what the script wrote where it failed."""
    ended = scripts.ended(issue.script)
    if ended.code is None:
        return IssueAnswer.UNKNOWN, "it did not end in time"
    if ended.code == 0:
        return IssueAnswer.GONE, ""
    lines = ended.stderr.strip().splitlines()
    last = lines[-1] if lines else f"exit code {ended.code}"
    return (IssueAnswer.BREAKS if issue.raises in raised_in(ended.stderr) else IssueAnswer.OTHER), last
