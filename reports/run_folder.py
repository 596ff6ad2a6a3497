"""Write a run's folder, each file atomically, and read it back."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from clonediff.reports.records import Finding, RecordError, Run, read, write, write_bytes

_LOCK_FILE = ".lock"


class RunFolder:
    """`runs/<time>/`: run.json, findings/<subject>-<cloner>-<fingerprint>/, refused/<subject>-<reason>.json, faults/.

    `refused/` has graphs that could not be built; `faults/` has graphs on which clonediff itself failed.
    """

    def __init__(self, path: Path | None) -> None:
        """Create the folder. Append the start time to the name of an earlier run."""
        self.path = path or _new_folder(Path("runs"))
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            self._rename_earlier_run()
            self.path.mkdir()
        self._lock = _lock_folder(self.path)

    def _rename_earlier_run(self) -> None:
        if not any((self.path / name).exists() for name in ("run.json", _LOCK_FILE)):
            raise FileExistsError(f"{self.path}: expected an empty folder or an earlier run; name another folder")
        os.close(_lock_folder(self.path))
        time = (self.path / _LOCK_FILE).stat().st_mtime
        start = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H-%M-%S")
        self.path.rename(self.path.with_name(f"{self.path.name}-{start}-{secrets.token_hex(2)}"))

    def write_finding(self, finding: Finding) -> None:
        """Write a finding's folder; finding.json is written last."""
        folder = self.folder_of(finding)
        write_bytes(folder / "repro.py", finding.source.encode("utf-8", "replace"))
        write(folder / "finding.json", finding)

    def write_example(self, kind: str, subject: str, reason: str, graph: bytes) -> None:
        """Write a graph that was refused or made clonediff fail, the first for each reason."""
        path = self.path / example_file(kind, subject, reason)
        if not path.exists():
            write_bytes(path, graph + b"\n")

    def withdraw(self, finding: Finding) -> None:
        """Move a flaky finding's folder out of the findings."""
        target = self.path / "flaky" / f"{self.folder_of(finding).name}-{secrets.token_hex(4)}"
        target.parent.mkdir(exist_ok=True)
        os.replace(self.folder_of(finding), target)

    def folder_of(self, finding: Finding) -> Path:
        return self.path / "findings" / folder_name(finding)

    def write_run(self, run: Run) -> None:
        write(self.path / "run.json", run)


def folder_name(finding: Finding) -> str:
    """A finding's folder: one for each subject, cloner and cause."""
    return slug(finding.subject, finding.cloner or "original", finding.id)


def example_file(kind: str, subject: str, reason: str) -> str:
    """An example's path in a run's folder; `kind` is "refused" or "faults"."""
    number = hashlib.blake2b(reason.encode("utf-8", "replace"), digest_size=4).hexdigest()
    name = slug(subject, reason.partition(":")[0])
    return f"{kind}/{name}-{number}.json"


def _new_folder(runs: Path) -> Path:
    """Create a folder named after the current time, and link runs/latest to it."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    for name in (now, *(f"{now}-{number}" for number in range(2, 100))):
        with contextlib.suppress(FileExistsError):
            (runs / name).mkdir(parents=True)
            break
    link = runs / f".latest-{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(name)
    link.replace(runs / "latest")
    return runs / name


def _lock_folder(folder: Path) -> int:
    """Lock a folder until this process ends, and return the open lock file."""
    lock = os.open(folder / _LOCK_FILE, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise FileExistsError(f"{folder}: another run is writing here: name another folder") from None
    return lock


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding with its folder, script, and the text of its issue, or ""."""

    folder: Path
    finding: Finding
    script: str
    issue: str = ""

    @property
    def name(self) -> str:
        return self.folder.name


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run and its findings; `damaged_folders` has the names of folders with a damaged finding."""

    path: Path
    run: Run
    findings: tuple[StoredFinding, ...]
    problems: tuple[str, ...]
    is_readable: bool
    """Whether run.json could be read."""
    damaged_folders: tuple[str, ...]


def read_run(path: Path) -> StoredRun:
    """Read a run's folder; raise `RecordError` if it has no run."""
    path = path.resolve()
    if not path.is_dir():
        raise RecordError(f"{path}: expected the folder of a run, found no folder; correct the path")
    if not any((path / name).exists() for name in ("run.json", "findings")):
        raise RecordError(f"{path}: expected the folder of a run, found no run.json in it; `clonediff fuzz` writes one")
    problems: list[str] = []
    damaged_folders: list[str] = []
    findings: list[StoredFinding] = []
    is_readable = True
    try:
        run = read(path / "run.json", Run)
    except RecordError as error:
        problems.append(_relative_message(path, error))
        run, is_readable = Run(""), False
    for file in sorted(path.glob("findings/[!.]*/finding.json")):
        try:
            findings.append(read_finding(file))
        except RecordError as error:
            problems.append(_relative_message(path, error))
            damaged_folders.append(file.parent.name)
    return StoredRun(path, run, tuple(findings), tuple(problems), is_readable, tuple(damaged_folders))


def read_finding(path: Path) -> StoredFinding:
    finding = read(path, Finding)
    script = _text_of(path, "repro.py") or finding.source
    return StoredFinding(path.parent, finding, script, _text_of(path, "issue.md"))


def slug(*parts: str) -> str:
    """Join parts into a folder name."""
    return re.sub(r"[^\w.=]+", "-", "-".join(parts))


def _text_of(path: Path, name: str) -> str:
    try:
        return path.with_name(name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _relative_message(path: Path, error: RecordError) -> str:
    return str(error).removeprefix(f"{path}/")
