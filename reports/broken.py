"""What every report begins with: what Keras breaks, worst first, what of it is new, and which cloners are faithful.

Owns the first sentence of every report, which counts graphs by the worst that happens to them, and the list of the
known causes that were met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonediff.reports.reading import RunRead
from clonediff.reports.records import (
    AT_LEAST,
    DOES,
    LEFT_OUT,
    SEVERITIES,
    KnownMet,
    Run,
    Severity,
    by_cloner,
    cloner_said,
)

_OURS = "clonediff's own cloner"
_DOES = {**DOES, Severity.NAME: "changes only a name"}
_NAMES = {"keras": "Keras", "tf_keras": "tf_keras"}


@dataclass(frozen=True, slots=True)
class Broken:
    """A known issue that a run met, on all its subjects together."""

    issue: KnownMet
    subjects: tuple[str, ...]
    graphs: int
    severity: Severity | None

    @property
    def severity_said(self) -> str:
        """How bad it is, for people."""
        return SEVERITIES[self.severity] if self.severity is not None else "how bad it is, is not recorded"


def broken(read: RunRead) -> list[Broken]:
    """The known issues that were met, the worst first, then those that most graphs met."""
    met: dict[str, list[KnownMet]] = {}
    for each in read.run.known or ():
        met.setdefault(each.id, []).append(each)
    found = [
        Broken(
            its[0],
            tuple(each.where for each in its),
            sum(each.count for each in its),
            min((each.severity for each in its if each.severity is not None), default=None),
        )
        for its in met.values()
    ]
    return sorted(
        found,
        key=lambda each: (len(SEVERITIES) if each.severity is None else each.severity, -each.graphs, each.issue.id),
    )


def by_worst(run: Run) -> dict[str, dict[str, int]]:
    """For each cloner, upstream first, the graphs by the worst that it did to them.

    "faithful" counts the graphs that it cloned faithfully, "left out" those on which it did only what was left out.
    """
    return {
        cloner: {
            **{word: run.worst.get(f"{cloner}: {word}", 0) for word in AT_LEAST},
            LEFT_OUT: tried.left_out,
            "faithful": tried.faithful,
        }
        for cloner, tried in _tried(run).items()
    }


def table_of_worst(run: Run) -> tuple[list[str], list[tuple[str, list[int]]]]:
    """The same as a table: its heads, then a row for each cloner."""
    rows = by_worst(run)
    words = [word for word in next(iter(rows.values()), {}) if word != LEFT_OUT or run.at_least is not Severity.NAME]
    heads = [_DOES[AT_LEAST[word]] if word in AT_LEAST else word for word in words]
    return heads, [(cloner_said(cloner), [its[word] for word in words]) for cloner, its in rows.items()]


def sentence(run: Run, causes: int, new: int) -> str:
    """What is broken, and what of it is new; "" where no cloner's verdicts are recorded."""
    for who, tried in _tried(run).items():
        known = [f"{causes:,} known cause{'' if causes == 1 else 's'}"] if causes else []
        said = ", ".join([*known, f"{new:,} new" if new else "nothing new"])
        return f"{_faith(run, who, tried)}: {said}"
    return ""


def holds(run: Run) -> tuple[str, ...]:
    """A sentence on each of the other cloners."""
    return tuple(f"{_faith(run, who, tried)}." for who, tried in list(_tried(run).items())[1:])


def left_out(run: Run) -> str:
    """What the run left out, and how many graphs had only that; "" where it left out nothing."""
    if run.at_least is Severity.NAME:
        return ""
    less = [does for severity, does in DOES.items() if severity > run.at_least]
    only = [f"{tried.left_out:,} with {who}" for who, tried in _tried(run).items() if tried.left_out]
    graphs = f"graphs with only that: {', '.join(only)}" if only else "no graph had only that"
    return f"left out by --at-least {run.at_least.name.lower()}: what only {' or '.join(less)}; {graphs}"


@dataclass(frozen=True, slots=True)
class _Tried:
    """On how many graphs a cloner had each verdict, and each worst that it did."""

    faithful: int
    left_out: int
    unfaithful: int
    worst: dict[Severity, int]

    @property
    def graphs(self) -> int:
        return self.faithful + self.left_out + self.unfaithful


def _faith(run: Run, who: str, tried: _Tried) -> str:
    graphs = f"{tried.graphs:,} graph{'' if tried.graphs == 1 else 's'}"
    if not tried.unfaithful:
        if tried.left_out:
            return f"{_called(run, who)} is faithful on {tried.faithful:,} of {graphs}, but for what was left out"
        return f"{_called(run, who)} is faithful on {'all ' if tried.graphs > 1 else ''}{graphs}"
    does = [f"{_DOES[severity]} on {count:,}" for severity, count in sorted(tried.worst.items()) if count]
    if not does:  # of a run.json that was altered
        return f"{_called(run, who)} is unfaithful on {tried.unfaithful:,} of {graphs}"
    return f"{_called(run, who)} {', '.join([f'{does[0]} of {graphs}', *does[1:]])}"


def _tried(run: Run) -> dict[str, _Tried]:
    """What became of the graphs that each cloner was given; upstream first."""
    found: dict[str, _Tried] = {}
    counts, worst = by_cloner(run.verdicts), by_cloner(run.worst)
    for cloner in sorted(counts, key=lambda cloner: (cloner != "upstream", cloner != "fixed", cloner)):
        verdicts = counts[cloner]
        faithful, left_out = (verdicts.pop(word, 0) for word in ("faithful", LEFT_OUT))
        severities = {AT_LEAST[word]: count for word, count in worst.get(cloner, {}).items() if word in AT_LEAST}
        found[cloner] = _Tried(faithful, left_out, sum(verdicts.values()), severities)
    return {cloner: tried for cloner, tried in found.items() if tried.graphs}


def _called(run: Run, cloner: str) -> str:
    if cloner == "fixed":
        return _OURS
    if cloner != "upstream":
        return f"The cloner {cloner_said(cloner)}"
    releases = list(dict.fromkeys(filter(None, map(_release, run.subjects.values()))))
    return f"{releases[0]}'s clone_model" if len(releases) == 1 else f"clone_model of {', '.join(releases) or 'Keras'}"


def _release(versions: Mapping[str, str]) -> str:
    return next((f"{said} {versions[name]}" for name, said in _NAMES.items() if name in versions), "")
