"""A run's folder while it is written: events as they happen, findings whole or not at all.

Owns what is in the folder and under which name. Must not import Keras.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from harness.campaign.hunt import Accusation
from harness.source.across import across
from harness.source.graph_mode import standing
from harness.source.reproducer import Script, reproducer
from harness.subjects.subject import Subject
from reports.records import Finding, Run, write, write_bytes
from strategies.graph import to_json


class RunFolder:
    """`runs/<time>/`: run.json, events.ndjson, findings/<subject>-<cloner>-<fingerprint>/."""

    def __init__(self, path: Path | None) -> None:
        self.path = path or Path("runs") / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            raise FileExistsError(f"{self.path}: expected an empty folder for a new run, and there are files in it")
        (self.path / "journal").mkdir()
        if path is None:
            self._point_latest()

    def event(self, what: str, **about: object) -> None:
        """One line, appended as it happens."""
        line = json.dumps({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": what, **about})
        with (self.path / "events.ndjson").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def journal(self, worker: str) -> Path:
        """Where a worker writes the trial that it is on."""
        return self.path / "journal" / f"{worker}.json"

    def finding(self, accusation: Accusation, subject: Subject, versions: Mapping[str, str]) -> Finding:
        """Write a finding's folder. What its script proves is an event of its own, since that takes a while."""
        cause = accusation.cause
        finding = Finding(
            id=accusation.fingerprint,
            title=accusation.title,
            generation=subject.generation,
            cloner=accusation.cloner,
            graph=msgspec.Raw(to_json(accusation.graph)),
            differences=cause.differences if cause else (),
            source=accusation.case.source,
            versions=dict(versions),
            known=accusation.known.id if accusation.known else None,
            subject=str(subject),
            first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
            blame=accusation.blame.value if accusation.blame else "",
            across=accusation.across,
            detail=accusation.detail,
            notes=accusation.notes,
        )
        folder = self._of(finding)
        write(folder / "finding.json", finding)
        write_bytes(folder / "repro.py", script_of(accusation, subject.dialect, versions).text.encode())
        self.event("finding", id=finding.id, subject=str(subject), cloner=finding.cloner, title=finding.title)
        return finding

    def proven(self, finding: Finding, proof: bool | None) -> Finding:
        """Write a finding once more, with what its script proved on its own."""
        finding = replace(finding, proof=proof)
        write(self._of(finding) / "finding.json", finding)
        self.event("proof", id=finding.id, subject=finding.subject, reproduced=proof)
        return finding

    def _of(self, finding: Finding) -> Path:
        """A finding's folder."""
        who = finding.cloner or (finding.across[-1] if finding.across else "original")
        return self.path / "findings" / re.sub(r"[^\w.=]+", "-", f"{finding.subject}-{who}-{finding.id}")

    def run(self, run: Run) -> None:
        """Write what ran and what came of it, as far as it is known."""
        write(self.path / "run.json", run)

    def _point_latest(self) -> None:
        latest = self.path.parent / "latest"
        beside = self.path.parent / f".latest-{os.getpid()}"
        beside.unlink(missing_ok=True)
        beside.symlink_to(self.path.name)
        beside.replace(latest)


def script_of(accusation: Accusation, dialect: str, versions: Mapping[str, str]) -> Script:
    """The script that shows an accusation: plain Keras, unless it is our own cloner that is accused."""
    if accusation.cause is None:
        return standing(Script(accusation.case.source), versions)
    if accusation.across:
        first, second = map(Subject.parse, accusation.across)
        return standing(across(accusation.case, dialect, accusation.cause.root, first, second), versions)
    script = reproducer(accusation.case.source, dialect, accusation.cause.root, accusation.cloner)
    return standing(script, versions)
