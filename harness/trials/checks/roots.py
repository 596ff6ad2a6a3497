"""Finds causes: the differences from which others follow.

Each difference belongs to a stage: cloning, static structure, the original after cloning, runs, training, later use.
A difference does not follow from differences of later stages.

1. In the static structure, derived differences in a layer and its holders follow from the first difference in the
   layer, in the order of `ASPECTS`. A difference in a chosen value follows only if the layer itself was replaced.
2. A difference in a run follows from differences upstream, in the static structure or the run.
3. From a rename, only renames follow; from a quiet difference, no difference in numbers does.
4. An exception follows from differences upstream of the layer that was being called, or is named in the message; if
   neither is known, only from differences that change tensors. It never follows from a flag.
"""

from __future__ import annotations

from collections.abc import Sequence

from clonediff.harness.trials.checks import ASPECTS, CHECKS, Stage, aspect_of
from clonediff.harness.trials.checks.aspects import ARGUMENTS
from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Difference, Place, Severity

_CALL_PARTS = ("call", *ARGUMENTS)
_END_PARTS = ("input", "output", "input structure", "output structure", "config")
_RUN_ORDER = {"": 0, "inference": 1, "training": 2}


def group_by_cause(flow: Flow, differences: Sequence[Difference]) -> list[list[Difference]]:
    """Group differences by cause, in causal order, the cause first."""
    groups: list[list[Difference]] = []
    for difference in sorted(differences, key=lambda difference: _sort_key(difference, flow)):
        explanations = (group for group in groups if any(follows(difference, earlier, flow) for earlier in group))
        group = next(explanations, None)
        if group is None:
            groups.append([difference])
        else:
            group.append(difference)
    return groups


def _sort_key(difference: Difference, flow: Flow) -> tuple[object, ...]:
    """The causal order: by stage, static renames last, then by start time."""
    stage, path = _stage(difference), difference.path
    is_flag = difference.part == "trainable"  # freezing a layer freezes its sublayers
    time = flow.start_time(difference.first) if is_flag else flow.time(difference.first)
    if stage in (Stage.STRUCTURE, Stage.ORIGINAL):
        row = aspect_of(difference)
        rank = (row.role != "replaced", ASPECTS.index(row))
        is_late = row.role not in ("replaced", "chosen")
        order = (True, rank, time) if _is_rename(difference) else (False, is_late, time, rank)
        return stage, *order, path, difference.aspect
    run = _RUN_ORDER.get(difference.run, 1) if difference.model == "clone" else 1
    return stage, run, time, difference.part != "mask", not difference.in_step, path, difference.aspect


def follows(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether a `later` difference follows from an `earlier` one."""
    earlier_stage, later_stage = _stage(earlier), _stage(later)
    source, place = _place_of(earlier), _place_of(later)
    if _is_rename(earlier):
        return _is_rename(later) and flow.are_related(source, place)
    if earlier_stage == later_stage == Stage.LATER_USE and earlier.check != later.check:
        return False  # these checks do not explain each other
    if earlier_stage == later_stage and later_stage in (Stage.STRUCTURE, Stage.ORIGINAL):
        return _follows_statically(later, earlier, flow)
    if later_stage == Stage.ORIGINAL or earlier_stage == Stage.ORIGINAL:
        # Cloning can change an original only by an object that the clone shares.
        return earlier.check == "own" and flow.are_related(source, place)
    if later.check == "warned" and not (later.raised and later.raised.calling):
        return False
    if later.raised is not None and (place is None or _is_flag(earlier)):
        return _changes_tensors(earlier)
    if earlier_stage == Stage.STRUCTURE and not _can_affect(later, earlier):
        return False
    if source is None or place is None or _is_new(source) or _is_new(place):
        return True
    return (later_stage == Stage.TRAINING and later.raised is None) or flow.reaches(source, place)


def _place_of(difference: Difference) -> Place | None:
    """The layer whose call raised, or else the place of the difference."""
    called = difference.raised.called if difference.raised is not None else None
    return called or difference.first


def _is_flag(difference: Difference) -> bool:
    return aspect_of(difference).topic == "flag"


def _changes_tensors(earlier: Difference) -> bool:
    """Whether a difference, such as in a call, can make any layer raise."""
    if earlier.part == "config":
        return earlier.severity is Severity.TRAINING  # layers do not call regularizers and constraints
    affects_tensors = earlier.part in _CALL_PARTS or earlier.severity is Severity.OUTPUT
    is_observed = earlier.raised is not None or _stage(earlier) >= Stage.RUNS or aspect_of(earlier).role == "replaced"
    return affects_tensors or is_observed


def _can_affect(later: Difference, earlier: Difference) -> bool:
    """Whether `earlier`, in the static structure, can have an effect such as `later`."""
    role = aspect_of(earlier).role
    if role == "compiled":
        return later.run == "trained"
    if role == "quiet":
        return later.check == "again"
    if earlier.check != "structure" or _stage(later) != Stage.RUNS:
        return True
    if earlier.part == "trainable":
        return later.run == "training"
    return earlier.severity is not Severity.TRAINING or later.raised is not None


def _follows_statically(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether a static difference follows from one in the layer or a sublayer."""
    source, place = earlier.first, later.first
    role, later_role = aspect_of(earlier).role, aspect_of(later).role
    is_count = earlier.part == "call" and earlier.change == "count"
    if _is_rename(later) and role != "replaced" and not is_count:
        return False
    if later.check == earlier.check == "own" and place is None:
        return True  # models that share objects are dependent
    if later.raised is not None and (place is None or _is_flag(earlier)):
        return _changes_tensors(earlier)
    if source is None or place is None or _is_new(source) or _is_new(place):
        return (source is None or place is None) and "own" not in (earlier.check, later.check)
    if role == "compiled":
        return later_role == "compiled"
    if _is_flag(earlier):
        # Freezing a layer freezes its sublayers, but a model has its own flag.
        is_about_flags = _is_flag(later) or (later.part == "weight" and later.change == "order")
        is_about_layers = later.part != "trainable" or min(source.layer, place.layer) >= 0
        return is_about_flags and is_about_layers and flow.are_related(source, place)
    if role == "chosen" and earlier.part in _CALL_PARTS and _is_about_tensors(later):
        return flow.reaches(source, place)  # other calls pass other tensors on
    if flow.first_place(source.layer) == flow.first_place(place.layer):
        if later.check == "own":
            return role == "replaced" or earlier.check == "own"
        return role == "replaced" or later_role != "chosen"
    if place.layer < 0:
        return later_role not in ("chosen", "compiled") and _is_inherited_by_model(later, earlier)
    return place.container and flow.holds(place.layer, source.layer)


def _is_about_tensors(difference: Difference) -> bool:
    return aspect_of(difference).topic == "ends" or difference.change in ("tensor", "shape")


def _is_inherited_by_model(later: Difference, earlier: Difference) -> bool:
    """Whether a model's difference follows from one of its layers."""
    topic, earlier_topic = aspect_of(later).topic, aspect_of(earlier).topic
    is_same = later.change is earlier.change and later.name == earlier.name
    if is_same or earlier.part == "layer" or topic == earlier_topic != "":
        return True
    return topic == "ends" and (earlier.part in _END_PARTS or earlier_topic == "dtype")


def _stage(difference: Difference) -> Stage:
    return CHECKS[difference.check].stage


def _is_rename(difference: Difference) -> bool:
    return difference.severity is Severity.NAME


def _is_new(place: Place) -> bool:
    """Whether a place is a layer that only the clone has."""
    return place.layer < 0 and not place.container
