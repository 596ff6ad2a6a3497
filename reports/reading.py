"""Read the folder of a run. Files that are damaged are listed among the problems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from clonediff.reports.records import Finding, RecordError, Run, read


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding with its script and its issue, "" if there is none."""

    folder: Path
    finding: Finding
    script: str
    issue: str = ""

    @property
    def name(self) -> str:
        return self.folder.name


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run and its findings. `whole`: run.json could be read. `unreadable`: the folders of damaged findings."""

    path: Path
    run: Run
    findings: tuple[StoredFinding, ...]
    problems: tuple[str, ...]
    whole: bool
    unreadable: tuple[str, ...]


def read_run(path: Path) -> StoredRun:
    """Read the folder of a run; raises `RecordError` if it is not one."""
    path = path.resolve()
    if not path.is_dir():
        raise RecordError(f"{path}: expected the folder of a run, and there is no such folder")
    if not any((path / name).exists() for name in ("run.json", "findings")):
        raise RecordError(
            f"{path}: expected the folder of a run, and found no run.json in it; `clonediff fuzz` writes one"
        )
    problems: list[str] = []
    unreadable: list[str] = []
    findings: list[StoredFinding] = []
    whole = True
    try:
        run = read(path / "run.json", Run)
    except RecordError as error:
        problems.append(_within(path, error))
        run, whole = Run(""), False
    for file in sorted(path.glob("findings/[!.]*/finding.json")):
        try:
            findings.append(read_finding(file))
        except RecordError as error:
            problems.append(_within(path, error))
            unreadable.append(file.parent.name)
    return StoredRun(path, run, tuple(findings), tuple(problems), whole, tuple(unreadable))


def read_finding(path: Path) -> StoredFinding:
    """Read finding.json and the texts beside it."""
    finding = read(path, Finding)
    return StoredFinding(path.parent, finding, _text(path, "repro.py") or finding.source, _text(path, "issue.md"))


def slug(*parts: str) -> str:
    """Join parts to a name of a folder."""
    return re.sub(r"[^\w.=]+", "-", "-".join(parts))


def _text(path: Path, name: str) -> str:
    try:
        return path.with_name(name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _within(path: Path, error: RecordError) -> str:
    return str(error).removeprefix(f"{path}/")
