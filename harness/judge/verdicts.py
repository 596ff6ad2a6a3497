"""From what was tried to a verdict: what is counted, in which order it is said, and what gets a script."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from clonediff.harness.judge.effects import COUNTED, WORSE, FixEffect, loud
from clonediff.harness.judge.record import Judged, JudgedCause, ReportedBug
from clonediff.harness.judge.text import cause_clause, comes_of, graph_line, likeness, sentence, silently, where_raised
from clonediff.harness.judge.trying import DRAWN, Candidate, CauseOnGraphs, GraphTried, Mark, key_of
from clonediff.harness.trials.triage import makes_a_clone, title
from clonediff.reports.records import Cause, Severity

MOST_SCRIPTS = 5
"""The causes with one effect that get a script, the worst first."""

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
        worse = effect in WORSE
        most = MOST_SCRIPTS if worse else FEW_SCRIPTS if _any_worse(chosen) else ALL_SCRIPTS
        first: dict[bytes | tuple[str, ...], CauseOnGraphs] = {}
        for each in shown:
            if each.effect is effect:
                first.setdefault(key_of(each.smallest.graph) if worse else likeness(each.cause.differences), each)
        chosen += list(first.values())[:most]
    return chosen


def verdict(blank: Judged, candidate: Candidate) -> Judged:
    """The verdict on what a candidate has shown so far. What a script did not show on its own does not count."""
    wrong = {mark for mark, shown in candidate.causes.items() if shown.reproduced is False}
    built = [tried for tried in candidate.graphs.values() if tried.built]
    effects = [tried.worst(wrong) for tried in built]
    judged = msgspec.structs.replace(
        blank,
        reported=_reported(candidate),
        tried=len(built),
        worked=sum(makes_a_clone(tried.upstream) for tried in built),
        worse=effects.count(FixEffect.SILENCES),
        broken=effects.count(FixEffect.BREAKS),
        otherwise=effects.count(FixEffect.OTHERWISE),
        left=effects.count(FixEffect.LEAVES),
        lost=sum(_loses(tried, wrong) for tried in built),
        only_lost=effects.count(FixEffect.LOSES),
        lost_now=effects.count(FixEffect.LOSES_NOW),
        left_lost=effects.count(FixEffect.LEAVES_LOST),
        uncovered=sum(tried.uncovered for tried in built),
        mended=sum(tried.worst() is None and bool(tried.upstream) for tried in built),
        shared=sum(
            tried.worst() is None and any(effect is FixEffect.SHARED for _, effect in tried.causes) for tried in built
        ),
        silent=_silent(candidate, wrong),
        breaks=tuple(map(judged_cause, in_order(candidate))),
        stopped=candidate.stopped,
    )
    return msgspec.structs.replace(judged, sentence=sentence(judged))


def _any_worse(causes: Sequence[CauseOnGraphs]) -> bool:
    return any(each.effect in WORSE for each in causes)


def _loses(tried: GraphTried, wrong: Collection[Mark]) -> bool:
    """Whether something is lost on a graph that the release keeps, be it beside what breaks."""
    lost = ((effect, cause.fingerprint) for cause, effect in tried.causes if effect is FixEffect.LOSES)
    return any(mark not in wrong for mark in lost)


def judged_cause(shown: CauseOnGraphs) -> JudgedCause:
    """A cause as it is kept."""
    cause, before = shown.cause, shown.before
    return JudgedCause(
        id=cause.fingerprint,
        effect=shown.effect,
        title=title(cause),
        said=cause_clause(cause) + where_raised(cause, shown.place),
        graphs=len(shown.graphs),
        first_on=shown.first_on,
        smallest=graph_line(shown.smallest.case.source),
        graph=msgspec.Raw(key_of(shown.smallest.graph)),
        source=shown.smallest.case.source,
        differences=cause.differences,
        place=shown.place,
        script=shown.script,
        reproduced=shown.reproduced,
        before=cause_clause(before) if before else "",
        does="" if loud(cause) else comes_of(cause),
        severity=cause.severity,
    )


def _rank(shown: CauseOnGraphs) -> tuple[int, bool, bool, int, int]:
    # What is shared with the original before what is computed otherwise: training the one changes the other.
    cause = shown.cause
    silent = shown.effect is FixEffect.SILENCES
    return (
        COUNTED.index(shown.effect),
        silent and cause.root.check != "own",
        shown.first_on == DRAWN,
        cause.severity,
        -len(shown.graphs),
    )


def _silent(candidate: Candidate, wrong: Collection[Mark]) -> str:
    """What comes of all that is silent now, with the number of graphs; each graph counts for the worst."""
    its = [each for mark, each in candidate.causes.items() if each.effect is FixEffect.SILENCES and mark not in wrong]
    by_words: dict[str, set[bytes]] = {}
    counted: set[bytes] = set()
    for each in sorted(its, key=_rank):
        by_words.setdefault(comes_of(each.cause), set()).update(each.graphs - counted)
        counted |= each.graphs
    raised = any(each.before is not None and each.before.root.check != "made" for each in its)
    return silently("raised an exception" if raised else "could not be cloned", by_words)


def _reported(candidate: Candidate) -> ReportedBug | None:
    """Whether the bug of the report is gone: the model is cloned, and the clone is its own and computes the same."""
    tried = candidate.reported
    if tried is None:
        return None
    if not tried.built:
        return ReportedBug(False, "the release does not build the model of the report")
    return _bug(
        [cause for cause, effect in tried.causes if cause.severity <= Severity.COMPUTES or effect is FixEffect.SILENCES]
    )


def _bug(bad: Sequence[Cause]) -> ReportedBug:
    return ReportedBug(not bad, cause_clause(bad[0]) if bad else SAME)
