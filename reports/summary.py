"""A run in Markdown, for the page of a CI job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clonediff.reports import issue
from clonediff.reports.broken import Broken, broken, table_of_worst
from clonediff.reports.draws import never_accepted, refusals
from clonediff.reports.markup import visible
from clonediff.reports.reading import RunRead, StoredFinding
from clonediff.reports.records import Run, cloner_said
from clonediff.reports.verdict import counted, in_words, lasted, seconds_of, severity_of, some, verdict

MOST = 50
"""The most rows of a table: the page of a job takes a megabyte, and the report has all rows."""


def summary(read: RunRead) -> str:
    """The verdict, the known causes, what was found, what ran, and what could not be read."""
    found = verdict(read)
    new, unproven, known = counted(read.findings)
    parts = [f"## clonediff: {unlinked(found.headline)}"]
    if found.holds:
        parts.append("\n".join(map(unlinked, found.holds)))
    if found.notes:
        parts.append("\n".join(f"- {unlinked(note)}" for note in found.notes))
    causes = broken(read)
    if causes:
        parts += ["### What it breaks", _broken(causes)]
    for head, findings in (
        ("New", new),
        ("Not counted: the script does not fail alone", unproven),
        ("Of known issues", known),
    ):
        if findings:
            parts += [f"### {head}", _findings(findings)]
    parts += ["### What ran", _ran(read)]
    heads, counts = table_of_worst(read.run)
    if counts:
        rows = [(cloner, *(f"{count:,}" for count in its)) for cloner, its in counts]
        parts.append(_table(("graphs by the worst that happens to them", *heads), rows))
    for name, each in read.run.draws.items():
        if each.refused:
            parts.append(f"### {unlinked(name)} refused {each.refused:,} of {some(each.graphs, 'graph')}")
            parts.append("\n".join(f"- {unlinked(line.strip())}" for line in refusals(name, each)))
        if each.not_accepted:
            parts.append("\n".join(f"- {unlinked(line)}" for line in never_accepted(each)))
    if read.problems:
        parts.append("### Problems with the files")
        parts.append("\n".join(f"- {unlinked(problem)}" for problem in read.problems[:MOST]))
    return visible("\n\n".join(parts) + "\n")


def ran(run: Run, seconds: float | None) -> str:
    """What ran, in a line."""
    words = [some(run.trials, "trial")]
    if seconds:
        words[0] += f" in {lasted(seconds)}"
        if run.trials:
            words.append(f"{run.trials / seconds:.1f} a second")
    words.append(f"seed {run.seed}")
    if run.jobs is not None:
        words.append(some(run.jobs, "job"))
    return ", ".join(words)


def _ran(read: RunRead) -> str:
    rows = [(subject, in_words(versions)) for subject, versions in read.run.subjects.items()]
    rows += [(subject, f"not tried: {reason}") for subject, reason in read.run.lost.items()]
    table = _table(("subject", "versions"), rows) if rows else "No subject is recorded."
    return f"{ran(read.run, seconds_of(read))}\n\n{table}"


def _broken(causes: list[Broken]) -> str:
    rows = []
    for each in causes:
        rows.append((each.severity_said, each.issue.title, f"{each.graphs:,}", each.issue.id))
    return _table(("severity", "what", "graphs", "known issue"), rows)


def _findings(findings: list[StoredFinding]) -> str:
    rows = []
    for kept in findings:
        finding = kept.finding
        words = (finding.title, severity_of(kept), finding.where, cloner_said(finding.cloner) or "-")
        rows.append((*words, str(finding.count), finding.alone, finding.id))
    return _table(("what", "severity", "subject", "cloner", "times", "script", "fingerprint"), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown, not too long."""
    lines = [f"| {' | '.join(heads)} |", f"{'|---' * len(heads)}|"]
    lines += [f"| {' | '.join(map(unlinked, row))} |" for row in rows[:MOST]]
    if len(rows) > MOST:
        lines += ["", f"and {len(rows) - MOST} more, in the report"]
    return "\n".join(lines)


def unlinked(text: str) -> str:
    """Text in which no address becomes a link: nobody has checked where it leads."""
    return re.sub(r"(?i)://|\bwww\.", lambda found: f"{found[0][:-1]}\u200b{found[0][-1]}", issue.escaped(text))
