"""The files that a report is made of, written into a run's folder: each whole, or not at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from clonediff.reports.html import page
from clonediff.reports.issue import issue
from clonediff.reports.reading import RunRead, StoredFinding
from clonediff.reports.records import Finding, RecordError, read, write, write_bytes
from clonediff.reports.summary import summary
from clonediff.reports.svg import Drawing, draw_all


def write_reports(read: RunRead, out: Path | None = None) -> list[Path]:
    """Write the reports of a run, and what its findings lack. The paths of the reports, the page first."""
    drawings, examples = draw_all(read.findings), draw_all(read.known)
    files = {
        out or read.path / "report.html": page(read, drawings, examples),
        read.path / "summary.md": summary(read),
    }
    for path, text in files.items():
        write_text(path, text)
    for kept in read.findings:
        complete(kept, drawings[kept.name])
    for kept in read.known:
        complete(kept, examples[kept.name])
    return list(files)


def complete(kept: StoredFinding, drawing: Drawing | str) -> None:
    """Write issue.md and graph.svg where a finding lacks them."""
    if not (kept.folder / "issue.md").exists():
        write_text(kept.folder / "issue.md", issue(kept.finding, kept.script))
    if isinstance(drawing, Drawing) and not (kept.folder / "graph.svg").exists():
        write_text(kept.folder / "graph.svg", drawing.pair() + "\n")


def take_back(folder: Path) -> None:
    """Delete the files made of a finding that is about to be replaced; an issue.md that a person changed stays."""
    (folder / "graph.svg").unlink(missing_ok=True)
    text = folder / "issue.md"
    with contextlib.suppress(RecordError):  # of a finding that cannot be read, nobody knows what its issue was
        if text.exists() and _text(text) == issue(read(folder / "finding.json", Finding), _text(folder / "repro.py")):
            text.unlink()


def amend(folder: Path, **answers: str | None) -> list[str]:
    """Write fields of a finding anew, such as since when it is there.

    An issue.md that a person changed stays, which the answer says.
    """
    finding = read(folder / "finding.json", Finding)
    new = msgspec.structs.replace(finding, **answers)
    text = folder / "issue.md"
    script, before = (_text(each) for each in (folder / "repro.py", text))
    changed = bool(before) and before != issue(finding, script)
    write(folder / "finding.json", new)
    if changed:
        return [f"{text}: was changed since it was written, so it is left alone"]
    write_text(text, issue(new, script))
    return []


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.exists() else ""


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; halves of a pair, which UTF-8 has no bytes for, as question marks."""
    write_bytes(path, text.encode("utf-8", "replace"))
