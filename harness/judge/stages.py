"""What a candidate that loads is tried on, in order: the reported bug, known graphs, fresh ones; and what that showed.

Must not import Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from harness.judge.plain import REPORTED
from harness.judge.seats import LOADING
from harness.judge.telling import graph_line, raised_at, said_of
from harness.judge.trying import Candidate, GivenUpError, Shown, Sight
from harness.judge.verdicts import Break, Charge, Judged, Place, Tried
from harness.subjects.observation import Answer
from harness.subjects.offers import graphs_on
from harness.subjects.process import Limits
from harness.trials.cases import case_of
from harness.trials.triage import title
from harness.trials.trial import run
from reports.records import Cost
from strategies.graph import Graph, to_json

MOST_SHOWN = 5
"""The breaks of a sort that are told and given a script, the costliest first."""

FEW_SHOWN = 2
"""What is left broken, where something that worked is broken as well."""

ALL_LEFT = 24
"""What is left broken by a candidate that breaks nothing: what there is still to do."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long fresh graphs are drawn for each candidate, and how many; the limits of a trial and of loading.

    `short` are the seconds for a candidate that holds on no known graph: they are for the smallest one.
    """

    seconds: float = 8.0
    graphs: int = 400
    seed: int = 0
    short: float = 2.0
    limits: Limits = field(default_factory=lambda: Limits(trial=15.0))
    loading: float = LOADING


def tried(
    judged: Judged,
    candidate: Candidate,
    graphs: Mapping[str, Graph],
    budget: Budget,
    say: Callable[[str, float], None],
    *,
    fresh: bool = True,
) -> tuple[Judged, list[Shown]]:
    """The verdict with all that the stages showed, and what it shows, in the order of its breaks."""
    stopped = ""
    try:
        say("the reported bug", 0.0)
        judged = replace(judged, reported=reported(candidate.see(REPORTED, "the bug report")))
        judged = replace(judged, multi_gpu=through_multi_gpu(candidate))
        _graphs(candidate, graphs, budget, say, fresh)
    except GivenUpError as error:
        stopped = str(error)
    return summed(replace(judged, stopped=stopped), candidate)


def summed(judged: Judged, candidate: Candidate) -> tuple[Judged, list[Shown]]:
    """The verdict with what a candidate has shown so far, and the breaks that are told of, in their order."""
    shown = _telling(candidate.charges(Charge.BREAKS), MOST_SHOWN)
    left = candidate.charges(Charge.LEAVES)
    shown += _telling(left, FEW_SHOWN) if shown else left[:ALL_LEFT]
    breaks = tuple(_break(one, candidate) for one in shown)
    built = [sight for sight in candidate.sights.values() if sight.built]
    judged = replace(
        judged,
        tried=len(built),
        worked=sum(_worked(sight) for sight in built),
        broken=sum(sight.has(Charge.BREAKS) for sight in built),
        left=sum(sight.has(Charge.LEAVES) and not sight.has(Charge.BREAKS) for sight in built),
        mended=sum(sight.held and not _worked(sight) for sight in built),
        limits=sum(sight.held and sight.has(Charge.LIMIT) for sight in built),
        breaks=breaks,
    )
    return judged, shown


def _graphs(
    candidate: Candidate,
    graphs: Mapping[str, Graph],
    budget: Budget,
    say: Callable[[str, float], None],
    fresh: bool,
) -> None:
    held = False
    for number, (name, graph) in enumerate(graphs.items()):
        say(f"known graphs, {number} of {len(graphs)}", 0.1 + 0.4 * number / len(graphs))
        held |= candidate.see(graph, name).held
    if fresh:
        say("fresh graphs", 0.5)
        candidate.search(
            graphs_on(candidate.process),
            seconds=budget.seconds if held else min(budget.seconds, budget.short),
            examples=budget.graphs,
            seed_=budget.seed,
            after_each=lambda: say(f"fresh graphs, {len(candidate.sights)} tried", 0.7),
        )


def counted(judged: Judged, shown: Mapping[tuple[Charge, str], Shown]) -> Judged:
    """The verdict without what its script did not show: that is no accusation."""
    wrong = {(each.charge, each.id) for each in judged.breaks if each.reproduced is False}
    if not wrong:
        return judged
    graphs: dict[Charge, set[bytes]] = {charge: set() for charge in Charge}
    for (charge, mark), one in shown.items():
        if (charge, mark) not in wrong:
            graphs[charge] |= one.graphs
    return replace(judged, broken=len(graphs[Charge.BREAKS]), left=len(graphs[Charge.LEAVES] - graphs[Charge.BREAKS]))


def _telling(shown: Sequence[Shown], most: int) -> list[Shown]:
    """The breaks to tell of: of those with one smallest graph the costliest."""
    by_graph: dict[Graph, Shown] = {}
    for one in shown:
        by_graph.setdefault(one.graph, one)
    return list(by_graph.values())[:most]


def reported(sight: Sight) -> Tried:
    """Whether the bug of the report is gone: the model is cloned, and the clone computes the same."""
    if not sight.built:
        return Tried(False, "the release does not build the model of the report")
    bad = [cause for cause, _ in sight.charges if cause.rank <= Cost.COMPUTES]
    return Tried(not bad, said_of(bad[0]) if bad else "the clone computes the same")


def through_multi_gpu(candidate: Candidate) -> Tried | None:
    """The same through `multi_gpu_model`, which is how it was met; None where the release has none."""
    case = case_of(REPORTED, candidate.process.subject.dialect)
    name = "multi_gpu/fixed" if candidate.cloner == "fixed" else "multi_gpu"
    trial = run(case, candidate.process, [name])
    if not trial.built:
        return Tried(False, "its model can no longer be built")
    causes = trial.clones[name].causes
    if any(cause.root.raised is not None and cause.root.raised.type == "LookupError" for cause in causes):
        return None
    bad = [cause for cause in causes if cause.rank <= Cost.COMPUTES]
    return Tried(not bad, said_of(bad[0]) if bad else "the clone computes the same")


def _worked(sight: Sight) -> bool:
    """Whether the release's own cloner makes a clone here; it was not asked where the candidate is faithful."""
    if sight.reference is None:
        return True
    return not any(cause.root.check == "made" for cause in sight.reference.clones["upstream"].causes)


def _break(shown: Shown, candidate: Candidate) -> Break:
    place = _place(shown, candidate)
    cause = shown.cause
    return Break(
        id=cause.fingerprint,
        charge=shown.charge,
        title=title(cause),
        said=said_of(cause) + raised_at(cause, place),
        graphs=len(shown.graphs),
        first_on=shown.first_on,
        smallest=graph_line(shown.case.source),
        graph=msgspec.Raw(to_json(shown.graph)),
        source=shown.case.source,
        differences=cause.differences,
        place=place,
    )


def _place(shown: Shown, candidate: Candidate) -> Place | None:
    """The line of the candidate's file that raises, told by cloning the smallest graph once more."""
    root = shown.cause.root
    if root.check != "made" or root.path == "process" or candidate.cloner != "candidate":
        return None
    outcome = candidate.process.trial(shown.case, cloners=[candidate.cloner])
    clone = outcome.clones.get(candidate.cloner) if isinstance(outcome, Answer) else None
    if clone is None or clone.failure is None:
        return None
    lines = [frame for frame in clone.failure.frames if frame.file == "<candidate>"]
    return Place(lines[-1].line, lines[-1].function) if lines else None
