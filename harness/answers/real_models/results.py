"""What came of real models: what each cloner makes of one, the totals, and the file in which they are kept."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

import msgspec

from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.verdicts import minded, refusal


class CloneOutcome(enum.StrEnum):
    """What a cloner makes of a model."""

    FAITHFUL = "faithful"
    NAME = "only a name differs"
    REFUSED = "refused, with a reason"
    BREAKS = "breaks"


class RealModel(msgspec.Struct, frozen=True):
    """A model of a suite: the lines that make it, and what came of checking it."""

    name: str
    source: str
    checked: CheckedModel

    @property
    def suite(self) -> str:
        return self.name.partition(":")[0]

    @property
    def tried(self) -> bool:
        """Whether there was an original to clone."""
        return self.checked.status is Status.CHECKED

    def by(self, cloner: str) -> Cloned | None:
        """What a cloner made of it, None where it was not tried."""
        return next((each for each in self.checked.clones if each.cloner == cloner), None)


class RealResults(msgspec.Struct, frozen=True):
    """A file of results. `began` is when, `seconds` how long it took, interrupted or not."""

    began: str
    models: tuple[RealModel, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    clonediff: str = ""
    format: int = 1


def made(cloned: Cloned) -> CloneOutcome:
    """What a clone comes to. What Keras documents to be left out is no break."""
    worst = minded(cloned.breaks, strict=True)
    if not worst:
        return CloneOutcome.FAITHFUL
    if cloned.cloner == "fixed" and refusal(cloned):
        return CloneOutcome.REFUSED
    return CloneOutcome.BREAKS if minded(cloned.breaks) else CloneOutcome.NAME


def is_fault(model: RealModel) -> bool:
    """Whether fixed has made something else of a model, and has not refused it."""
    fixed = model.by("fixed")
    return fixed is not None and made(fixed) in (CloneOutcome.BREAKS, CloneOutcome.NAME)


class SuiteTotals(msgspec.Struct, frozen=True):
    """How many models of a suite there are, were tried, and what of them each cloner makes."""

    suite: str
    models: int
    tried: int
    upstream: int
    fixed: int
    refused: int


def totals(suite: str, models: Iterable[RealModel]) -> SuiteTotals:
    """The totals of some models, under the name of their suite."""
    all_ = list(models)
    tried = [each for each in all_ if each.tried]

    def count(cloner: str, wanted: CloneOutcome) -> int:
        return sum(1 for each in tried if (its := each.by(cloner)) is not None and made(its) is wanted)

    faithful = {cloner: count(cloner, CloneOutcome.FAITHFUL) for cloner in ("upstream", "fixed")}
    return SuiteTotals(
        suite, len(all_), len(tried), faithful["upstream"], faithful["fixed"], count("fixed", CloneOutcome.REFUSED)
    )


def by_suite(models: Sequence[RealModel]) -> list[SuiteTotals]:
    """The totals of each suite, in the order in which they come, and at the end those of all."""
    suites = dict.fromkeys(each.suite for each in models)
    found = [totals(suite, (each for each in models if each.suite == suite)) for suite in suites]
    return [*found, totals("all", models)] if len(found) > 1 else found
