"""Which of many differences are causes, and which merely follow from another.

Owns the rules of what can lead to what. They are cautious: a difference follows from an earlier one only where the
graph lets the one reach the other, and where the one is of a kind that can lead to the other: a name that changed
explains no number, a lost regularizer no output.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Sequence

from clonediff.harness.subjects.observation import Observation
from clonediff.harness.trials.checks.flow import Flow
from clonediff.reports.records import Cost, Difference


class Effect(enum.IntEnum):
    """How far a difference can reach."""

    LABEL = 0
    TRAINING = 1
    BEHAVIOUR = 2


class Stage(enum.IntEnum):
    """When in the life of a clone a difference comes about; nothing follows from what comes later."""

    MADE = 0
    OWN = 1
    SHARING = 2
    STRUCTURE = 3
    WEIGHTS = 4
    UNTOUCHED = 5
    SYMBOLIC = 6
    INFERENCE = 7
    TRAINING_RUN = 8
    TRAINED = 9
    SAVED = 10
    AGAIN = 11


_AT_REST = (Stage.OWN, Stage.SHARING, Stage.STRUCTURE, Stage.WEIGHTS)
_RUNS = (Stage.SYMBOLIC, Stage.INFERENCE, Stage.TRAINING_RUN)
_BY_CHECK = {
    "made": Stage.MADE,
    "own": Stage.OWN,
    "sharing": Stage.SHARING,
    "structure": Stage.STRUCTURE,
    "weights": Stage.WEIGHTS,
    "untouched": Stage.UNTOUCHED,
    "training": Stage.TRAINED,
    "saved": Stage.SAVED,
    "again": Stage.AGAIN,
}
_FOLLOW_ENDS = ("output count", "output order", "input count", "input order", "layer order")
_TRAINING = (
    "trainable",
    "_regularizer",
    "_constraint",
    "compiled",
    "not fresh",
    "first value",
    "first value set",
    "losses count",
    "losses value",
)
_CHANGES_LAYERS = ("kind", "layer missing", "layer extra", "call count")
_MOVES_WEIGHTS = (*_CHANGES_LAYERS, "layer order")
_REWIRES = (*_MOVES_WEIGHTS, "call order")
_CALL_FORM = ("call.args type",)
_MAKES_WHEN_BUILT = ("MultiHeadAttention", "GroupedQueryAttention")
"""What makes the layers in it for the rank of what it is called on."""
_BUILT_FOR_ITS_FIRST_CALL = ("Normalization", "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")
"""What knows how many dimensions it is called on from its first call (normalization.py:189, base_merge.py:139)."""
_AS_INPUTS_ARE = ("output sparse", "output ragged")
"""What operations give that are called on such tensors."""
_LOSES_TENSORS = ("call.args missing", "call.kwargs missing")
_OTHER_TENSORS = (*_LOSES_TENSORS, "call.args tensor", "call.kwargs tensor")
_INPUTS = ("input name", "input shape", "input dtype", "input optional", "input sparse", "input ragged")
_GIVERS = ("giver missing", "giver extra")
_MASKING = "supports_masking"
_AUTOCAST = "attribute.autocast"
_CASTS = (_AUTOCAST, "policy")
_EARLY = (_MASKING, *_CASTS)
_SIDES = (_MASKING, "policy", "role", "attribute.", "call outputs", "layer order", *_INPUTS)
_COMES_FIRST = (*_LOSES_TENSORS, "config.", "output structure", "input structure", "weight missing", "weight extra")
_NAMES = (" name", " scope", " alone")
_BEGINNINGS = "first value"
_SHAPES = ("config.", "call.", "kind", "policy", _AUTOCAST, "input shape", "input dtype")
_WHOLE_LAYERS = ("kind", "layer missing", "layer extra", "layer shared", "layer unshared", "layer merged")
_OUTSIDE = '{"outside"'
_STRUCTURAL = ("structure", "count", "order")
_OPTIONAL = ("input optional", "config.optional")
_REGULARIZES = ":_loss_for_variable"
_ASIDE = ("layer order", "call order", "compiled", "role", *_INPUTS[3:], "config.optional")


def stage(difference: Difference) -> Stage:
    """The stage of a difference, by its check and its path."""
    if difference.check in ("outputs", "masks"):
        if difference.path.startswith("layers"):
            return Stage.SYMBOLIC
        return Stage.TRAINING_RUN if difference.path.startswith("training") else Stage.INFERENCE
    if difference.check == "own" and difference.aspect.startswith(_BEGINNINGS):
        return Stage.WEIGHTS  # the config has to do with it
    return _BY_CHECK.get(difference.check, Stage.AGAIN)


def effect(difference: Difference) -> Effect:
    """How far a difference can reach."""
    if difference.rank is Cost.NAME:
        return Effect.LABEL
    trains = difference.aspect.endswith(_TRAINING) or difference.aspect.startswith("compiled")
    if trains or difference.check == "training":
        return Effect.TRAINING
    return Effect.BEHAVIOUR


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
        if effect(difference) is Effect.LABEL and first is not None and first.layer >= 0:
            named.setdefault(flow.one(first), []).append(len(placed))
        else:
            others.append(len(placed))
        if group is None:
            group = len(groups)
            groups.append((difference, []))
        else:
            groups[group][1].append(difference)
        placed.append((difference, group))
    return groups


def _turn(difference: Difference, flow: Flow) -> tuple[int, int, int, int, bool, bool, str, str]:
    # By what it is, never by where it stands in a list: causes must not depend on the order of the checks.
    at, side, depth, aspect = stage(difference), 0, 0, difference.aspect
    if at in _AT_REST:
        # "" fits all, but what has a place of its own behind it.
        kinds: tuple[tuple[str, ...], ...] = (_WHOLE_LAYERS, _CALL_FORM, _COMES_FIRST, _EARLY, ("",), _GIVERS, _SIDES)
        turns = [turn for turn, start in enumerate(kinds) if aspect.startswith(start)]
        side = turns[-1] if turns[-1] > 4 and aspect not in _EARLY else turns[0]
        depth = difference.first.name.count("/") if difference.first else 0
        # A layer is shared with what it holds, or frozen with it; a setting of a layer shows in the config of what
        # holds it.
        depth = -depth if at is Stage.STRUCTURE and aspect not in ("kind", "trainable") else depth
    if aspect == "outbound nodes":
        side = 1  # what is called once more uses what others give
    if aspect.startswith("copied"):
        side = 8  # whatever else is wrong with a weight, such as its dtype, shows in what is put into it
    if difference.path == "set_weights":
        side = 9  # whatever is wrong with weights, they are set after that, be it a layer's that a model inside holds
    if at is Stage.UNTOUCHED and aspect.startswith("call."):
        side = 1  # calls that used an input that is another now
    at_end = ".outputs[" in difference.path and ".steps[" not in difference.path
    time = flow.time(difference.first)
    return at, side, depth, time, difference.check != "masks", at_end, difference.path, aspect


def follows(later: Difference, earlier: Difference, flow: Flow) -> bool:
    """Whether the later of two differences can be explained by the earlier one."""
    before, now = stage(earlier), stage(later)
    if before is Stage.MADE or earlier.aspect.startswith(_BEGINNINGS):
        return False  # before anything runs, the weights of the original are copied
    if (
        earlier.aspect == "layer shared"
        and _of_an_input(earlier)
        and (_of_an_input(later) or later.aspect.startswith(("input ", "outbound nodes")))
    ):
        return True  # a clone on other inputs than it was given
    of_a_weight = "regularizer" in earlier.aspect and "activity_regularizer" not in earlier.aspect
    if of_a_weight and later.raised is not None and later.raised.frame.endswith(_REGULARIZES):
        return flow.reaches(earlier.first, later.first) or later.first is None or later.first.layer < 0
    if (earlier.aspect, later.aspect) == ("trainable", "weight order"):
        return flow.trained_first()  # as before Keras 3 a model lists its weights
    reach, needed = effect(earlier), effect(later)
    if needed > reach and not (now is Stage.TRAINING_RUN and _thawed(earlier)):
        return False
    if reach is Effect.LABEL:
        return flow.related(earlier.first, later.first)
    if earlier.aspect in _OPTIONAL and later.aspect.endswith("raises") and "None" in later.found:
        return True  # what can be left out in the original cannot in the clone
    if now in (Stage.OWN, Stage.SHARING, Stage.STRUCTURE):
        return _at_rest(later, earlier, before, now, flow)
    if now is Stage.WEIGHTS:
        return _weights(later, earlier, before, flow)
    if now is Stage.UNTOUCHED:
        in_run = later.path.startswith("original.inference")
        of_a_flag = earlier.aspect == "trainable" and later.aspect.endswith("trainable")
        if earlier.aspect == "input tensor" and later.aspect.startswith("call."):
            return True
        if later.aspect == "outbound nodes" and earlier.aspect == "inbound nodes":
            return flow.reaches(later.first, earlier.first)
        if before is Stage.UNTOUCHED and not in_run:
            return of_a_flag and flow.related(earlier.first, later.first)
        return before in (Stage.OWN, Stage.UNTOUCHED) and flow.reaches(earlier.first, later.first)
    if now in _RUNS:
        return _in_a_run(later, earlier, before, flow)
    return _afterwards(later, earlier, before, now, flow)


def _at_rest(later: Difference, earlier: Difference, before: Stage, now: Stage, flow: Flow) -> bool:
    if before in (Stage.OWN, Stage.SHARING):
        if before is now and not earlier.aspect.startswith("layer"):
            return False
        return flow.related(earlier.first, later.first)
    one, two = earlier.aspect, later.aspect
    if one in ("layer missing", "layer extra") and two in ("layer missing", "layer extra"):
        return False if one == two else _siblings(earlier, later)
    if two == "giver missing":
        return one.startswith("call.") and flow.reaches(later.first, earlier.first)
    if two == "giver extra":
        return one.startswith("call.")
    if one in _GIVERS:
        return two == "layer order"
    if one in (_MASKING, "config.mask") and two.startswith("call.kwargs"):
        # Keras calls a model with the masks of its inputs, and a Sequential its layers with the masks before them.
        return later.path.endswith("['mask']") and flow.reaches(earlier.first, later.first)
    if two == "call.kwargs extra" and one in _LOSES_TENSORS and _of_one_call(earlier, later):
        return True  # a call with less in it gets its mask from Keras
    if one == "layer extra" and two == "call count":
        return _siblings(earlier, later, of_a_kind=True)
    if one.startswith(("output structure", "output order", "input structure")) and two in _FOLLOW_ENDS:
        return True
    if one == "layer missing" and two.startswith("call."):
        return flow.reaches(earlier.first, later.first)
    if "tensor" in two or two in ("layer order", "input count", "output count", "output order"):
        if one in _OTHER_TENSORS and two == "layer order":
            return flow.reaches(earlier.first, later.first)
        return one in _REWIRES and (flow.reaches(earlier.first, later.first) or earlier.first is None or _new(earlier))
    if one in _CALL_FORM and later.first is not None and later.first.inside in _MAKES_WHEN_BUILT:
        return two.startswith("config.") and flow.reaches(earlier.first, later.first)
    if one in (*_CASTS, "config.dtype") and two.startswith("call.kwargs") and _is_written_uncast(later):
        return flow.reaches(earlier.first, later.first)
    if one in _LOSES_TENSORS and two == "call count":
        # Who gave a tensor that is lost may be called no more.
        return flow.reaches(later.first, earlier.first)
    if two in _AS_INPUTS_ARE and one == two.replace("output ", "config."):
        return flow.reaches(earlier.first, later.first)
    if two in ("output shape", "output dtype"):
        return one.startswith((*_SHAPES, *_CHANGES_LAYERS)) and flow.reaches(earlier.first, later.first)
    if not flow.related(earlier.first, later.first):
        return False
    if one == "trainable":
        return two == "trainable" and not _of_a_model(earlier) and not _of_a_model(later)
    if earlier.first is not None and later.first is not None and earlier.first.layer != later.first.layer:
        # What a wrapper's config says of the layer in it has been said of that layer.
        return later.first.container and later.first.layer >= 0 and two.startswith(("config.", "attribute."))
    if two.startswith(("input ", "output ")):
        setting = one.removeprefix("config.").removeprefix("input ").replace("batch_shape", "shape")
        return setting == two.partition(" ")[2]
    if one == "kind" or two.startswith(one + "_"):
        return True
    return one.startswith("config.") and two.startswith(_SIDES)


def _weights(later: Difference, earlier: Difference, before: Stage, flow: Flow) -> bool:
    copying = later.aspect.startswith("copied") or later.path == "set_weights"
    if before is Stage.WEIGHTS:
        return copying and not earlier.aspect.startswith("state")
    if copying and before in _AT_REST:
        return earlier.aspect in _MOVES_WEIGHTS or "shared" in earlier.aspect or "merged" in earlier.aspect
    if later.aspect.endswith("order"):
        return before is Stage.STRUCTURE and earlier.aspect in _REWIRES
    if earlier.aspect in _ASIDE:
        return False
    if before in _AT_REST:
        if earlier.aspect == "trainable" and later.aspect != "weight trainable":
            return False
        if later.aspect.endswith(_NAMES) and not earlier.aspect.startswith((*_WHOLE_LAYERS, "name", "weight")):
            return False
        if later.aspect.startswith(_BEGINNINGS) and (
            not earlier.aspect.startswith(("config.", "kind", *_WHOLE_LAYERS)) or effect(earlier) is Effect.TRAINING
        ):
            return False
        return flow.related(earlier.first, later.first)
    return False


def _in_a_run(later: Difference, earlier: Difference, before: Stage, flow: Flow) -> bool:
    if before is Stage.WEIGHTS and (earlier.path == "set_weights" or earlier.aspect.startswith(("copied", "weight"))):
        return earlier.aspect != "weight trainable" or flow.reaches(earlier.first, later.first)
    if earlier.aspect.endswith(".seed") and stage(later) is Stage.TRAINING_RUN:
        return True  # a layer without a seed takes one from the framework, and the next layer gets another
    if earlier.aspect == _MASKING:  # it shows in masks first, and they in everything else
        return later.check == "masks" and flow.reaches(earlier.first, later.first)
    if earlier.aspect == "call order" and later.aspect in ("shape", "raises") and later.first is not None:
        return later.first.kind in _BUILT_FOR_ITS_FIRST_CALL and flow.related(earlier.first, later.first)
    if later.aspect.startswith(_STRUCTURAL):
        return before in (*_AT_REST, *_RUNS) and earlier.aspect.split()[0] in ("output", "call", "config.", "count")
    if earlier.aspect in _ASIDE:
        return later.aspect in ("call order", "order", "step missing", "step extra")
    if later.aspect == "raises" and earlier.found.startswith(_OUTSIDE):
        return True  # in graph mode, what computes from a tensor of the original asks for the original's inputs
    if later.first is None or earlier.first is None:
        return before in _AT_REST
    if before in _AT_REST:
        return flow.reaches(earlier.first, later.first) or _new(earlier)
    return before in _RUNS and flow.reaches(earlier.first, later.first)


def _afterwards(later: Difference, earlier: Difference, before: Stage, now: Stage, flow: Flow) -> bool:
    if before is now:
        return now is not Stage.AGAIN or later.first is None or flow.reaches(earlier.first, later.first)
    if before is Stage.UNTOUCHED:
        return now is Stage.AGAIN and flow.related(earlier.first, later.first)
    if earlier.aspect == "call order" and now is Stage.TRAINED and later.aspect.endswith("value"):
        return flow.related(earlier.first, later.first)  # what each call adds to a gradient is added in another order
    if earlier.aspect in (*_ASIDE, _MASKING) and now is not Stage.AGAIN:
        return False
    if _new(earlier) and effect(earlier) is Effect.BEHAVIOUR:
        return True
    if now is Stage.TRAINED:
        return before in _RUNS or earlier.path == "set_weights" or _trains(later, earlier, flow)
    if now is Stage.SAVED and before in _RUNS and later.aspect != "raises":
        return True
    if later.first is None or later.first.layer < 0:
        return before in _AT_REST and effect(earlier) is Effect.BEHAVIOUR
    return before in (*_AT_REST, *_RUNS) and flow.reaches(earlier.first, later.first)


def _trains(later: Difference, earlier: Difference, flow: Flow) -> bool:
    if later.first is None or later.first.layer < 0 or effect(earlier) is Effect.TRAINING:
        return True
    return flow.reaches(earlier.first, later.first)


def _is_written_uncast(noted: Difference) -> bool:
    """Whether Keras 3 writes an argument down, `training` or that there is no mask, only where it casts no tensor."""
    no_mask = noted.path.endswith("['mask']") and {noted.expected, noted.found} == {"nothing", "null"}
    return no_mask or noted.path.endswith("['training']")


def _of_one_call(one: Difference, other: Difference) -> bool:
    first, second = one.first, other.first
    return first is not None and second is not None and (first.layer, first.use) == (second.layer, second.use)


def _siblings(one: Difference, other: Difference, *, of_a_kind: bool = False) -> bool:
    # A layer that is gone, or is called less often, and one that is new: one was put in the place of the other.
    if one.first is None or other.first is None:
        return False
    return not of_a_kind or one.first.kind == other.first.kind


def _thawed(difference: Difference) -> bool:
    # What holds layers computes as they do: it is their own flags, which differ too then, that can show in a run.
    first = difference.first
    return difference.aspect.endswith("trainable") and first is not None and first.layer >= 0 and not first.container


def _of_a_model(difference: Difference) -> bool:
    # Each layer of a model has a flag of its own, which a cloner keeps or loses apart from the model's.
    first = difference.first
    return first is not None and (first.layer < 0 or first.kind in ("Functional", "Model", "Sequential"))


def _of_an_input(difference: Difference) -> bool:
    return difference.first is not None and difference.first.kind == "InputLayer"


def _new(difference: Difference) -> bool:
    return difference.aspect == "layer extra"
