"""8. Original untouched: its nodes, arguments, configs, weights and outputs are as they were before.

"Model cloning is similar to calling a model on new inputs, except that it creates new layers" (`clone_model`): so no
layer of the original is called, and nothing that it gave is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace as replaced

from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Observation
from clonediff.harness.trials.checks import calls, masks, outputs, sharing, structure, weights
from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, computes, loses, trains
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Reach, Spread, Stage, Turn
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.reports.records import Difference

_ASPECTS = Aspects(
    "untouched",
    trains(
        ("layer replaced", "{a} is another object"),
        reach=Reach.BEHAVIOUR,
        any_layer=True,
        shown=Comparison("[id(each) for each in {}._flatten_layers()]"),
    ),
    loses(("inbound nodes", "{a} of it is called once more"), any_layer=True),
    loses(("outbound nodes", "the output of {a} of it is used once more"), turn=Turn.LATE, any_layer=True),
    computes(
        ("weight value", "a weight has another value{inside}"),
        any_layer=True,
        shown=Comparison("model.get_weights()", how="weights"),
    ),
    computes(
        ("input tensor", "an input of a model is another tensor{inside}{at}"),
        any_layer=True,
        shown=Comparison("[id(each._keras_history[0]) for each in {}.inputs]"),
    ),
    trains(("optimizer state", "what the optimizer and the metrics have counted is another"), reach=Reach.BEHAVIOUR),
    loses(("touched", "something in it is another")),
    # Calls that used an input come after that this is another.
    (replaced(each, turn=Turn.LATE, shown=calls.arguments_before) for each in calls.ARGUMENTS),
    *(each.aspects for each in (structure.CHECK, weights.CHECK, sharing.CHECK, outputs.CHECK, masks.CHECK)),
)


def untouched(pair: Pair) -> list[Difference]:
    """Everything in which the original is not what it was once the cloner is done, whether that made a clone or not."""
    original, clone = pair.original, pair.clone
    if original.cloned is not None:
        original = Observation(shape=original.cloned, keeps=original.keeps)
    seen = Observation(shape=clone.original_after or original.shape, copied_weights=original.copied_weights)
    after = Pair(original, Clone(observation=seen))
    differences: list[Difference] = []
    if clone.original_after is not None:
        differences += [each for each in structure.structure(after) if not _is_asked_for(each, original)]
        differences += [*weights.weights(after), *sharing.sharing(after)]
        differences += [*_replaced(after), *_nodes(after), *_values(after)]
        if not differences and not original.keeps:
            first = place(original.shape, -1)
            differences.append(_ASPECTS.differs("touched", "model", "as before", "changed", first))
    if clone.inference_after is not None and original.inference is not None:
        runs = (after, original.inference, clone.inference_after, "inference")
        differences += [*outputs.run_differences(*runs), *masks.mask_differences(*runs)]
    return [replace(difference, check="untouched", path=f"original.{difference.path}") for difference in differences]


def _is_asked_for(difference: Difference, original: Observation) -> bool:
    """Whether a layer holds something else since it is called once more, as whoever keeps it has asked for."""
    return original.keeps == "layers" and difference.aspect.startswith("attribute.")


def _replaced(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    for index, found in after.layers.pairs:
        if original.layers[index].ident != changed.layers[found].ident:
            path, first = at(original, index), place(original, index)
            yield _ASPECTS.differs("layer replaced", path, "the same object", "another", first)


def _nodes(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    keeps = after.original.keeps
    if keeps == "layers":
        return
    counts = [(-1, original.nodes, changed.nodes)]
    for index, found in after.layers.pairs:
        if keeps == "inputs" and original.layers[index].kind == "InputLayer":
            continue
        counts.append((index, original.layers[index].nodes, changed.layers[found].nodes))
    told = set()
    for index, wants, haves in counts:
        layer = original.layers[index].ident if index >= 0 else -1
        for word, want, have in zip(("inbound", "outbound"), wants, haves, strict=True):
            if want != have and (layer, word) not in told:
                told.add((layer, word))  # once for a layer in several places
                path, first = f"{at(original, index)}.nodes.{word}", place(original, index)
                yield _ASPECTS.differs(f"{word} nodes", path, f"{want} nodes", f"{have}", first)


def _values(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    for index, found in after.weights.pairs:
        if original.weights[index].value != changed.weights[found].value:
            path, first = f"weights[{index}].value", place(original, original.weights[index].owner)
            yield _ASPECTS.differs("weight value", path, "as before", "changed", first)
    if original.learned != changed.learned:
        first = place(original, -1)
        yield _ASPECTS.differs("optimizer state", "model.learned", "as before", "changed", first)


def _of_the_original(cause: Difference, effect: Difference, flow: Flow) -> bool:
    return cause.check == effect.check == "untouched"


_LINKS = (
    # Calls on an input that is another now.
    Link("input tensor", "call.*", Spread.ANYWHERE, _of_the_original),
    # What is called once more uses what others give.
    Link("inbound nodes", "outbound nodes", Spread.UPSTREAM),
    # Who freezes a model of somebody's freezes its layers and weights.
    Link("trainable", "*trainable", Spread.AROUND, _of_the_original),
)
CHECK = Check(_ASPECTS, Stage.UNTOUCHED, untouched, links=_LINKS, of_a_clone=False)
