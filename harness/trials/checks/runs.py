"""Checks runs: outputs, masks and training are compared bit for bit.

outputs: for the same inputs, in inference and training mode, the same structure, dtypes and values.

masks: the same masks on every output and intermediate tensor.

training: layers add the same losses; a compiled model has the same results and weights after a training batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from clonediff.harness.observation import CallOutputs, Leaf, ModelRun
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.aspects import Aspect, compare_order, difference_at, difference_of
from clonediff.harness.trials.checks.failures import failure_difference
from clonediff.harness.trials.checks.paths import full_name, place
from clonediff.harness.trials.checks.skeletons import CHANGES, MISSING, Mismatch, mismatches
from clonediff.reports.records import CRASH, OUTPUT, PROPERTY, TRAINING, Change, Difference, Place

_output = functools.partial(Aspect, "outputs", "derived", OUTPUT)
RUN_FAILURE = Aspect("outputs", "derived", CRASH, "", "raises", "{clone} does not run{training}", "run")
NESTING = _output("structure", CHANGES, "the outputs of a call found another structure{inside}", "run")
STEPS = _output("step", ("missing", "extra"), "{a} does not run as often{inside}{training}", "run")
_TYPE_CHANGES: tuple[Change, ...] = ("shape", "dtype")
TENSORS = (
    _output("", "order", "{clone} gives its outputs in another order{training}", "numbers", True),
    _output("", "count", "{clone} gives another number of outputs{training}{at}", "run"),
    _output("", _TYPE_CHANGES, "{clone} gives another {change}{training}{at}", "run"),
    _output("", "value", "{clone} computes something else{training}{at}", "numbers"),
)
_mask = functools.partial(Aspect, "masks", "derived", OUTPUT, "mask")
MASK_LOST = _mask("lost", "a mask is lost{inside}{training}{at}", "run")
MASK_ADDED = _mask("added", "there is a mask{inside} where the original has none{training}{at}", "run")
MASK_VALUE = _mask("value", "a mask has other values{inside}{training}{at}", "numbers")
_training = functools.partial(Aspect, "training", "derived")
NOT_TRAINED = _training(CRASH, "", "raises", "{clone} cannot be trained", exclusive=True)
_WEIGHT = "the {part} of {a} has another {change} after training{inside}"
TRAINING_RESULTS = (
    _training(TRAINING, "losses", ("count", "value"), "the layers add other losses{inside}"),
    _training(PROPERTY, "losses", "order", "the losses that layers add come in another order{inside}", "", True),
    _training(TRAINING, "loss", "", "training gives another loss or metric{inside}"),
    _training(TRAINING, "loss", "count", "training gives another number of losses and metrics{inside}"),
    _training(TRAINING, "weight", (*_TYPE_CHANGES, "value"), _WEIGHT, exclusive=True),
)


class LeafPair(NamedTuple):
    """A tensor in two runs: an output of a layer (`in_step`), or of the model."""

    path: str
    expected: Leaf
    found: Leaf
    place: Place
    in_step: bool


def check_outputs(pair: Pair) -> list[Difference]:
    return [item for runs in pair.runs for item in output_differences(pair, *runs)]


def output_differences(pair: Pair, expected: ModelRun, found: ModelRun, run: str) -> list[Difference]:
    """Differences of runs, except in masks; none if the original raises."""
    if expected.failure is not None:
        return []
    if found.failure is not None:
        layer = pair.layers.originals.get(found.failure.layer, -1)
        return [failure_difference(RUN_FAILURE, "", "it runs", found.failure, pair.original.structure, layer, run=run)]
    ends = list(_compare_outputs(pair, expected, found))
    are_moved = any(item.part == "" and item.change == "order" for item in ends)
    leaves = (leaf for leaf in _leaf_pairs(pair, expected, found) if leaf.in_step or not are_moved)
    differences = [replace(item, in_step=True) for item in _compare_steps(pair, expected, found)] + ends
    for leaf, first, mismatch in _add_places(leaves, leaf_mismatches):
        differences.append(difference_at(TENSORS, "", mismatch, leaf.path, first, in_step=leaf.in_step))
    worst_severity = TRAINING if run == "training" else CRASH
    return [replace(item, run=run, severity=max(item.severity, worst_severity)) for item in differences]


def _leaf_pairs(pair: Pair, expected: ModelRun, found: ModelRun) -> Iterator[LeafPair]:
    """The tensors in both runs: steps' outputs in order, then the model's."""
    original = pair.original.structure
    for index, counterpart in pair.align_steps(expected, found).pairs:
        step, counterpart_step = expected.steps[index], found.steps[counterpart]
        path, first = _step_path(pair, step, step.layer), place(original, step.layer, step.call)
        for output, leaves in enumerate(zip(step.outputs, counterpart_step.outputs, strict=False)):
            yield LeafPair(f"{path}.outputs[{output}]", *leaves, first, in_step=True)
    for index, leaves in enumerate(zip(expected.outputs, found.outputs, strict=False)):
        layer, call = original.outputs[index].tensor[:2] if index < len(original.outputs) else (-1, 0)
        yield LeafPair(f"outputs[{index}]", *leaves, place(original, layer, call), in_step=False)


def _step_path(pair: Pair, step: CallOutputs, layer: int) -> str:
    return f"steps[{full_name(pair.original.structure, layer)!r}][{step.call}]"


def leaf_mismatches(expected: Leaf, found: Leaf) -> Iterator[Mismatch]:
    """Compare tensors: values only if shape and dtype are equal."""
    for change in _TYPE_CHANGES:
        values = getattr(expected, change), getattr(found, change)
        if values[0] != values[1]:
            yield Mismatch((), change, *values)
    if (expected.shape, expected.dtype) == (found.shape, found.dtype) and expected.digest != found.digest:
        digests = (expected.digest, found.digest)
        yield Mismatch((), "value", *digests, digests)


def _add_places(
    leaves: Iterable[LeafPair], mismatches_of: Callable[[Leaf, Leaf], Iterable[Any]]
) -> Iterator[tuple[LeafPair, Place, Any]]:
    """Mismatches of tensors with places; outputs get the first step's place."""
    first: Place | None = None
    for leaf in leaves:
        for mismatch in mismatches_of(leaf.expected, leaf.found):
            if leaf.in_step:
                first = first or leaf.place
            yield leaf, leaf.place if leaf.in_step else (first or leaf.place), mismatch


