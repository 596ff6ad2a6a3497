"""Aspects: the kinds of differences that checks report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from clonediff.harness.trials.checks.paths import shorten
from clonediff.harness.trials.checks.skeletons import Mismatch
from clonediff.reports.records import Change, Difference, Part, Place, Severity

VARIABLES: tuple[Part, ...] = ("weight", "state")
ARGUMENTS: tuple[Part, ...] = ("call.args", "call.kwargs")

Role = Literal["replaced", "chosen", "derived", "quiet", "compiled"]
"""How a difference relates to others, for `roots`.

replaced: a layer or object is missing, extra, shared or of another class.
chosen: a value differs that the author of the model chose: a setting, or an argument of a call.
derived: a value differs that Keras derives from chosen values.
quiet: as derived, but the value cannot affect any output.
compiled: an argument of `compile` differs.
"""
ComparisonName = Literal[
    "", "apart", "attribute", "compiled", "config", "is a model", "kinds", "layers", "listed", "names", "numbers",
    "raises", "run", "setting", "trainable", "weight values",
]  # fmt: skip
"""The comparison of a script that shows the difference, or ""."""


@dataclass(frozen=True, eq=False)
class Aspect:
    """A kind of difference, or several similar kinds.

    `sentence` is the title, `comparison` names the comparison in a script. With `any_layer`, layers of every kind can
    show the difference, so fingerprints name no kind. `names` has patterns for attributes or settings, separated by
    "|". If the same line of Keras loses several attributes, `shared_name` is their name in fingerprints. A difference
    of a model follows from a difference of a layer with the same `topic`; "ends" are inputs and outputs. With
    `exclusive`, other checks do not use the row.
    """

    check: str
    role: Role
    severity: Severity
    part: Part | tuple[Part, ...]
    change: Change | tuple[Change, ...]
    sentence: str
    comparison: ComparisonName = ""
    any_layer: bool = False
    names: str = ""
    shared_name: str = ""
    topic: Literal["", "autocast", "dtype", "ends", "flag"] = ""
    exclusive: bool = False

    def covers(self, part: Part, change: Change, name: str) -> bool:
        is_covered = part in _as_tuple(self.part) and change in _as_tuple(self.change)
        return is_covered and any(fnmatchcase(name, pattern) for pattern in self.names.split("|"))

    def difference(self, path: str, expected: Any, found: Any, first: Place | None, **fields: Any) -> Difference:
        """Create a difference; `fields` has part and change if the row has several."""
        fields = {"part": self.part, "change": self.change, "severity": self.severity, **fields}
        if not self.covers(fields["part"], fields["change"], fields.get("name", "")):
            raise LookupError(f"{self.check}: this row does not cover {fields}")
        limit = 300 if fields.get("raised") else 160
        fields |= {"expected": shorten(expected, limit), "found": shorten(found, limit)}
        return Difference(check=self.check, location=path, first=first, **fields)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def find_row(rows: Iterable[Aspect], part: Part, change: Change, name: str = "") -> Aspect:
    row = next((row for row in rows if row.covers(part, change, name)), None)
    if row is None:
        raise LookupError(f"no row covers {part}, {change}, {name!r}: add one to the module of the check")
    return row


def difference_of(
    rows: Iterable[Aspect], part: Part, change: Change, *arguments: Any, name: str = "", **fields: Any
) -> Difference:
    """Create a difference with its row; `Aspect.difference` gets the `arguments`."""
    return find_row(rows, part, change, name).difference(*arguments, part=part, change=change, name=name, **fields)


def difference_at(
    rows: Iterable[Aspect], part: Part, mismatch: Mismatch, prefix: str, first: Place, **fields: Any
) -> Difference:
    path, values = f"{prefix}{mismatch.path}", (mismatch.expected, mismatch.found)
    return difference_of(rows, part, mismatch.change, path, *values, first, digests=mismatch.digests, **fields)


def compare_order(
    rows: Iterable[Aspect], part: Part, path: str, expected: Any, found: Any, model: Place, **fields: Any
) -> list[Difference]:
    """Any difference in number or order of losses, inputs or outputs."""
    if len(expected) != len(found):
        return [difference_of(rows, part, "count", path, len(expected), len(found), model, **fields)]
    if expected != found and sorted(expected) == sorted(found):
        orders = list(range(len(expected))), list(map(found.index, expected))
        return [difference_of(rows, part, "order", path, *orders, model, **fields)]
    return []
