"""The script of a finding, and what a run of it on its own shows."""

from __future__ import annotations

from contextlib import closing

from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.reproducer import Script, ending_of, imports_clonediff
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.reading import StoredFinding


def script_of(stored: StoredFinding) -> Script:
    """The script beside a finding."""
    finding = stored.finding
    return Script(
        stored.script,
        ending_of(finding.root) if finding.root else finding.detail.partition(":")[0],
        sure=True,
        with_clonediff=imports_clonediff(finding.cloner),
    )


def run_on(script: Script, subject: Subject) -> tuple[ReplayAnswer, str]:
    """Run a script in a fresh process of a subject's release: what became of the break, and why, in a line."""
    with closing(ScriptRunner(subject, place_of(subject))) as runner:
        answer, reason = runner.answer(script)
    if answer is ReplayAnswer.BREAKS:
        return answer, f"it ends in {script.raises}, as it should"
    if answer is ReplayAnswer.UNKNOWN:
        return answer, reason
    return answer, f"it should end in {script.raises}, and {'ends in ' + reason if reason else 'passes'}"
