"""6. Masks: the same mask, or none, on every output and on every tensor in between."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.harness.subjects.observation import Leaf, ModelRun
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.runs import leaves, parted
from clonediff.reports.records import Difference, Severity


def masks(pair: Pair) -> list[Difference]:
    """The masks that symbolic tensors carry, then those of each step and output of the runs."""
    return [*_symbolic(pair), *(one for each in pair.runs for one in mask_differences(pair, *each))]


def _symbolic(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    for index, counterpart in pair.layers.pairs:
        layer, twin = original.layers[index], clone.layers[counterpart]
        for use, found in pair.calls[index].pairs:
            masks = zip(layer.calls[use].masks, twin.calls[found].masks, strict=False)  # how many is told of structure
            for output, (want, have) in enumerate(masks):
                if want != have and want is not None and have is not None:
                    told = ("mask lost", "a mask", "no mask") if want else ("mask added", "no mask", "a mask")
                    path, first = f"{at(original, index)}.calls[{use}].masks[{output}]", place(original, index, use)
                    yield differs("masks", told[0], path, *told[1:], first, severity=Severity.PROPERTY)


def mask_differences(pair: Pair, expected: ModelRun | None, found: ModelRun | None, where: str) -> Iterator[Difference]:
    """The mask of every step and every output. One that no output has is a property, and changes no number."""
    if expected is None or found is None or expected.failure is not None or found.failure is not None:
        return
    for seen, first, (want, have) in parted(leaves(pair, expected, found, where), _unlike):
        aspect = "mask lost" if have is None else "mask added" if want is None else "mask value"
        told, digests = (want or "no mask", have or "no mask"), (want, have) if want and have else None
        severity = Severity.COMPUTES if seen.is_output else Severity.PROPERTY
        yield differs("masks", aspect, f"{seen.path}.mask", *told, first, severity=severity, digests=digests)


def _unlike(one: Leaf, other: Leaf) -> list[tuple[str | None, str | None]]:
    return [(one.mask, other.mask)] if one.mask != other.mask else []


CHECK = Check("masks", masks)
