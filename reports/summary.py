"""A run in Markdown, for the page of a CI job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clonediff.reports import issue
from clonediff.reports.draws import refusals
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import visible
from clonediff.reports.reading import RunRead, StoredFinding
from clonediff.reports.records import SEVERITIES, cloner_said
from clonediff.reports.verdict import counted, in_words, known_causes, ran, severity_of, table_of_worst, verdict

MOST = 50
"""The most rows of a table: the page of a job takes a megabyte, and the report has all rows."""


def summary(read: RunRead, known: KnownIssues) -> str:
    """The verdict, the known causes, what was found, what ran, and what could not be read."""
    said = verdict(read)
    new, unproven, of_known = counted(read.findings)
    causes = [
        (SEVERITIES[cause.severity], cause.title, f"{cause.graphs:,}", cause.id)
        for cause in known_causes(read.run, known)
    ]
    ran_on = [(subject, in_words(versions)) for subject, versions in read.run.versions.items()]
    parts = [
        f"## clonediff: {unlinked(said.headline)}",
        "\n".join(map(unlinked, said.holds)),
        _list(said.notes),
        _section("What it breaks", ("severity", "what", "graphs", "known issue"), causes),
        _findings("New", new),
        _findings("Not counted: the script does not fail alone", unproven),
        _findings("Of known issues", of_known),
        f"### What ran\n\n{ran(read.run)}",
        _table(("subject", "versions"), ran_on),
        _table(*table_of_worst(read.run)),
        _list(list(refusals(read.run))),
        "### Problems with the files" if read.problems else "",
        _list(read.problems),
    ]
    return visible("\n\n".join(filter(None, parts)) + "\n")


def _findings(title: str, findings: Sequence[StoredFinding]) -> str:
    rows = [
        (
            kept.finding.title,
            severity_of(kept),
            kept.finding.where,
            cloner_said(kept.finding.cloner) or "-",
            str(kept.finding.count),
            kept.finding.alone,
            kept.finding.id,
        )
        for kept in findings
    ]
    return _section(title, ("what", "severity", "subject", "cloner", "times", "script", "fingerprint"), rows)


def _section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"### {title}\n\n{_table(heads, rows)}" if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown, not too long."""
    lines = [f"| {' | '.join(heads)} |", f"{'|---' * len(heads)}|"]
    lines += [f"| {' | '.join(map(unlinked, row))} |" for row in rows[:MOST]]
    if len(rows) > MOST:
        lines += ["", f"and {len(rows) - MOST} more, in the report"]
    return "\n".join(lines) if rows else ""


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {unlinked(line)}" for line in lines[:MOST])


def unlinked(text: str) -> str:
    """Text in which no address becomes a link: nobody has checked where it leads."""
    return re.sub(r"(?i)://|\bwww\.", lambda found: f"{found[0][:-1]}\u200b{found[0][-1]}", issue.escaped(text))
