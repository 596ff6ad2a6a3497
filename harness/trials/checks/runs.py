"""What a model computes: outputs, masks and what comes of training, compared bit for bit.

outputs: for the same inputs, in inference and in training mode, the same structure, dtypes and values.

masks: the same mask, or none, on every output and on every tensor in between.

training: layers add the same losses; and a compiled model that is trained on a batch by its own optimizer, loss and
metrics gives the same results, and then has the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from clonediff.harness.observation import Leaf, ModelRun, StepSeen
from clonediff.harness.trials.checks.aspects import differs, differs_in, differs_in_order, differs_in_value
from clonediff.harness.trials.checks.made import raises
from clonediff.harness.trials.checks.pairing import Pair, is_operation
from clonediff.harness.trials.checks.places import at, full_name, place
from clonediff.harness.trials.checks.skeletons import MISSING, Unlike, unlike
from clonediff.reports.records import Difference, Place, Severity


class LeafPair(NamedTuple):
    """A tensor of the original's run with that of the clone's, and its path and place."""

    path: str
    expected: Leaf
    actual: Leaf
    place: Place
    is_output: bool


def outputs(pair: Pair) -> list[Difference]:
    """Every step and every output that differs; each output names the first step where the runs part."""
    return [difference for run in pair.runs for difference in output_differences(pair, *run)]


def output_differences(pair: Pair, expected: ModelRun, actual: ModelRun, where: str) -> list[Difference]:
    """Everything in which two runs differ, masks aside. Nobody says how a clone runs where the original raises."""
    if expected.failure is not None:
        return []
    if actual.failure is not None:
        layer = pair.layers.originals.get(actual.failure.layer, -1)
        return [raises("outputs", where, "it runs", actual.failure, pair.original.shape, layer)]
    ends = list(_outputs(pair, expected, actual, where))
    are_moved = any(difference.aspect == "order" for difference in ends)
    leaves = (leaf for leaf in _leaves(pair, expected, actual, where) if not (are_moved and leaf.is_output))
    values = [differs_in("outputs", "", leaf.path, part, first) for leaf, first, part in _parted(leaves, unlike_leaves)]
    differences = [*_steps(pair, expected, actual, where), *ends, *values]
    if where == "training":
        return [replace(difference, severity=max(difference.severity, Severity.TRAINS)) for difference in differences]
    return differences


def _leaves(pair: Pair, expected: ModelRun, actual: ModelRun, where: str) -> Iterator[LeafPair]:
    """Every tensor that both runs have: those of the steps in the original's order, then the outputs."""
    shape = pair.original.shape
    for index, counterpart in pair.steps(expected, actual).pairs:
        step, counterpart_step = expected.steps[index], actual.steps[counterpart]
        path, first = _at_step(pair, where, step, step.layer), place(shape, step.layer, step.use)
        for output, leaves in enumerate(zip(step.outputs, counterpart_step.outputs, strict=False)):
            yield LeafPair(f"{path}.outputs[{output}]", *leaves, first, is_output=False)
    for index, leaves in enumerate(zip(expected.outputs, actual.outputs, strict=False)):
        layer, use = shape.outputs[index].tensor[:2] if index < len(shape.outputs) else (-1, 0)
        yield LeafPair(f"{where}.outputs[{index}]", *leaves, place(shape, layer, use), is_output=True)


def _at_step(pair: Pair, where: str, step: StepSeen, layer: int) -> str:
    return f"{where}.steps[{full_name(pair.original.shape, layer)!r}][{step.use}]"


def unlike_leaves(expected: Leaf, actual: Leaf) -> Iterator[Unlike]:
    """Two tensors compared: values only where shape and dtype are alike."""
    for aspect in ("shape", "dtype"):
        want, have = getattr(expected, aspect), getattr(actual, aspect)
        if want != have:
            yield Unlike(f".{aspect}", aspect, want, have)
    if (expected.shape, expected.dtype) == (actual.shape, actual.dtype) and expected.digest != actual.digest:
        digests = (expected.digest, actual.digest)
        yield Unlike("", "value", *digests, digests)


def _parted(
    leaves: Iterable[LeafPair], unlike_parts: Callable[[Leaf, Leaf], Iterable[Any]]
) -> Iterator[tuple[LeafPair, Place, Any]]:
    """What is unlike in each pair of tensors, and where: in an output, at the first step where the runs part."""
    first: Place | None = None
    for leaf in leaves:
        for part in unlike_parts(leaf.expected, leaf.actual):
            if not leaf.is_output:
                first = first or leaf.place
            yield leaf, (first or leaf.place) if leaf.is_output else leaf.place, part


