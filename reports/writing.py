"""The files that a report is made of, written into a run's folder: each whole, or not at all."""

from __future__ import annotations

from clonediff.reports.issue import issue
from clonediff.reports.known import KnownIssues
from clonediff.reports.page import page
from clonediff.reports.reading import RunRead
from clonediff.reports.records import write_bytes
from clonediff.reports.summary import summary


def write_reports(read: RunRead, known: KnownIssues) -> None:
    """Write report.html, summary.md, and the issue.md of each finding."""
    texts = {read.path / "report.html": page(read, known), read.path / "summary.md": summary(read, known)}
    for stored in read.findings:
        text = issue(stored.finding, stored.script)
        if text != stored.issue:
            texts[stored.folder / "issue.md"] = text
    for path, text in texts.items():
        write_bytes(path, text.encode("utf-8", "replace"))
