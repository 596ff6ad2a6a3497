"""8. Original untouched: its nodes, arguments, configs, weights and outputs are as they were before.

"Model cloning is similar to calling a model on new inputs, except that it creates new layers" (`clone_model`): so no
layer of the original is called, and nothing that it gave is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Observation
from clonediff.harness.trials.checks import masks, outputs, sharing, structure, weights
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.reports.records import Difference


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
            differences.append(differs("untouched", "touched", "model", "as before", "changed", first))
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
            yield differs("untouched", "layer replaced", path, "the same object", "another", first)


def _nodes(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    keeps = after.original.keeps
    if keeps == "layers":
        return
    counts = [(-1, original.nodes[0], changed.nodes[0])]
    for index, found in after.layers.pairs:
        layer = original.layers[index]
        if not (keeps == "inputs" and layer.kind == "InputLayer"):
            counts.append((index, layer.nodes[0], changed.layers[found].nodes[0]))
    seen = set()
    for index, want, have in counts:
        ident = original.layers[index].ident if index >= 0 else -1
        if want != have and ident not in seen:
            seen.add(ident)  # once for a layer in several places
            path, first = f"{at(original, index)}.nodes.inbound", place(original, index)
            yield differs("untouched", "inbound nodes", path, f"{want} nodes", f"{have}", first)


def _values(after: Pair) -> Iterator[Difference]:
    original, changed = after.shapes
    for index, found in after.weights.pairs:
        if changed.weights[found].value == "changed":
            path, first = f"weights[{index}].value", place(original, original.weights[index].owner)
            yield differs("untouched", "weight value", path, "as before", "changed", first)
    if original.learned != changed.learned:
        first = place(original, -1)
        yield differs("untouched", "optimizer state", "model.learned", "as before", "changed", first)


CHECK = Check("untouched", untouched, of_a_clone=False)
