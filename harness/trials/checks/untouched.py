"""8. Original untouched: its nodes, arguments, configs, weights and outputs are as they were before.

"Model cloning is similar to calling a model on new inputs, except that it creates new layers" (`clone_model`): so no
layer of the original is called, and nothing that it gave is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Observation
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.runs import mask_differences, run_differences
from clonediff.harness.trials.checks.sharing import sharing
from clonediff.harness.trials.checks.structure import structure
from clonediff.harness.trials.checks.weights import weights
from clonediff.reports.records import Cost, Difference


def untouched(pair: Pair) -> list[Difference]:
    """Everything in which the original is not what it was once the cloner is done, whether that made a clone or not."""
    original, clone = pair.original, pair.clone
    if original.cloned is not None:
        original = Observation(shape=original.cloned, keeps=original.keeps)
    differences: list[Difference] = []
    if clone.original_after is not None:
        copied = original.copied_weights
        after = Pair(original, Clone(observation=Observation(shape=clone.original_after, copied_weights=copied)))
        differences += [*structure(after), *weights(after), *sharing(after), *_replaced(after)]
        differences += [*_nodes(after), *_values(after)]
        if not differences and not original.keeps:
            first = place(original.shape, -1)
            differences.append(
                Difference("untouched", "model", "touched", "as before", "changed", Cost.PROPERTY, first)
            )
    if clone.inference_after is not None and original.inference is not None:
        after = Pair(original, Clone(observation=Observation(shape=clone.original_after or original.shape)))
        runs = (after, original.inference, clone.inference_after, "inference")
        differences += [*run_differences(*runs), *mask_differences(*runs)]
    return [replace(difference, check="untouched", path=f"original.{difference.path}") for difference in differences]


def _replaced(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    for index, found in after.layers.pairs:
        if original.layers[index].ident != changed.layers[found].ident:
            path, first = at(original, index), place(original, index)
            yield Difference("untouched", path, "layer replaced", "the same object", "another", Cost.TRAINS, first)


def _nodes(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    keeps = after.original.keeps
    if keeps in ("layers", "everything"):
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
            if keeps == "a tensor" and word == "outbound":
                continue  # of the layer whose tensor is used
            if want != have and (layer, word) not in told:
                told.add((layer, word))  # once for a layer in several places
                path, first = f"{at(original, index)}.nodes.{word}", place(original, index)
                aspect, nodes = f"{word} nodes", (f"{want} nodes", f"{have}")
                yield Difference("untouched", path, aspect, *nodes, Cost.PROPERTY, first)


def _values(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    for index, found in after.weights.pairs:
        if original.weights[index].value != changed.weights[found].value:
            path, first = f"weights[{index}].value", place(original, original.weights[index].owner)
            yield Difference("untouched", path, "weight value", "as before", "changed", Cost.COMPUTES, first)
    if original.learned != changed.learned:
        first = place(original, -1)
        yield Difference("untouched", "model.learned", "optimizer state", "as before", "changed", Cost.TRAINS, first)
