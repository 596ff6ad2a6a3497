"""The verdict on a run: the line at the top of every report, and the exit code.

Owns which findings count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from clonediff.reports.broken import broken, holds, left_out, sentence
from clonediff.reports.draws import to_mend
from clonediff.reports.reading import RunRead, StoredFinding, moment
from clonediff.reports.records import SEVERITIES, Severity


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """`state` is "unknown" where nothing was found, and what ran cannot be read or was nothing at all.

    `holds` is what there is to say of the other cloners. `mend` names the subjects that refused too many graphs,
    `left_out` what the run was told to leave out.
    """

    state: Literal["new", "nothing", "unknown"]
    headline: str
    notes: tuple[str, ...]
    holds: tuple[str, ...] = ()
    mend: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def exit_code(self) -> int:
        return {"nothing": 1 if self.mend else 0, "new": 1, "unknown": 2}[self.state]


def verdict(read: RunRead) -> RunVerdict:
    """The verdict on a run."""
    new, unproven, known = counted(read.findings)
    mend = tuple(to_mend(read.run))
    left = left_out(read.run)
    notes = [*mend, *([left] if left else [])]
    if new:
        notes.append(severities(new))
    for count, said in (
        (len(unproven), "not counted: the script does not fail alone"),
        (len(known), "of known issues"),
        (len(read.unreadable), "cannot be read"),
    ):
        if count:
            notes.append(f"{some(count, 'finding')} {said}")
    if read.run.ended is None:
        notes.append("it has not ended: it still runs, or it was stopped")
    elif read.run.interrupted:
        notes.append("it was interrupted before it had spent its budget")
    if read.run.lost:
        notes.append(f"not tried: {', '.join(read.run.lost)}")
    if read.problems:
        notes.append(f"{some(len(read.problems), 'problem')} with the files of the run")
    said = sentence(read.run, len(broken(read)), len(new))
    others = holds(read.run)
    if new:
        return RunVerdict("new", said or some(len(new), "new finding"), tuple(notes), others, mend, left)
    if read.unreadable:
        return RunVerdict("new", f"{some(len(read.unreadable), 'finding')} that cannot be read", tuple(notes))
    if not read.whole:
        return RunVerdict("unknown", "What ran cannot be read", tuple(notes))
    if not read.run.trials:
        return RunVerdict("unknown", "Nothing was tried", tuple(notes))
    headline = said or f"Nothing new in {some(read.run.trials, 'trial')}"
    return RunVerdict("nothing", headline, tuple(notes), others, mend, left)


def counted(findings: Sequence[StoredFinding]) -> tuple[list[StoredFinding], list[StoredFinding], list[StoredFinding]]:
    """New findings, those whose script does not fail alone, those of known issues; the worst first."""
    new = [kept for kept in findings if kept.counts]
    unproven = [kept for kept in findings if kept.finding.known is None and not kept.counts]
    known = [kept for kept in findings if kept.finding.known is not None]
    return ordered(new), ordered(unproven), ordered(known)


def ordered(findings: Sequence[StoredFinding]) -> list[StoredFinding]:
    """The worst first; of the same severity, the one that was seen first."""
    return sorted(findings, key=lambda kept: (severity(kept.finding.severity), kept.finding.first_seen, kept.name))


def severity_of(kept: StoredFinding) -> str:
    """How bad it is, for people; a finding with no differences is a model that could not be tried."""
    severity = kept.finding.severity
    return SEVERITIES[severity] if severity is not None else "it cannot be tried"


def severities(findings: Sequence[StoredFinding]) -> str:
    """How many there are of each severity."""
    words = Counter(severity_of(kept) for kept in ordered(findings))
    return ", ".join(f"{word}: {count}" for word, count in words.items())


def some(count: int, thing: str) -> str:
    """A number of things: "1 trial", "1,204 trials"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def in_words(versions: Mapping[str, str]) -> str:
    """Versions by name, in a line."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def seconds_of(read: RunRead) -> float | None:
    """How long it ran, up to its last event; None if no time was recorded."""
    start = moment(read.run.started) or (read.events[0].at if read.events else None)
    end = moment(read.run.ended) or (read.events[-1].at if read.events else None)
    if start is None or end is None:
        return None
    return max(0.0, (end - start).total_seconds())


def lasted(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def severity(severity: Severity | None) -> int:
    """The costliest first; what costs nothing that is known last."""
    return len(Severity) if severity is None else int(severity)
