"""Findings that probably have one cause: one line of Keras may raise several exceptions.

Owns what makes findings a group. A group is a guess, and is always told as one: its findings stay findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonediff.reports.records import Finding

_CLONING = ("made", "again")
"""The checks that make a clone."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings, the first of them first, and why they probably have one cause; "" for one that stands alone."""

    findings: tuple[Finding, ...]
    why: str = ""


def grouped(findings: Sequence[Finding]) -> list[Group]:
    """Each finding in one group, in the order of the first of each."""
    found: dict[tuple[str, ...], list[Finding]] = {}
    whys: dict[tuple[str, ...], str] = {}
    for finding in findings:
        why, key = _shared(finding)
        found.setdefault(key, []).append(finding)
        whys[key] = why
    return [Group(tuple(them), whys[key] if len(them) > 1 else "") for key, them in found.items()]


def sentences(findings: Sequence[Finding]) -> list[str]:
    """A sentence for each group of several."""
    return [
        f"Probably one cause: {', '.join(finding.id for finding in group.findings)} ({group.why})"
        for group in grouped(findings)
        if len(group.findings) > 1
    ]


def _shared(finding: Finding) -> tuple[str, tuple[str, ...]]:
    """What findings with the cause of this one probably share: in words, and as a key."""
    whose = (finding.generation, finding.cloner)
    if finding.known is not None:
        return f"the known issue {finding.known}", (*whose, "known", finding.known)
    root = finding.root
    raised = root.raised if root is not None and root.check in _CLONING else None
    if raised is not None and raised.calling:
        return f"raised by layers that {raised.calling} calls to make the clone", (*whose, "calling", raised.calling)
    if raised is not None and raised.frame:
        return f"raised at {raised.frame} while the clone is made", (*whose, "frame", raised.frame)
    return "the same fingerprint", (*whose, "id", finding.id)