def _steps(pair: Pair, expected: ModelRun, actual: ModelRun, where: str) -> Iterator[Difference]:
    """Which calls there are, and in what they give their tensors. An operation without any may give a plain number."""
    shape, pairing = pair.original.shape, pair.steps(expected, actual)
    ours, theirs = ({step.layer for step in run.steps} for run in (expected, actual))
    swapped: set[int] = set()
    for index, step in enumerate(expected.steps):
        first, path = place(shape, step.layer, step.use), _at_step(pair, where, step, step.layer)
        if index not in pairing.counterparts:
            layer = pair.layers.counterparts.get(step.layer)
            if layer is not None and (layer in theirs or not is_operation(shape.layers[step.layer])):
                yield differs("outputs", "step missing", path, "a call", MISSING, first)
            continue
        counterpart = actual.steps[pairing.counterparts[index]]
        same = [leaf.digest for leaf in step.outputs] == [leaf.digest for leaf in counterpart.outputs]
        if counterpart.use != step.use and same and step.layer not in swapped:
            swapped.add(step.layer)
            yield differs("outputs", "call order", path, f"use {step.use}", f"use {counterpart.use}", first)
        for part in unlike(step.structure, counterpart.structure):
            yield differs_in("outputs", "structure", f"{path}.structure", part, first)
    for index in pairing.extra:
        step = actual.steps[index]
        layer = pair.layers.originals.get(step.layer)
        if layer is not None and (layer in ours or not is_operation(shape.layers[layer])):
            path, first = _at_step(pair, where, step, layer), place(shape, layer, step.use)
            yield differs("outputs", "step extra", path, MISSING, "a call", first)


def _outputs(pair: Pair, expected: ModelRun, actual: ModelRun, where: str) -> Iterator[Difference]:
    """How many outputs there are, how they are nested, and whether they come in another order."""
    model = place(pair.original.shape, -1)
    for part in unlike(expected.structure, actual.structure):
        yield differs_in("outputs", "structure", f"{where}.structure", part, model)
    wants, haves = ([leaf.digest for leaf in run.outputs] for run in (expected, actual))
    yield from differs_in_order("outputs", "", f"{where}.outputs", wants, haves, model)


def masks(pair: Pair) -> Iterator[Difference]:
    """The masks that symbolic tensors carry, then those of each step and output of the runs."""
    original, clone = pair.shapes
    for index, counterpart in pair.layers.pairs:
        calls, others = original.layers[index].calls, clone.layers[counterpart].calls
        for use, number in pair.calls[index].pairs:
            both = zip(calls[use].masks, others[number].masks, strict=False)  # how many, structure compares
            for output, (want, have) in enumerate(both):
                if want != have and want is not None and have is not None:
                    sides = ("mask lost", "a mask", "no mask") if want else ("mask added", "no mask", "a mask")
                    path, first = f"{at(original, index)}.calls[{use}].masks[{output}]", place(original, index, use)
                    yield differs("masks", sides[0], path, *sides[1:], first, severity=Severity.PROPERTY)
    for run in pair.runs:
        yield from mask_differences(pair, *run)


def mask_differences(pair: Pair, expected: ModelRun, actual: ModelRun, where: str) -> Iterator[Difference]:
    """The mask of every step and every output. One that no output has is a property, and changes no number."""
    if expected.failure is not None or actual.failure is not None:
        return
    for leaf, first, (want, have) in _parted(_leaves(pair, expected, actual, where), _unlike_masks):
        aspect = "mask lost" if have is None else "mask added" if want is None else "mask value"
        digests = (want, have) if want and have else None
        severity = Severity.COMPUTES if leaf.is_output else Severity.PROPERTY
        sides = want or "no mask", have or "no mask"
        yield differs("masks", aspect, f"{leaf.path}.mask", *sides, first, severity=severity, digests=digests)


def _unlike_masks(expected: Leaf, actual: Leaf) -> list[tuple[str | None, str | None]]:
    return [(expected.mask, actual.mask)] if expected.mask != actual.mask else []


def training(pair: Pair) -> Iterator[Difference]:
    """The losses that layers add in each run; what training returns, and the weights after it."""
    for run in pair.runs:
        yield from _losses(pair, *run)
    shape, want, have = pair.original.shape, pair.original.trained, pair.observed.trained
    if want is None or have is None or want.failure is not None:
        return
    if have.failure is not None:
        layer = pair.layers.originals.get(have.failure.layer, -1)
        yield raises("training", "trained", "it trains", have.failure, shape, layer)
        return
    model, counts = place(shape, -1), (len(want.results), len(have.results))
    if counts[0] != counts[1]:
        yield differs("training", "loss count", "trained.results", *counts, model)
    for index, results in enumerate(zip(want.results, have.results, strict=False)):
        if results[0] != results[1]:
            yield differs_in_value("training", "loss", f"trained.results[{index}]", *results, model)
    for index, counterpart in pair.weights.pairs:
        first = place(shape, shape.weights[index].owner)
        for leaf in unlike_leaves(want.weights[index], have.weights[counterpart]):
            yield differs_in("training", "weight", f"trained.weights[{index}]", leaf, first)


def _losses(pair: Pair, expected: ModelRun, actual: ModelRun, where: str) -> Iterator[Difference]:
    if expected.failure is not None or actual.failure is not None:
        return
    path, model = f"{where}.losses", place(pair.original.shape, -1)
    moved = differs_in_order("training", "losses ", path, list(expected.losses), list(actual.losses), model)
    yield from moved
    for index, (want, have) in enumerate(zip(expected.losses, actual.losses, strict=False) if not moved else ()):
        if want != have:
            yield differs_in_value("training", "losses value", f"{path}[{index}]", want, have, model)
