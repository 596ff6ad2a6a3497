"""The script of a finding, and what a run of it on its own shows."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.reproducer import Script, ending_of, imports_clonediff
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.reading import StoredFinding


class ScriptShown(NamedTuple):
    """What a run of a script shows: the break, not the break, or None where it cannot be run; and why, in a line."""

    breaks: bool | None
    reason: str


def script_of(stored: StoredFinding) -> Script:
    """The script beside a finding."""
    finding = stored.finding
    return Script(
        stored.script,
        ending_of(finding.root) if finding.root else finding.detail.partition(":")[0],
        sure=True,
        with_clonediff=imports_clonediff(finding.cloner),
    )


def run_on(script: Script, subject: Subject) -> ScriptShown:
    """Run a script in a fresh process of a subject's release."""
    try:
        with closing(ScriptRunner(subject, place_of(subject))) as runner:
            answer, reason = runner.answer(script)
    except SubjectError as error:
        return ScriptShown(None, str(error))
    if answer is ReplayAnswer.BREAKS:
        return ScriptShown(True, f"it ends in {script.raises}, as it should")
    if answer is ReplayAnswer.UNKNOWN:
        return ScriptShown(None, reason)
    return ScriptShown(False, f"it should end in {script.raises}, and {'ends in ' + reason if reason else 'passes'}")
