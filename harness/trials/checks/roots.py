"""Which of many differences are causes, and which merely follow from another.

A difference follows from one that comes about before it where three things hold. The cause reaches as far: what has to
do with training explains no output, and a name explains names only. The cause can show there: at the same layer, in
what holds it, or wherever what the layer gives is used. And of two models that have not run, the one difference changes
what the other shows. Each check says of its aspects what they change and show, and which links no rule covers.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Sequence
from fnmatch import fnmatchcase

from clonediff.harness.subjects.observation import Observation
from clonediff.harness.trials.checks import CHECKS, aspect_of
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Reach, Spread, Stage, Thing, Turn
from clonediff.reports.records import Difference, Place, Severity

_AT_REST = (Stage.OWN, Stage.SHARING, Stage.STRUCTURE, Stage.WEIGHTS)
_RUNS = (Stage.SYMBOLIC, Stage.INFERENCE, Stage.TRAINING_RUN)
_COMES_OF = {
    **dict.fromkeys(_RUNS, (*_AT_REST, *_RUNS)),
    Stage.UNTOUCHED: (Stage.OWN, Stage.UNTOUCHED),
    Stage.TRAINED: (*_AT_REST, *_RUNS, Stage.TRAINED),
    Stage.AGAIN: (*_AT_REST, Stage.UNTOUCHED, *_RUNS, Stage.AGAIN),
    Stage.FUNCTIONS: (Stage.OWN, Stage.SHARING, Stage.STRUCTURE, Stage.UNTOUCHED, Stage.FUNCTIONS),
}
"""From what each stage can follow, once models have run."""


def roots(original: Observation, differences: Sequence[Difference]) -> list[tuple[Difference, list[Difference]]]:
    """The causes among differences, each with what follows from it, in the order in which they come about."""
    flow = Flow(original)
    in_order = sorted(differences, key=lambda difference: _turn(difference, flow))
    groups: list[tuple[Difference, list[Difference]]] = []
    placed: list[tuple[Difference, int]] = []
    # Nothing follows from another name but where it is: of a thousand layers, most are not asked.
    named: dict[int, list[int]] = {}
    others: list[int] = []
    for difference in in_order:
        near = flow.near(difference.first)
        labels = named.values() if near is None else (named[layer] for layer in near if layer in named)
        earlier = (placed[number] for number in heapq.merge(others, *labels))
        group = next((group for one, group in earlier if follows(difference, one, flow)), None)
        first = difference.first
        if reach(difference) is Reach.LABEL and first is not None and first.layer >= 0:
            named.setdefault(flow.one(first.layer), []).append(len(placed))
        else:
            others.append(len(placed))
        if group is None:
            group = len(groups)
            groups.append((difference, []))
        else:
            groups[group][1].append(difference)
        placed.append((difference, group))
    return groups


def stage(difference: Difference) -> Stage:
    """When a difference comes about."""
    if difference.check in ("outputs", "masks"):
        if difference.path.startswith("layers"):
            return Stage.SYMBOLIC
        return Stage.TRAINING_RUN if difference.path.startswith("training") else Stage.INFERENCE
    check = CHECKS.get(difference.check)
    return aspect_of(difference).stage or (check.stage if check else Stage.AGAIN)


def reach(difference: Difference) -> Reach:
    """How far a difference can reach."""
    return Reach.LABEL if difference.severity is Severity.NAME else aspect_of(difference).reaches


def _turn(difference: Difference, flow: Flow) -> tuple[int, int, int, int, bool, bool, str, str]:
    # By what it is, never by where it stands in a list: causes must not depend on the order of the checks.
    at, first = stage(difference), difference.first
    turn = aspect_of(difference).turn
    if at not in _AT_REST:
        turn = turn if at is Stage.UNTOUCHED and turn is Turn.LATE else Turn.USUAL
    depth = first.name.count("/") if at in _AT_REST and first else 0
    if at is Stage.STRUCTURE and difference.aspect not in ("kind", "trainable"):
        depth = -depth  # a setting of a layer shows in the config of what holds it
    at_end = ".outputs[" in difference.path and ".steps[" not in difference.path
    return at, turn, depth, flow.time(first), difference.check != "masks", at_end, difference.path, difference.aspect


def follows(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether the later of two differences can be explained by the earlier one."""
    before, now = stage(earlier), stage(later)
    if before is Stage.MADE:
        return False
    for link in _links(earlier.aspect, later.aspect):
        if link.where(earlier, later, flow) and _shows_at(link.spread, earlier.first, later.first, flow):
            return True
    if reach(later) > reach(earlier):
        return False
    if reach(earlier) is Reach.LABEL:
        return flow.related(earlier.first, later.first)
    if now in _AT_REST:
        shown = set(aspect_of(earlier).changes).intersection((*aspect_of(later).shows, Thing.OBJECTS))
        return any(_shows_at(thing.spread, earlier.first, later.first, flow) for thing in shown)
    if before not in _COMES_OF.get(now, ()):
        return False
    if now is not Stage.AGAIN and not _is_computed_from(later, earlier, now):
        return False
    everywhere = now is Stage.TRAINED or (before is Stage.WEIGHTS and now in _RUNS)
    spread = Spread.ANYWHERE if everywhere else Spread.DOWNSTREAM
    return _shows_at(spread, earlier.first, later.first, flow)


def _is_computed_from(later: Difference, earlier: Difference, now: Stage) -> bool:
    """Whether what was seen in a run, of a clone or of the original, can come of the cause at all."""
    cause, effect = aspect_of(earlier), aspect_of(later)
    if stage(earlier) is Stage.UNTOUCHED is now:
        return later.path.startswith("original.inference")  # else it was seen before anything ran
    return not cause.quiet or bool(set(cause.changes).intersection(effect.shows))


@functools.cache
def _links(cause: str, effect: str) -> tuple[Link, ...]:
    """The links from an aspect to another."""
    links = (link for check in CHECKS.values() for link in check.links)
    return tuple(link for link in links if _is_among(cause, link.cause) and _is_among(effect, link.effect))


def _is_among(aspect: str, patterns: str) -> bool:
    return any(fnmatchcase(aspect, each) for each in patterns.split("|"))


def _shows_at(spread: Spread, one: Place | None, other: Place | None, flow: Flow) -> bool:
    """Whether what changes at one place can show at the other. What is not known to be anywhere can be everywhere."""
    if spread is Spread.ANYWHERE or one is None or other is None or _is_new(one) or _is_new(other):
        return True
    match spread:
        case Spread.HERE:
            return flow.one(one.layer) == flow.one(other.layer)
        case Spread.OUTWARDS:
            return other.container and other.layer >= 0 and one.layer != other.layer and flow.related(one, other)
        case Spread.AROUND:
            return flow.related(one, other)
        case Spread.DOWNSTREAM:
            return flow.reaches(one, other)
        case _:
            return flow.reaches(other, one)


def _is_new(place: Place) -> bool:
    """Whether the original has no such layer."""
    return place.layer < 0 and not place.container
