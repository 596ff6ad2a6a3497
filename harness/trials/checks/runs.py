"""Two runs of a model compared: what each step gave, what came out, and the first step where they part.

Owns the walk over steps and outputs; `outputs`, `masks`, `saved` and `again` say what the differences mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clonediff.harness.subjects.observation import Leaf, ModelRun
from clonediff.harness.trials.checks.pairing import Pair, full_name
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.raised import raises
from clonediff.harness.trials.checks.skeletons import MISSING, unlike
from clonediff.reports.records import Cost, Difference, Place

WHERE = {"inference": Cost.COMPUTES, "training": Cost.TRAINS}
"""The runs that are compared, and what a value that differs there costs."""


class LeafPair(NamedTuple):
    """A leaf of the original and its counterpart, with the path and the place of it."""

    path: str
    expected: Leaf
    found: Leaf
    place: Place
    is_output: bool


def both_ran(expected: ModelRun | None, found: ModelRun | None) -> bool:
    """Whether there are two runs to compare."""
    return expected is not None and found is not None and expected.failure is None and found.failure is None


def run_differences(pair: Pair, expected: ModelRun | None, found: ModelRun | None, where: str) -> list[Difference]:
    """Everything in which two runs differ, masks aside."""
    if expected is None:
        return []
    if found is None:
        return [_alone(where, "not run", "a run", MISSING, Cost.COMPUTES, pair)]
    if expected.failure is not None or found.failure is not None:
        return list(_failures(pair, expected, found, where))
    steps = list(_steps(pair, expected, found, where))
    return [*steps, *_outputs(pair, expected, found, where)]


def mask_differences(pair: Pair, expected: ModelRun | None, found: ModelRun | None, where: str) -> list[Difference]:
    """The mask of every step and every output."""
    if expected is None or found is None or not both_ran(expected, found):
        return []
    first: Place | None = None
    differences = []
    for seen in leaves(pair, expected, found, where):
        want, have = seen.expected.mask, seen.found.mask
        if want == have:
            continue
        if not seen.is_output:
            first = first or seen.place
        differences.append(
            Difference(
                check="masks",
                path=f"{seen.path}.mask",
                aspect="mask lost" if have is None else "mask added" if want is None else "mask value",
                expected=want or "no mask",
                found=have or "no mask",
                rank=Cost.COMPUTES if seen.is_output else Cost.PROPERTY,
                first=seen.place if first is None or not seen.is_output else first,
                digests=(want, have) if want and have else None,
            )
        )
    return differences


def leaves(pair: Pair, expected: ModelRun, found: ModelRun, where: str) -> Iterator[LeafPair]:
    """Every leaf that both runs have: those of the steps in the original's order, then the outputs."""
    shape = pair.original.shape
    for index, counterpart in pair.steps(expected, found).pairs:
        step, other = expected.steps[index], found.steps[counterpart]
        for output, (leaf, twin) in enumerate(zip(step.outputs, other.outputs, strict=False)):
            path = f"{where}.steps[{full_name(shape, step.layer)!r}][{step.use}].outputs[{output}]"
            yield LeafPair(path, leaf, twin, place(shape, step.layer, step.use), False)
    for index, (leaf, twin) in enumerate(zip(expected.outputs, found.outputs, strict=False)):
        yield LeafPair(f"{where}.outputs[{index}]", leaf, twin, producer(pair, index), True)


def producer(pair: Pair, output: int) -> Place:
    """The layer that gives an output of the original, or the model where that is not known."""
    shape = pair.original.shape
    if output < len(shape.outputs):
        layer, use, _ = shape.outputs[output].tensor
        return place(shape, layer, use)
    return place(shape, -1)


def leaf_differences(seen: LeafPair, cost: Cost, first: Place) -> Iterator[Difference]:
    """Two leaves compared: shape and dtype before values, and values only where those are alike."""
    attributes = [("shape", seen.expected.shape, seen.found.shape), ("dtype", seen.expected.dtype, seen.found.dtype)]
    alike = True
    for aspect, want, have in attributes:
        if want != have:
            alike = False
            yield Difference("outputs", f"{seen.path}.{aspect}", aspect, short(want), short(have), cost, first)
    if alike and seen.expected.digest != seen.found.digest:
        digests = (seen.expected.digest, seen.found.digest)
        yield Difference("outputs", seen.path, "value", *digests, cost, first, digests=digests)


