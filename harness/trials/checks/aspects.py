"""What a check can find different: a row for each, a constant of the module that reports it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from clonediff.harness.trials.checks.places import short
from clonediff.harness.trials.checks.skeletons import Unlike
from clonediff.reports.records import Change, Difference, Part, Place, Severity

VARIABLES: tuple[Part, ...] = ("weight", "state")
ARGUMENTS: tuple[Part, ...] = ("call.args", "call.kwargs")

Role = Literal["another", "chosen", "derived", "quiet", "compiled"]
"""What sort of fact differs, by which `roots` knows what follows from it.

another: the layer itself is another one.
chosen: whoever wrote the model chose it: a setting, or the arguments of a call.
derived: Keras makes it of what was chosen.
quiet: the same, and no number that a model computes comes of it.
compiled: the model is compiled with it.
"""
Shown = Literal[
    "", "apart", "attribute", "compiled", "config", "is a model", "kinds", "layers", "listed", "names", "numbers",
    "raises", "run", "setting", "trainable", "weight values",
]  # fmt: skip
"""What a script compares; nothing for ""."""


@dataclass(frozen=True, eq=False)
class Aspect:
    """One thing, or several like ones, that a check can find different, and all that is to be known of it.

    `sentence` is its title, `shown` what a script compares. `any_layer`: cloning loses it on layers of any kind, so a
    fingerprint names none. `names` are those of attributes or settings, as patterns with "|" between them. `known_as`
    is what a fingerprint has for it, where one line of Keras loses several. A model has what its layers have of one
    `topic`; "ends" are the tensors that they take and give. `alone`: no other check reports it.
    """

    check: str
    role: Role
    severity: Severity
    part: Part | tuple[Part, ...]
    change: Change | tuple[Change, ...]
    sentence: str
    shown: Shown = ""
    any_layer: bool = False
    names: str = ""
    known_as: str = ""
    topic: Literal["", "autocast", "dtype", "ends", "flag"] = ""
    alone: bool = False

    def covers(self, part: Part, change: Change, name: str) -> bool:
        is_one = part in _all_of(self.part) and change in _all_of(self.change)
        return is_one and any(fnmatchcase(name, pattern) for pattern in self.names.split("|"))

    def differs(self, within: str, expected: Any, found: Any, first: Place | None, **fields: Any) -> Difference:
        """A difference. `fields` are its further ones; its part or change, too, where the row has several."""
        fields = {"part": self.part, "change": self.change, "severity": self.severity, **fields}
        if not self.covers(fields["part"], fields["change"], fields.get("name", "")):
            raise LookupError(f"{self.check}: {fields} is of another row")
        limit = 300 if fields.get("raised") else 160
        fields |= {"expected": short(expected, limit), "found": short(found, limit)}
        return Difference(check=self.check, within=within, first=first, **fields)


def _all_of(members: Any) -> tuple[Any, ...]:
    return members if isinstance(members, tuple) else (members,)


def find(rows: Iterable[Aspect], part: Part, change: Change, name: str = "") -> Aspect:
    row = next((row for row in rows if row.covers(part, change, name)), None)
    if row is None:
        raise LookupError(f"no row covers {part}, {change}, {name!r}: add one to the module of the check")
    return row


def differs(
    rows: Iterable[Aspect], part: Part, change: Change, *where: Any, name: str = "", **fields: Any
) -> Difference:
    """A difference by the row that covers it; `where` and `fields` are as in `Aspect.differs`."""
    return find(rows, part, change, name).differs(*where, part=part, change=change, name=name, **fields)


def differs_in(
    rows: Iterable[Aspect], part: Part, leaf: Unlike, within: str, first: Place, **fields: Any
) -> Difference:
    path, sides = f"{within}{leaf.path}", (leaf.expected, leaf.actual)
    return differs(rows, part, leaf.change, path, *sides, first, digests=leaf.digests, **fields)


def differs_in_order(
    rows: Iterable[Aspect], part: Part, within: str, wants: Any, haves: Any, model: Place, **fields: Any
) -> list[Difference]:
    """That there are more or fewer of a model's losses or ends, or that they come in another order."""
    if len(wants) != len(haves):
        return [differs(rows, part, "count", within, len(wants), len(haves), model, **fields)]
    if wants != haves and sorted(wants) == sorted(haves):
        orders = list(range(len(wants))), list(map(haves.index, wants))
        return [differs(rows, part, "order", within, *orders, model, **fields)]
    return []
