"""Which of many differences are causes, and which merely follow from another.

Differences come about in stages: when a clone is made, at rest, in the original after cloning, when both are run,
when they are trained, and in further use. No difference follows from one of a later stage.

1. At rest, a difference is a fact of a layer. What is derived at a layer follows from the first fact that differs
   there, in the order of the table of aspects; so does what holds the layer. What was chosen follows from nothing there
   but that the layer is another one.
2. What a run shows follows from what is upstream of it, at rest or in the run.
3. A name explains names only, and what is quiet explains no number.
4. An exception follows from what is upstream of the layer that was being called, or that the message names, but never
   from a flag. Where no layer is known, it follows from what changes the tensors of a model, and from no setting.
"""

from __future__ import annotations

from collections.abc import Sequence

from clonediff.harness.trials.checks import ASPECTS, CHECKS, Stage, aspect_of
from clonediff.harness.trials.checks.aspects import ARGUMENTS
from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Difference, Place, Severity

_CALL_PARTS = ("call", *ARGUMENTS)
_END_PARTS = ("input", "output", "input structure", "output structure", "config")
_RUNS = {"": 0, "inference": 1, "training": 2}


def roots(flow: Flow, differences: Sequence[Difference]) -> list[list[Difference]]:
    """The causes among differences, each followed by what comes of it, in the order in which they come about."""
    groups: list[list[Difference]] = []
    for difference in sorted(differences, key=lambda difference: _sort_key(difference, flow)):
        explaining = (group for group in groups if any(follows(difference, earlier, flow) for earlier in group))
        group = next(explaining, None)
        if group is None:
            groups.append([difference])
        else:
            group.append(difference)
    return groups


def _sort_key(difference: Difference, flow: Flow) -> tuple[object, ...]:
    """The order in which differences come about: by stage, then names last at rest, then as the layers run."""
    stage, path = _stage(difference), difference.path
    is_flag = difference.part == "trainable"  # a layer is frozen with those in it
    time = flow.begins(difference.first) if is_flag else flow.time(difference.first)
    if stage in (Stage.AT_REST, Stage.UNTOUCHED):
        row = aspect_of(difference)
        rank, late = (row.role != "another", ASPECTS.index(row)), row.role not in ("another", "chosen")
        where = (True, rank, time) if _is_name(difference) else (False, late, time, rank)
        return stage, *where, path, difference.aspect
    run = _RUNS.get(difference.run, 1) if difference.model == "clone" else 1
    return stage, run, time, difference.part != "mask", not difference.in_step, path, difference.aspect


def follows(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether the later of two differences can be explained by the earlier one."""
    before, now, source, place = _stage(earlier), _stage(later), _where(earlier), _where(later)
    if _is_name(earlier):
        return _is_name(later) and flow.related(source, place)
    if before == Stage.MADE:
        return False
    if before == now == Stage.FURTHER and earlier.check != later.check:
        return False  # checks of further use do not explain each other
    if before == now and now in (Stage.AT_REST, Stage.UNTOUCHED):
        return _is_fact_of(later, earlier, flow)
    if now == Stage.UNTOUCHED or before == Stage.UNTOUCHED:
        # Cloning changes an original through the objects that the clone shares with it.
        return earlier.check == "own" and flow.related(source, place)
    if later.check == "warned" and not (later.raised and later.raised.calling):
        return False
    if later.raised is not None and (place is None or _is_flag(earlier)):
        return _changes_tensors(earlier)
    if before == Stage.AT_REST and not _can_show(later, earlier):
        return False
    if source is None or place is None or _is_new(source) or _is_new(place):
        return True
    return (now == Stage.TRAINED and later.raised is None) or flow.reaches(source, place)


def _where(difference: Difference) -> Place | None:
    """Its place: of an exception, the layer that was being called, or else the one that the message names."""
    called = difference.raised.called if difference.raised is not None else None
    return called or difference.first


def _is_flag(difference: Difference) -> bool:
    return aspect_of(difference).topic == "flag"


def _changes_tensors(earlier: Difference) -> bool:
    """Whether a difference can make any layer raise: a flag, a setting, an attribute or a name cannot."""
    if earlier.part == "config":
        return earlier.severity is Severity.TRAINS  # regularizers and constraints are not called by a layer
    of_tensors = earlier.part in _CALL_PARTS or earlier.severity is Severity.COMPUTES
    is_known = earlier.raised is not None or _stage(earlier) >= Stage.RUNS or aspect_of(earlier).role == "another"
    return of_tensors or is_known


def _can_show(later: Difference, earlier: Difference) -> bool:
    """Whether what was seen in a run can come of a fact at all."""
    role = aspect_of(earlier).role
    if role == "compiled":
        return later.run == "trained"
    if role == "quiet":
        return later.check == "again"
    if earlier.check != "structure" or _stage(later) != Stage.RUNS:
        return True
    if earlier.part == "trainable":
        return later.run == "training"
    return earlier.severity is not Severity.TRAINS or later.raised is not None


def _is_fact_of(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether a fact can come of another: of the same layer, or of one in it."""
    source, place, role, later_role = earlier.first, later.first, aspect_of(earlier).role, aspect_of(later).role
    is_count = earlier.part == "call" and earlier.change == "count"
    if _is_name(later) and role != "another" and not is_count:
        return False
    if later.check == earlier.check == "own" and place is None:
        return True  # what the clone shares with the original makes either depend on the other
    if later.raised is not None and (place is None or _is_flag(earlier)):
        return _changes_tensors(earlier)
    if source is None or place is None or _is_new(source) or _is_new(place):
        return (source is None or place is None) and "own" not in (earlier.check, later.check)
    if role == "compiled":
        return later_role == "compiled"
    if _is_flag(earlier):
        # A layer is frozen with what it holds, but a model has a flag of its own.
        of_flags = _is_flag(later) or (later.part == "weight" and later.change == "order")
        of_layers = later.part != "trainable" or min(source.layer, place.layer) >= 0
        return of_flags and of_layers and flow.related(source, place)
    if role == "chosen" and earlier.part in _CALL_PARTS and _is_of_tensors(later):
        return flow.reaches(source, place)  # a layer that is called otherwise gives other tensors to those after it
    if flow.identity(source.layer) == flow.identity(place.layer):
        if later.check == "own":
            return role == "another" or earlier.check == "own"
        return role == "another" or later_role != "chosen"
    if place.layer < 0:
        return later_role not in ("chosen", "compiled") and _is_inherited_by_model(later, earlier)
    return place.container and flow.holds(place.layer, source.layer)


def _is_of_tensors(difference: Difference) -> bool:
    return aspect_of(difference).topic == "ends" or difference.change in ("tensor", "shape")


def _is_inherited_by_model(later: Difference, earlier: Difference) -> bool:
    """Whether a fact of a model follows from one of its layers: of the same thing, or of the model's ends."""
    topic, earlier_topic = aspect_of(later).topic, aspect_of(earlier).topic
    is_same = later.change is earlier.change and later.name == earlier.name
    if is_same or earlier.part == "layer" or topic == earlier_topic != "":
        return True
    return topic == "ends" and (earlier.part in _END_PARTS or earlier_topic == "dtype")


def _stage(difference: Difference) -> Stage:
    return CHECKS[difference.check].stage


def _is_name(difference: Difference) -> bool:
    return difference.severity is Severity.NAME


def _is_new(place: Place) -> bool:
    """Whether the original has no such layer."""
    return place.layer < 0 and not place.container
