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

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from clonediff.harness.trials.checks.aspects import Word, aspect_of, row_of
from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Difference, Place, Severity

_MADE, _AT_REST, _UNTOUCHED, _RUNS, _TRAINED, _FURTHER = range(6)
_STAGES = {
    "made": _MADE,
    **dict.fromkeys(("own", "sharing", "structure", "weights"), _AT_REST),
    "untouched": _UNTOUCHED,
    **dict.fromkeys(("outputs", "masks"), _RUNS),
    "training": _TRAINED,
}
"""The stage at which each check looks at the models; all other checks look at their further use."""


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
    is_flag = difference.aspect == "trainable"  # a layer is frozen with those in it
    time = flow.begins(difference.first) if is_flag else flow.time(difference.first)
    if stage in (_AT_REST, _UNTOUCHED):
        rank, row = row_of(difference)
        late = row.word not in (Word.ANOTHER, Word.CHOSEN)
        where = (True, rank, time) if _is_name(difference) else (False, late, time, rank)
        return stage, *where, path, difference.aspect
    run = next((number for number, part in enumerate(("layers", "inference", "training")) if path.startswith(part)), 1)
    at_end = ".outputs[" in path and ".steps[" not in path
    return stage, run, time, difference.check != "masks", at_end, path, difference.aspect


def follows(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether the later of two differences can be explained by the earlier one."""
    before, now, source, place = _stage(earlier), _stage(later), _where(earlier), _where(later)
    if _is_name(earlier):
        return _is_name(later) and flow.related(source, place)
    if before == _MADE:
        return False
    if before == now == _FURTHER and earlier.check != later.check:
        return False  # checks of further use do not explain each other
    if before == now and now in (_AT_REST, _UNTOUCHED):
        return _is_fact_of(later, earlier, flow)
    if now == _UNTOUCHED or before == _UNTOUCHED:
        # Cloning changes an original through the objects that the clone shares with it.
        return earlier.check == "own" and flow.related(source, place)
    if later.check == "warned" and not (later.raised and later.raised.calling):
        return False
    if later.raised is not None and (place is None or _is_flag(earlier)):
        return _changes_tensors(earlier)
    if before == _AT_REST and not _can_show(later, earlier):
        return False
    if source is None or place is None or _is_new(source) or _is_new(place):
        return True
    return (now == _TRAINED and later.raised is None) or flow.reaches(source, place)


def _where(difference: Difference) -> Place | None:
    """Its place: of an exception, the layer that was being called, or else the one that the message names."""
    called = difference.raised.called if difference.raised is not None else None
    return called or difference.first


def _is_flag(difference: Difference) -> bool:
    return difference.aspect.endswith("trainable")


def _changes_tensors(earlier: Difference) -> bool:
    """Whether a difference can make any layer raise: a flag, a setting, an attribute or a name cannot."""
    if earlier.aspect.startswith("config."):
        return earlier.severity is Severity.TRAINS  # regularizers and constraints are not called by a layer
    of_tensors = earlier.aspect.startswith("call") or earlier.severity is Severity.COMPUTES
    is_known = earlier.raised is not None or _stage(earlier) >= _RUNS or aspect_of(earlier).word is Word.ANOTHER
    return of_tensors or is_known


def _can_show(later: Difference, earlier: Difference) -> bool:
    """Whether what was seen in a run can come of a fact at all."""
    word = aspect_of(earlier).word
    if word is Word.COMPILED:
        return later.path.startswith("trained")
    if word is Word.QUIET:
        return later.check == "again"
    if earlier.check != "structure" or _stage(later) != _RUNS:
        return True
    if earlier.aspect == "trainable":
        return later.path.startswith("training")
    return earlier.severity is not Severity.TRAINS or later.raised is not None


def _is_fact_of(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether a fact can come of another: of the same layer, or of one in it."""
    source, place, word, later_word = earlier.first, later.first, aspect_of(earlier).word, aspect_of(later).word
    if _is_name(later) and word is not Word.ANOTHER and earlier.aspect != "call count":
        return False
    if later.check == earlier.check == "own" and place is None:
        return True  # what the clone shares with the original makes either depend on the other
    if later.raised is not None and (place is None or _is_flag(earlier)):
        return _changes_tensors(earlier)
    if source is None or place is None or _is_new(source) or _is_new(place):
        return (source is None or place is None) and "own" not in (earlier.check, later.check)
    if word is Word.COMPILED:
        return later_word is Word.COMPILED
    if earlier.aspect.endswith("trainable"):
        # A layer is frozen with what it holds, but a model has a flag of its own.
        of_flags = "trainable" in later.aspect or later.aspect == "weight order"
        of_layers = later.aspect != "trainable" or min(source.layer, place.layer) >= 0
        return of_flags and of_layers and flow.related(source, place)
    if later.aspect == earlier.aspect and later.aspect.startswith("config."):
        return flow.related(source, place)  # the config of what holds a layer has that of the layer
    if fnmatchcase(later.aspect, "call.* extra"):
        return flow.reaches(source, place)  # such as a mask, which Keras adds for what the layer is called on
    if word is Word.CHOSEN and earlier.aspect.startswith("call") and _is_of_tensors(later.aspect):
        return flow.reaches(source, place)  # a layer that is called otherwise gives other tensors to those after it
    if flow.identity(source.layer) == flow.identity(place.layer):
        if later.check == "own":
            return word is Word.ANOTHER or earlier.check == "own"
        return word is Word.ANOTHER or later_word is not Word.CHOSEN
    if place.layer < 0:
        return later_word not in (Word.CHOSEN, Word.COMPILED) and _is_inherited_by_model(later, earlier)
    return place.container and flow.holds(place.layer, source.layer)


def _is_of_tensors(aspect: str) -> bool:
    """Whether an aspect is of the tensors that a layer or a model takes and gives."""
    return aspect.startswith(("attribute.input", "attribute.output")) or aspect.endswith((" tensor", " shape"))


def _is_inherited_by_model(later: Difference, earlier: Difference) -> bool:
    """Whether a fact of a model follows from a fact of one of its layers.

    It does if both are of one thing ("attribute.compute_dtype" and "config.dtype"), if the layer is another one, or if
    it is of the model's inputs or outputs.
    """
    things = {re.split(r"[ ._]", difference.aspect)[-1] for difference in (later, earlier)}
    if len(things) == 1 or earlier.aspect.startswith("layer "):
        return True
    of_ends = later.aspect.startswith(("attribute.input", "attribute.output"))
    return of_ends and earlier.aspect.startswith(("input", "output", "config"))


def _stage(difference: Difference) -> int:
    return _STAGES.get(difference.check, _FURTHER)


def _is_name(difference: Difference) -> bool:
    return difference.severity is Severity.NAME


def _is_new(place: Place) -> bool:
    """Whether the original has no such layer."""
    return place.layer < 0 and not place.container
