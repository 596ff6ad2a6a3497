"""A run in Markdown, for the page of a CI job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import starmap

from clonediff.reports import issue
from clonediff.reports.draws import refusals
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import visible
from clonediff.reports.reading import RunRead, StoredFinding
from clonediff.reports.records import SEVERITIES, cloner_said
from clonediff.reports.verdict import grouped, in_words, known_causes, ran, severity_of, table_of_worst, verdict

MOST = 50
"""The most rows of a table: the page of a job takes a megabyte, and the report has all rows."""


def summary(read: RunRead, known: KnownIssues) -> str:
    """The verdict, the known causes, what was found, what ran, and what could not be read."""
    text = verdict(read)
    causes = [
        (SEVERITIES[cause.severity], cause.title, f"{cause.graphs:,}", f"{cause.worse:,}", cause.id)
        for cause in known_causes(read.run, known)
    ]
    ran_on = [(subject, in_words(versions)) for subject, versions in read.run.versions.items()]
    parts = [
        f"## clonediff: {unlinked(text.headline)}",
        "\n".join(map(unlinked, text.others)),
        _list(text.notes),
        _section("What it breaks", ("severity", "what", "graphs", "worse on", "known issue"), causes),
        *starmap(_findings, grouped(read.findings).items()),
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
            stored.finding.title,
            severity_of(stored),
            stored.finding.where,
            cloner_said(stored.finding.cloner) or "-",
            str(stored.finding.count),
            stored.finding.alone,
            stored.finding.id,
        )
        for stored in findings
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
    return re.sub(r"(?i)://|\bwww\.", lambda match: f"{match[0][:-1]}\u200b{match[0][-1]}", issue.escaped(text))
