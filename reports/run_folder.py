"""A run's folder while it is written: every file whole or not at all.

Owns what is in the folder and under which name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from clonediff.reports.reading import slug
from clonediff.reports.records import Finding, Run, write, write_bytes


class RunFolder:
    """`runs/<time>/`: run.json, findings/<subject>-<cloner>-<fingerprint>/, refused/<subject>-<reason>.json."""

    def __init__(self, path: Path | None) -> None:
        """A new folder, or an empty one."""
        self.path = path or _new_folder(Path("runs"))
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            raise FileExistsError(f"{self.path}: expected an empty folder for a new run, and there are files in it")

    def finding(self, finding: Finding) -> None:
        """Write a finding, the script first: a folder with a finding.json is whole."""
        folder = self.of(finding)
        write_bytes(folder / "repro.py", finding.source.encode("utf-8", "replace"))
        write(folder / "finding.json", finding)

    def refused(self, subject: str, why: str, graph: bytes) -> None:
        """Write a graph that a release could not build, one for each reason."""
        path = self.path / refused_file(subject, why)
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


def refused_file(subject: str, why: str) -> str:
    """The file of a graph that a subject refuses for a reason, within the run's folder."""
    number = hashlib.blake2b(why.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"refused/{slug(subject, why.partition(':')[0])}-{number}.json"


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