def _compare_steps(pair: Pair, expected: ModelRun, found: ModelRun) -> Iterator[Difference]:
    original = pair.original.structure
    alignment = pair.align_steps(expected, found)
    for index, step in enumerate(expected.steps):
        first, path = place(original, step.layer, step.call), _step_path(pair, step, step.layer)
        if index not in alignment.counterparts:
            if step.layer in pair.layers.counterparts:
                yield STEPS.difference(path, "a call", MISSING, first, change="missing")
            continue
        counterpart = found.steps[alignment.counterparts[index]]
        for mismatch in mismatches(step.structure, counterpart.structure):
            yield difference_at((NESTING,), "structure", mismatch, f"{path}.structure", first)
    for index in alignment.extra:
        step = found.steps[index]
        layer = pair.layers.originals.get(step.layer)
        if layer is not None:
            path, first = _step_path(pair, step, layer), place(original, layer, step.call)
            yield STEPS.difference(path, MISSING, "a call", first, change="extra")


def _compare_outputs(pair: Pair, expected: ModelRun, found: ModelRun) -> Iterator[Difference]:
    model = place(pair.original.structure, -1)
    for mismatch in mismatches(expected.structure, found.structure):
        yield difference_at((NESTING,), "structure", mismatch, "structure", model)
    digests = [leaf.digest for leaf in expected.outputs], [leaf.digest for leaf in found.outputs]
    yield from compare_order(TENSORS, "", "outputs", *digests, model)


def check_masks(pair: Pair) -> Iterator[Difference]:
    for runs in pair.runs:
        yield from mask_differences(pair, *runs)


def mask_differences(pair: Pair, expected: ModelRun, found: ModelRun, run: str) -> Iterator[Difference]:
    """Find differences in masks; in a step, they are lost properties."""
    if expected.failure is not None or found.failure is not None:
        return

    def mask_mismatches(expected: Leaf, found: Leaf) -> list[tuple[str | None, str | None]]:
        return [(expected.mask, found.mask)] if expected.mask != found.mask else []

    for leaf, first, masks in _add_places(_leaf_pairs(pair, expected, found), mask_mismatches):
        row = MASK_LOST if masks[1] is None else MASK_ADDED if masks[0] is None else MASK_VALUE
        texts = (masks[0] or "no mask", masks[1] or "no mask")
        severity = PROPERTY if leaf.in_step else OUTPUT
        fields = {"run": run, "in_step": leaf.in_step, "digests": masks if all(masks) else None}
        yield row.difference(f"{leaf.path}.mask", *texts, first, severity=severity, **fields)


def check_training(pair: Pair) -> Iterator[Difference]:
    for runs in pair.runs:
        yield from _compare_losses(pair, *runs)
    original = pair.original.structure
    expected = pair.original.training_results
    found = pair.clone_observation.training_results
    if expected is None or found is None or expected.failure is not None:
        return
    if found.failure is not None:
        layer = pair.layers.originals.get(found.failure.layer, -1)
        yield failure_difference(NOT_TRAINED, "", "it trains", found.failure, original, layer, run="trained")
        return
    model = place(original, -1)
    counts = len(expected.results), len(found.results)
    if counts[0] != counts[1]:
        yield difference_of(TRAINING_RESULTS, "loss", "count", "results", *counts, model, run="trained")
    for index, digests in enumerate(zip(expected.results, found.results, strict=False)):
        if digests[0] != digests[1]:
            mismatch = Mismatch((index,), "", *digests, digests)
            yield difference_at(TRAINING_RESULTS, "loss", mismatch, "results", model, run="trained")
    for index, counterpart in pair.weights.pairs:
        first = place(original, original.weights[index].owner)
        for mismatch in leaf_mismatches(expected.weights[index], found.weights[counterpart]):
            yield difference_at(TRAINING_RESULTS, "weight", mismatch, f"weights[{index}]", first, run="trained")


def _compare_losses(pair: Pair, expected: ModelRun, found: ModelRun, run: str) -> Iterator[Difference]:
    if expected.failure is not None or found.failure is not None:
        return
    model, losses = place(pair.original.structure, -1), (list(expected.losses), list(found.losses))
    yield from (moves := compare_order(TRAINING_RESULTS, "losses", "losses", *losses, model, run=run))
    for index, digests in enumerate(zip(*losses, strict=False) if not moves else ()):
        if digests[0] != digests[1]:
            mismatch = Mismatch((index,), "value", *digests, digests)
            yield difference_at(TRAINING_RESULTS, "losses", mismatch, "losses", model, run=run)
