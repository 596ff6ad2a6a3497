"""The files that a report is made of, written into a run's folder: each whole, or not at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

from clonediff.reports.issue import issue
from clonediff.reports.page import page
from clonediff.reports.reading import RunRead, StoredFinding
from clonediff.reports.records import Finding, RecordError, read, write_bytes
from clonediff.reports.summary import summary


def write_reports(read: RunRead) -> list[Path]:
    """Write the reports of a run, and what its findings lack. The paths of the reports, the page first."""
    files = {read.path / "report.html": page(read), read.path / "summary.md": summary(read)}
    for path, text in files.items():
        write_text(path, text)
    for kept in read.findings:
        complete(kept)
    return list(files)


def complete(kept: StoredFinding) -> None:
    """Write issue.md where a finding lacks it."""
    if not (kept.folder / "issue.md").exists():
        write_text(kept.folder / "issue.md", issue(kept.finding, kept.script))


def take_back(folder: Path) -> None:
    """Delete the issue.md of a finding that is about to be replaced, unless a person changed it."""
    text = folder / "issue.md"
    with contextlib.suppress(RecordError):  # of a finding that cannot be read, nobody knows what its issue was
        if text.exists() and _text(text) == issue(read(folder / "finding.json", Finding), _text(folder / "repro.py")):
            text.unlink()


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.exists() else ""


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; halves of a pair, which UTF-8 has no bytes for, as question marks."""
    write_bytes(path, text.encode("utf-8", "replace"))
