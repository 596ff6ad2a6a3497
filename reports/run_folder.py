"""A run's folder while it is written: events as they happen, findings whole or not at all.

Owns what is in the folder and under which name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from clonediff.reports.reading import slug
from clonediff.reports.records import Finding, Run, write, write_bytes


def _new_folder(runs: Path) -> Path:
    """A folder of its own for a run that begins now, though another one may begin in the same second."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    for name in (now, *(f"{now}-{number}" for number in range(2, 100))):
        with contextlib.suppress(FileExistsError):
            (runs / name).mkdir(parents=True)
            return runs / name
    return runs / now


class RunFolder:
    """`runs/<time>/`: run.json, events.ndjson, findings/<subject>-<cloner>-<fingerprint>/,
    refused/<subject>-<reason>.json.

    One process has it at a time.
    """

    def __init__(self, path: Path | None) -> None:
        """A new folder, or an empty one."""
        self.path = path or _new_folder(Path("runs"))
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            raise FileExistsError(f"{self.path}: expected an empty folder for a new run, and there are files in it")
        self._lock = FileLock(self.path / ".lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise FileExistsError(f"{self.path}: another clonediff is at work in this folder") from None
        if path is None:
            self._point_latest()

    def close(self) -> None:
        """Release the folder, so that another process can have it."""
        self._lock.release()

    def event(self, what: str, **about: object) -> None:
        """One line, appended as it happens."""
        line = json.dumps({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": what, **about})
        append(self.path / "events.ndjson", line.encode())

    def finding(self, finding: Finding, script: str) -> Path:
        """Write a finding's folder, whole or not at all; what stands in it already is replaced.

        With it goes what a report made of the old one. A kill may leave a folder without finding.json, and never a
        finding beside the script of another.
        """
        return self._put(self.of(finding), finding, script)

    def refused(self, subject: str, why: str, graph: bytes) -> None:
        """Write a graph that a release could not build, one for each reason."""
        write_bytes(self.path / refused_file(subject, why), graph + b"\n")

    def _put(self, folder: Path, finding: Finding, script: str) -> Path:
        from clonediff.reports.writing import take_back

        beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
        try:
            write(beside / "finding.json", finding)
            write_bytes(beside / "repro.py", script.encode("utf-8", "replace"))
            if folder.exists():
                take_back(folder)
                (folder / "finding.json").unlink(missing_ok=True)
                for name in ("repro.py", "finding.json"):
                    os.replace(beside / name, folder / name)
                beside.rmdir()
            else:
                os.replace(beside, folder)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        return folder

    def withdraw(self, finding: Finding) -> None:
        """Move a finding that did not show again out of the findings."""
        folder = self.of(finding)
        if folder.exists():
            aside = self.path / "unsteady" / f"{folder.name}-{secrets.token_hex(4)}"
            aside.parent.mkdir(exist_ok=True)
            os.replace(folder, aside)

    def of(self, finding: Finding) -> Path:
        """A finding's folder."""
        return self.path / "findings" / slug(finding.subject, finding.cloner or "original", finding.id)

    def run(self, run: Run) -> None:
        """Write what ran and what came of it, as far as it is known."""
        write(self.path / "run.json", run)

    def _point_latest(self) -> None:
        latest = self.path.parent / "latest"
        beside = self.path.parent / f".latest-{os.getpid()}"
        beside.unlink(missing_ok=True)
        beside.symlink_to(self.path.name)
        beside.replace(latest)


def append(path: Path, line: bytes) -> None:
    """Append a line at once. After a line that was cut off, by a full disk or a killed process, it begins a new one."""
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line + b"\n")
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def refused_file(subject: str, why: str) -> str:
    """The file of the smallest graph that a subject refuses for a reason, within the run's folder."""
    number = hashlib.blake2b(why.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"refused/{slug(subject, why.partition(':')[0])}-{number}.json"
