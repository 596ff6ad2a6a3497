"""A run's folder while it is written: every file whole or not at all.

Owns what is in the folder and under which name.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from clonediff.reports.reading import slug
from clonediff.reports.records import Finding, Run, write, write_bytes

_LOCK = ".lock"


class RunFolder:
    """`runs/<time>/`: run.json, findings/<subject>-<cloner>-<fingerprint>/, refused/<subject>-<reason>.json.

    Beside the refused graphs are `faults`: graphs whose trial failed by a fault of clonediff.
    """

    def __init__(self, path: Path | None) -> None:
        """A new folder, or an empty one. That of an earlier run is kept beside it, under the time of that run."""
        self.path = path or _new_folder(Path("runs"))
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            self._keep_beside()
            self.path.mkdir()
        self._lock = _locked(self.path)

    def _keep_beside(self) -> None:
        if not any((self.path / name).exists() for name in ("run.json", _LOCK)):
            raise FileExistsError(f"{self.path}: expected an empty folder for a new run, or that of an earlier run")
        os.close(_locked(self.path))
        began = datetime.fromtimestamp((self.path / _LOCK).stat().st_mtime, UTC).strftime("%Y-%m-%dT%H-%M-%S")
        self.path.rename(self.path.with_name(f"{self.path.name}-{began}-{secrets.token_hex(2)}"))

    def finding(self, finding: Finding) -> None:
        """Write a finding, the script first: a folder with a finding.json is whole."""
        folder = self.of(finding)
        write_bytes(folder / "repro.py", finding.source.encode("utf-8", "replace"))
        write(folder / "finding.json", finding)

    def example(self, sort: str, subject: str, why: str, graph: bytes) -> None:
        """Write a graph that was refused, or is the occasion of a fault, one for each reason."""
        path = self.path / example_file(sort, subject, why)
        if not path.exists():
            write_bytes(path, graph + b"\n")

    def withdraw(self, finding: Finding) -> None:
        """Move a finding that did not show again out of the findings."""
        aside = self.path / "unsteady" / f"{self.of(finding).name}-{secrets.token_hex(4)}"
        aside.parent.mkdir(exist_ok=True)
        os.replace(self.of(finding), aside)

    def of(self, finding: Finding) -> Path:
        """A finding's folder."""
        return self.path / "findings" / folder_name(finding)

    def run(self, run: Run) -> None:
        """Write what ran and what came of it, as far as it is known."""
        write(self.path / "run.json", run)


def folder_name(finding: Finding) -> str:
    """The name of a finding's folder, the same for all that show one cause of a cloner on a subject."""
    return slug(finding.subject, finding.cloner or "original", finding.id)


def example_file(sort: str, subject: str, why: str) -> str:
    """The file of a graph that is "refused", or shows one of the "faults", for a reason, within the run's folder."""
    number = hashlib.blake2b(why.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{sort}/{slug(subject, why.partition(':')[0])}-{number}.json"


def _new_folder(runs: Path) -> Path:
    """A folder for a run that begins now, though another may begin in the same second; runs/latest leads to it."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    for name in (now, *(f"{now}-{number}" for number in range(2, 100))):
        with contextlib.suppress(FileExistsError):
            (runs / name).mkdir(parents=True)
            break
    beside = runs / f".latest-{os.getpid()}"
    beside.unlink(missing_ok=True)
    beside.symlink_to(name)
    beside.replace(runs / "latest")
    return runs / name


def _locked(folder: Path) -> int:
    """The lock of a folder, which a run holds as long as it lives."""
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise FileExistsError(f"{folder}: another run writes here now: name another folder") from None
    return lock
