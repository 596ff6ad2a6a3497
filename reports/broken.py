"""What a run begins with: what Keras breaks, worst first, what is new, what holds.

Owns the first sentence of every report, and the list of the known causes that were met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from clonediff.reports.records import COSTS, Cost, KnownMet, Run
from clonediff.reports.store import RunRead, StoredFinding

_OURS = "clonediff's own cloner"
_NAMES = {"keras": "Keras", "tf_keras": "tf_keras", "tf.keras": "tf.keras"}


@dataclass(frozen=True, slots=True)
class Broken:
    """A known issue that a run met, on all its subjects together. `shown` is its example, where that was tried."""

    issue: KnownMet
    subjects: tuple[str, ...]
    graphs: int
    cost: Cost | None
    shown: StoredFinding | None

    @property
    def cost_said(self) -> str:
        """What it costs, for people."""
        return COSTS[self.cost] if self.cost is not None else "what it costs is not recorded"


def broken(read: RunRead) -> list[Broken]:
    """The known issues that were met, the costliest first, then those that most graphs met."""
    examples = {kept.name: kept for kept in read.known}
    met: dict[str, list[KnownMet]] = {}
    for each in read.run.known or ():
        if each.count:
            met.setdefault(each.id, []).append(each)
    found = [
        Broken(
            its[0],
            tuple(each.subject or each.generation for each in its),
            sum(each.count for each in its),
            min((each.cost for each in its if each.cost is not None), default=None),
            next((examples[each.folder] for each in its if each.folder in examples), None),
        )
        for its in met.values()
    ]
    return sorted(found, key=lambda each: (len(COSTS) if each.cost is None else each.cost, -each.graphs, each.issue.id))


def sentence(run: Run, causes: int, new: int) -> str:
    """What is broken, and what of it is new; "" where no cloner's verdicts are recorded."""
    for who, (unfaithful, graphs) in _tried(run).items():
        known = [f"{causes:,} known cause{'' if causes == 1 else 's'}"] if causes else []
        said = ", ".join([*known, f"{new:,} new" if new else "nothing new"])
        return f"{_faith(run, who, unfaithful, graphs)}: {said}"
    return ""


def holds(run: Run) -> tuple[str, ...]:
    """A sentence on each of the other cloners."""
    return tuple(f"{_faith(run, who, *counts)}." for who, counts in list(_tried(run).items())[1:])


def _faith(run: Run, who: str, unfaithful: int, graphs: int) -> str:
    tried = f"{graphs:,} graph{'' if graphs == 1 else 's'}"
    if not unfaithful:
        return f"{_called(run, who)} is faithful on {'all ' if graphs > 1 else ''}{tried}"
    return f"{_called(run, who)} is unfaithful on {unfaithful:,} of {tried}"


def _tried(run: Run) -> dict[str, tuple[int, int]]:
    """On how many graphs each cloner was unfaithful, and how many it was given; upstream first."""
    totals: Counter[str] = Counter()
    unfaithful: Counter[str] = Counter()
    for key, count in run.verdicts.items():
        cloner, _, verdict = key.partition(": ")
        totals[cloner] += count
        unfaithful[cloner] += count * (verdict != "faithful")
    order = sorted(totals, key=lambda cloner: (cloner != "upstream", cloner != "fixed", cloner))
    return {cloner: (unfaithful[cloner], totals[cloner]) for cloner in order if totals[cloner]}


def _called(run: Run, cloner: str) -> str:
    if cloner == "fixed":
        return _OURS
    if cloner != "upstream":
        return f"The cloner {cloner}"
    releases = list(dict.fromkeys(filter(None, map(_release, run.subjects.values()))))
    return f"{releases[0]}'s clone_model" if len(releases) == 1 else f"clone_model of {', '.join(releases) or 'Keras'}"


def _release(versions: Mapping[str, str]) -> str:
    return next((f"{said} {versions[name]}" for name, said in _NAMES.items() if name in versions), "")
