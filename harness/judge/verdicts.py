"""From what was tried to a verdict: what is counted, in which order it is said, and what gets a script."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from clonediff.harness.judge.effects import COUNTED, FixEffect, loud
from clonediff.harness.judge.record import Judged, JudgedCause, ReportedBug
from clonediff.harness.judge.stages import Stages, multi_gpu_cloner
from clonediff.harness.judge.trying import DRAWN, Candidate, CauseOnGraphs, GraphTried, RaisedAt
from clonediff.harness.judge.wording import cause_clause, comes_of, graph_line, graphs, likeness, where_raised
from clonediff.harness.trials.triage import title
from clonediff.reports.records import Cause, Cost
from clonediff.strategies.graph import Graph, to_json

MOST_SCRIPTS = 5
"""The causes with one effect that get a script, the costliest first."""

FEW_SCRIPTS = 2
"""Of what is broken as before, where something is worse than before."""

ALL_SCRIPTS = 12
"""Of what is broken as before by a candidate that makes nothing worse: what there is still to do."""

SAME = "the clone computes the same"


def in_order(candidate: Candidate) -> list[CauseOnGraphs]:
    """All that a candidate shows and that counts: the worst effect first, and of one effect the worst cause."""
    shown = [each for each in candidate.causes.values() if each.effect in COUNTED]
    return sorted(shown, key=_rank)


def with_scripts(shown: Sequence[CauseOnGraphs]) -> list[CauseOnGraphs]:
    """Those that get a script.

    Of what is worse, the first on each smallest graph; of what is broken as before, the first of those that are alike.
    """
    chosen: list[CauseOnGraphs] = []
    for effect in COUNTED:
        its = [each for each in shown if each.effect is effect]
        if effect in (FixEffect.SILENCES, FixEffect.BREAKS):
            by_graph: dict[Graph, CauseOnGraphs] = {}
            for each in its:
                by_graph.setdefault(each.smallest.graph, each)
            chosen += list(by_graph.values())[:MOST_SCRIPTS]
        else:
            worse = any(each.effect in (FixEffect.SILENCES, FixEffect.BREAKS) for each in chosen)
            by_likeness: dict[tuple[str, ...], CauseOnGraphs] = {}
            for each in its:
                by_likeness.setdefault(likeness(each.cause.differences), each)
            chosen += list(by_likeness.values())[: FEW_SCRIPTS if worse else ALL_SCRIPTS]
    return chosen


def judged_cause(shown: CauseOnGraphs, at: RaisedAt | None = None, script: str | None = None) -> JudgedCause:
    """A cause as it is kept."""
    cause, before = shown.cause, shown.before
    return JudgedCause(
        id=cause.fingerprint,
        effect=shown.effect,
        title=title(cause),
        said=cause_clause(cause) + where_raised(cause, at),
        graphs=len(shown.graphs),
        first_on=shown.first_on,
        smallest=graph_line(shown.smallest.case.source),
        graph=msgspec.Raw(to_json(shown.smallest.graph)),
        source=shown.smallest.case.source,
        differences=cause.differences,
        place=at,
        script=script,
        before=cause_clause(before) if before else "",
        does="" if loud(cause) else comes_of(cause),
    )


def with_stages(judged: Judged, candidate: Candidate, stages: Stages) -> Judged:
    """The verdict with what became of the reported bug."""
    return replace(
        judged,
        reported=_reported(stages.reported) if stages.reported else None,
        multi_gpu=_multi_gpu(stages, multi_gpu_cloner(candidate)),
        stopped=stages.stopped,
    )


def with_causes(judged: Judged, candidate: Candidate) -> Judged:
    """The verdict with all that a candidate has shown so far, without scripts."""
    causes = tuple(judged_cause(each) for each in in_order(candidate))
    return with_counts(replace(judged, breaks=causes), candidate)


def with_counts(judged: Judged, candidate: Candidate, wrong: Collection[tuple[FixEffect, str]] = ()) -> Judged:
    """The verdict with its figures. `wrong` has what a script did not show, by effect and cause: it does not count."""
    built = [tried for tried in candidate.graphs.values() if tried.built]
    effects = [tried.effect_without(wrong) for tried in built]
    return replace(
        judged,
        tried=len(built),
        worked=sum(tried.worked for tried in built),
        worse=effects.count(FixEffect.SILENCES),
        broken=effects.count(FixEffect.BREAKS),
        otherwise=effects.count(FixEffect.OTHERWISE),
        left=effects.count(FixEffect.LEAVES),
        uncovered=sum(tried.uncovered for tried in built),
        mended=sum(tried.fixed for tried in built),
        limits=sum(
            tried.effect is None and any(effect is FixEffect.LIMIT for _, effect in tried.causes) for tried in built
        ),
        silent=_silent(candidate.causes, wrong),
    )


def _rank(shown: CauseOnGraphs) -> tuple[int, bool, bool, int, int]:
    # What is shared with the original before what is computed otherwise: training the one changes the other.
    cause = shown.cause
    silent = shown.effect is FixEffect.SILENCES
    return (
        COUNTED.index(shown.effect),
        silent and cause.root.check != "own",
        shown.first_on == DRAWN,
        cause.rank,
        -len(shown.graphs),
    )


def _silent(causes: Mapping[tuple[FixEffect, str], CauseOnGraphs], wrong: Collection[tuple[FixEffect, str]]) -> str:
    """What comes of all that is silent now, with the number of graphs; each graph counts for the worst."""
    its = [each for mark, each in causes.items() if each.effect is FixEffect.SILENCES and mark not in wrong]
    by_words: dict[str, set[bytes]] = {}
    counted: set[bytes] = set()
    for each in sorted(its, key=_rank):
        by_words.setdefault(comes_of(each.cause), set()).update(each.graphs - counted)
        counted |= each.graphs
    crashed = any(each.before is not None and each.before.root.check != "made" for each in its)
    before = "raised an exception" if crashed else "could not be cloned"
    parts = [f"{graphs(len(marks))} that {before} {words}" for words, marks in by_words.items() if marks]
    return f"it makes {' and '.join(parts)}, without a word" if parts else ""


def _reported(tried: GraphTried) -> ReportedBug:
    """Whether the bug of the report is gone: the model is cloned, and the clone is its own and computes the same."""
    if not tried.built:
        return ReportedBug(False, "the release does not build the model of the report")
    bad = [cause for cause, effect in tried.causes if cause.rank <= Cost.COMPUTES or effect is FixEffect.SILENCES]
    return _bug(bad)


def _multi_gpu(stages: Stages, cloner: str) -> ReportedBug | None:
    trial = stages.multi_gpu
    if trial is None:
        return None
    if not trial.built:
        return ReportedBug(False, "its model can no longer be built")
    return _bug([cause for cause in trial.clones[cloner].causes if cause.rank <= Cost.COMPUTES])


def _bug(bad: Sequence[Cause]) -> ReportedBug:
    return ReportedBug(not bad, cause_clause(bad[0]) if bad else SAME)
