"""Two runs of a model side by side: which leaf answers to which, what of two leaves differs, and where runs part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from clonediff.harness.subjects.observation import Leaf, ModelRun, StepSeen
from clonediff.harness.trials.checks.pairing import Pair, full_name
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.skeletons import Unlike
from clonediff.reports.records import Place


class LeafPair(NamedTuple):
    """A leaf of the original and its counterpart, with the path and the place of it."""

    path: str
    expected: Leaf
    found: Leaf
    place: Place
    is_output: bool


def leaves(pair: Pair, expected: ModelRun, found: ModelRun, where: str) -> Iterator[LeafPair]:
    """Every leaf that both runs have: those of the steps in the original's order, then the outputs."""
    shape = pair.original.shape
    for index, counterpart in pair.steps(expected, found).pairs:
        step, other = expected.steps[index], found.steps[counterpart]
        for output, (leaf, twin) in enumerate(zip(step.outputs, other.outputs, strict=False)):
            path = at_step(pair, where, step, step.layer)
            yield LeafPair(f"{path}.outputs[{output}]", leaf, twin, place(shape, step.layer, step.use), False)
    for index, (leaf, twin) in enumerate(zip(expected.outputs, found.outputs, strict=False)):
        layer, use = shape.outputs[index].tensor[:2] if index < len(shape.outputs) else (-1, 0)
        yield LeafPair(f"{where}.outputs[{index}]", leaf, twin, place(shape, layer, use), True)


def at_step(pair: Pair, where: str, step: StepSeen, layer: int) -> str:
    """The path of a step, which is one of this layer of the original."""
    return f"{where}.steps[{full_name(pair.original.shape, layer)!r}][{step.use}]"


def unlike_leaves(expected: Leaf, found: Leaf) -> Iterator[Unlike]:
    """Two leaves compared: shape and dtype before values, and values only where those are alike."""
    for aspect in ("shape", "dtype"):
        want, have = getattr(expected, aspect), getattr(found, aspect)
        if want != have:
            yield Unlike(f".{aspect}", aspect, short(want), short(have))
    if (expected.shape, expected.dtype) == (found.shape, found.dtype) and expected.digest != found.digest:
        digests = (expected.digest, found.digest)
        yield Unlike("", "value", *digests, digests)


def parted(
    leaves: Iterable[LeafPair], unlike: Callable[[Leaf, Leaf], Iterable[Any]]
) -> Iterator[tuple[LeafPair, Place, Any]]:
    """What is unlike in each pair of leaves, and where: in an output, at the first step where the runs part."""
    first: Place | None = None
    for seen in leaves:
        for one in unlike(seen.expected, seen.found):
            if not seen.is_output:
                first = first or seen.place
            yield seen, (first or seen.place) if seen.is_output else seen.place, one
