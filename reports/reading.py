"""A run's folder, read back: what ran, what was found, what happened when, and what could not be read.

Owns where things are in the folder and how they are put together. Whatever is truncated or altered is named among the
problems, and the rest is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from clonediff.reports.records import UNREADABLE, Finding, RecordError, Run, read
from clonediff.strategies.graph import Graph, MalformedGraph, from_json

MOST = 20
"""The most lines of one file that are named as problems; the others are only counted."""


class Event(msgspec.Struct, frozen=True):
    """A line of events.ndjson. Which fields it has follows from `event`; others are left alone.

    `subject` (subject, versions): one that is tried. `lost` (subject, reason): one that is not. `progress` (trials):
    how many trials were run by then, in all. `finding` (id): a cause was seen for the first time. `end` (interrupted,
    trials).
    """

    at: datetime
    event: str
    subject: str = ""
    id: str = ""
    reason: str = ""
    trials: int | None = None
    interrupted: bool = False
    versions: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding with the files beside it. `graph` is None where it cannot be read; `issue` is "" where none is."""

    folder: Path
    finding: Finding
    graph: Graph | None
    script: str
    issue: str = ""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def counts(self) -> bool:
        """Whether it is a new finding: of no known issue, and its script did not hold where it should fail."""
        return self.finding.known is None and self.finding.proof is not False


@dataclass(frozen=True, slots=True)
class RunRead:
    """All that could be read. `whole` says whether run.json could; `unreadable` are findings that could not."""

    path: Path
    run: Run
    findings: tuple[StoredFinding, ...]
    events: tuple[Event, ...]
    problems: tuple[str, ...]
    whole: bool
    unreadable: tuple[str, ...]


def read_run(path: Path) -> RunRead:
    """Read a run's folder; a `RecordError` says that it is none."""
    path = path.resolve()
    if not path.is_dir():
        raise RecordError(f"{path}: expected the folder of a run, and there is no such folder")
    if not any((path / name).exists() for name in ("run.json", "events.ndjson", "findings")):
        raise RecordError(
            f"{path}: expected the folder of a run, and found no run.json in it; `clonediff fuzz` writes one"
        )
    problems: list[str] = []
    events = tuple(_events(path / "events.ndjson", problems))
    run = _run(path, problems)
    findings, unreadable = _findings(path, problems)
    if run is not None:
        there = {kept.finding.id for kept in findings}
        for lost in dict.fromkeys(id_ for id_ in run.findings if id_ not in there):
            if not any(name.endswith(lost) for name in unreadable):
                problems.append(f"findings: run.json names {lost}, and no folder here has it")
                unreadable.append(lost)
    return RunRead(
        path,
        _completed(run or _from_events(events), events),
        findings,
        events,
        tuple(problems),
        run is not None,
        tuple(unreadable),
    )


def slug(*parts: str) -> str:
    """Parts as the name of a folder or an anchor."""
    return re.sub(r"[^\w.=]+", "-", "-".join(parts))


def _run(path: Path, problems: list[str]) -> Run | None:
    try:
        return read(path / "run.json", Run)
    except RecordError as error:
        problems.append(_told(path, error))
        return None


def _from_events(events: Sequence[Event]) -> Run:
    """What ran, as far as the events tell."""
    return Run(
        started=events[0].at.isoformat(timespec="seconds") if events else "",
        subjects={each.subject: each.versions for each in events if each.event == "subject"},
        trials=max((each.trials or 0 for each in events), default=0),
        findings=tuple(each.id for each in events if each.event == "finding"),
    )


def _completed(run: Run, events: Sequence[Event]) -> Run:
    """The run with what is in its events alone."""
    lost = {each.subject: each.reason for each in events if each.event == "lost"}
    return _ended(replace(run, lost={**lost, **run.lost}) if lost else run, events)


def _ended(run: Run, events: Sequence[Event]) -> Run:
    """The run with its end, which the events may tell where run.json was not written again."""
    last = next((each for each in reversed(events) if each.event in ("end", "progress")), None)
    if last is None or last.event != "end" or run.ended is not None:
        return run
    return replace(run, ended=last.at.isoformat(timespec="seconds"), interrupted=last.interrupted)


def moment(text: str | None) -> datetime | None:
    """A time as it is kept; None where it is none."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _events(path: Path, problems: list[str]) -> Iterator[Event]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        problems.append(f"{path.name}: cannot be read ({error.strerror}): when things happened is not known")
        return
    wrong = 0
    for number, line in enumerate(lines, 1):
        try:
            event = _EVENT.decode(line)
        except UNREADABLE as error:
            wrong += 1
            if wrong <= MOST:
                problems.append(f"{path.name}: line {number}: {error}")
            continue
        # Times are compared with one another: one that does not say where it was is taken as UTC.
        yield event if event.at.tzinfo else replace(event, at=event.at.replace(tzinfo=UTC))
    if wrong > MOST:
        problems.append(f"{path.name}: {wrong - MOST} more lines cannot be read")


def _findings(path: Path, problems: list[str]) -> tuple[tuple[StoredFinding, ...], list[str]]:
    folder = path / "findings"
    found: list[StoredFinding] = []
    unreadable: list[str] = []
    try:
        names = sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    except FileNotFoundError:
        names = []
    except OSError as error:
        problems.append(f"findings: cannot be read ({error.strerror})")
        names = []
    for name in names:
        try:
            finding = read(folder / name / "finding.json", Finding)
        except RecordError as error:
            problems.append(_told(path, error))
            unreadable.append(name)
            continue
        found.append(_kept(path, folder / name, finding, problems))
    return tuple(found), unreadable


def _kept(path: Path, folder: Path, finding: Finding, problems: list[str]) -> StoredFinding:
    graph = None
    try:
        graph = from_json(bytes(finding.graph), "`$.graph`")
    except MalformedGraph as error:
        problems.append(f"{(folder / 'finding.json').relative_to(path)}: {error}")
    script = _text(path, folder / "repro.py", problems)
    issue = _text(path, folder / "issue.md", problems) if (folder / "issue.md").exists() else None
    return StoredFinding(folder, finding, graph, script or finding.source, issue or "")


def _text(path: Path, file: Path, problems: list[str]) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        problems.append(f"{file.relative_to(path)}: cannot be read ({error.strerror})")
    except UnicodeDecodeError as error:
        problems.append(f"{file.relative_to(path)}: not UTF-8: {error.reason} at byte {error.start}")
    return None


def _told(path: Path, error: RecordError) -> str:
    return str(error).removeprefix(f"{path}/")


_EVENT = msgspec.json.Decoder(Event)
