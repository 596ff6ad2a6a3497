"""Texts of a size that a report can hold: what a record says may be any text, and of any length.

Owns how long the longest is. The record itself keeps all of it, and the cut text says so.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import msgspec

from clonediff.reports.reading import RunRead, StoredFinding

LONGEST = 4_000
"""Characters of one field of a record."""

LONGEST_FILE = 100_000
"""Characters of a script or of an issue's text: a screen of each is what they should be."""

T = TypeVar("T")


def fitting(read: RunRead) -> RunRead:
    """A run whose texts fit into a report."""
    return dataclasses.replace(
        read,
        run=shortened(read.run),
        findings=tuple(map(_kept, read.findings)),
        known=tuple(map(_kept, read.known)),
        problems=shortened(read.problems),
        unreadable=shortened(read.unreadable),
    )


def shortened(record: T) -> T:
    """A record, or anything that holds texts, with none of them too long. What fits is given back as it is."""
    return _shortened(record)  # type: ignore[no-any-return]  # each comes back as what it was


def cut(text: str, most: int = LONGEST) -> str:
    """A text that is too long, cut so that it fits, with how long it was."""
    if len(text) <= most:
        return text
    said = f"\u2026 [cut: {len(text):,} characters in all]"
    return text[: max(0, most - len(said))] + said


def _kept(kept: StoredFinding) -> StoredFinding:
    finding = shortened(kept.finding)
    script, issue = cut(kept.script, LONGEST_FILE), cut(kept.issue, LONGEST_FILE)
    if finding is kept.finding and script is kept.script and issue is kept.issue:
        return kept
    return dataclasses.replace(kept, finding=finding, script=script, issue=issue)


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, tuple):
        items = tuple(map(_shortened, value))
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        pairs = {_shortened(key): _shortened(its) for key, its in value.items()}
        same = all(pairs.get(key) is its for key, its in value.items())
        return value if same else pairs
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {name: new for name, old in fields.items() if (new := _shortened(old)) is not old}
        return msgspec.structs.replace(value, **changed) if changed else value
    return value
