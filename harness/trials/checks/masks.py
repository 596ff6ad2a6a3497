"""6. Masks: the same mask, or none, on every output and on every tensor in between."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.runs import mask_differences
from clonediff.reports.records import Cost, Difference


def masks(pair: Pair) -> list[Difference]:
    """The masks that symbolic tensors carry, then those of each step and output of the runs."""
    if pair.observed is None:
        return []
    return [
        *_symbolic(pair),
        *mask_differences(pair, pair.original.inference, pair.observed.inference, "inference"),
        *mask_differences(pair, pair.original.training, pair.observed.training, "training"),
    ]


def _symbolic(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    for index, counterpart in pair.layers.pairs:
        layer, twin = original.layers[index], clone.layers[counterpart]
        for use, found in pair.calls[index].pairs:
            want, have = layer.calls[use].masks, twin.calls[found].masks
            for output in range(max(len(want), len(have))):
                expected = want[output] if output < len(want) else None
                got = have[output] if output < len(have) else None
                if expected == got or expected is None or got is None:
                    continue  # another number of outputs is the structure's to tell
                yield Difference(
                    check="masks",
                    path=f"{at(original, index)}.calls[{use}].masks[{output}]",
                    aspect="mask lost" if expected else "mask added",
                    expected="a mask" if expected else "no mask",
                    found="a mask" if got else "no mask",
                    rank=Cost.PROPERTY,
                    first=place(original, index, use),
                )