def _failures(pair: Pair, expected: ModelRun, found: ModelRun, where: str) -> Iterator[Difference]:
    if expected.failure is None and found.failure is not None:
        yield raises("outputs", where, "it runs", found.failure, pair.original.shape)
    elif expected.failure is not None and found.failure is None:
        yield _alone(where, "no longer raises", expected.failure.type, "it runs", Cost.PROPERTY, pair)
    elif expected.failure is not None and found.failure is not None and expected.failure.type != found.failure.type:
        want, have = expected.failure.type, found.failure.type
        yield _alone(where, "raises another", want, have, Cost.PROPERTY, pair)


def _steps(pair: Pair, expected: ModelRun, found: ModelRun, where: str) -> Iterator[Difference]:
    shape, pairing, cost = pair.original.shape, pair.steps(expected, found), WHERE.get(where, Cost.COMPUTES)
    swapped: set[int] = set()
    for index, step in enumerate(expected.steps):
        first = place(shape, step.layer, step.use)
        path = f"{where}.steps[{full_name(shape, step.layer)!r}][{step.use}]"
        if index not in pairing.found:
            if step.layer in pair.layers.found:
                yield Difference("outputs", path, "step missing", "a call", MISSING, cost, first)
            continue
        twin = found.steps[pairing.found[index]]
        same = [leaf.digest for leaf in step.outputs] == [leaf.digest for leaf in twin.outputs]
        if twin.use != step.use and same and step.layer not in swapped:
            swapped.add(step.layer)
            yield Difference("outputs", path, "call order", f"use {step.use}", f"use {twin.use}", Cost.PROPERTY, first)
        if len(step.outputs) != len(twin.outputs):
            yield Difference(
                "outputs", path, "count", f"{len(step.outputs)} tensors", f"{len(twin.outputs)}", cost, first
            )
        for output, (leaf, other) in enumerate(zip(step.outputs, twin.outputs, strict=False)):
            yield from leaf_differences(LeafPair(f"{path}.outputs[{output}]", leaf, other, first, False), cost, first)
    for index in pairing.extra:
        step = found.steps[index]
        layer = pair.layers.expected.get(step.layer)
        if layer is not None:
            path = f"{where}.steps[{full_name(shape, layer)!r}][{step.use}]"
            yield Difference("outputs", path, "step extra", MISSING, "a call", cost, place(shape, layer, step.use))


def _outputs(pair: Pair, expected: ModelRun, found: ModelRun, where: str) -> Iterator[Difference]:
    cost, model = WHERE.get(where, Cost.COMPUTES), place(pair.original.shape, -1)
    for one in unlike(expected.structure, found.structure):
        path, aspect = f"{where}.structure{one.path}", f"structure {one.aspect}"
        yield Difference("outputs", path, aspect, one.expected, one.found, cost, model)
    if len(expected.outputs) != len(found.outputs):
        yield Difference(
            "outputs", f"{where}.outputs", "count", str(len(expected.outputs)), str(len(found.outputs)), cost, model
        )
    wants, haves = [leaf.digest for leaf in expected.outputs], [leaf.digest for leaf in found.outputs]
    if wants != haves and sorted(wants) == sorted(haves):
        order = [haves.index(digest) for digest in wants]
        yield Difference(
            "outputs", f"{where}.outputs", "order", short(list(range(len(wants)))), short(order), cost, model
        )
        return
    parted = first_parting(pair, expected, found, where)
    for index, (leaf, twin) in enumerate(zip(expected.outputs, found.outputs, strict=False)):
        first = parted or producer(pair, index)
        yield from leaf_differences(LeafPair(f"{where}.outputs[{index}]", leaf, twin, first, True), cost, first)


def first_parting(pair: Pair, expected: ModelRun, found: ModelRun, where: str) -> Place | None:
    """The first step, in the original's order, that gave something else."""
    for seen in leaves(pair, expected, found, where):
        if not seen.is_output and (seen.expected.shape, seen.expected.dtype, seen.expected.digest) != (
            seen.found.shape,
            seen.found.dtype,
            seen.found.digest,
        ):
            return seen.place
    return None


def _alone(path: str, aspect: str, want: str, have: str, cost: Cost, pair: Pair) -> Difference:
    return Difference("outputs", path, aspect, want, have, cost, place(pair.original.shape, -1))
