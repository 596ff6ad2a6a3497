"""6. Masks: the same mask, or none, on every output and on every tensor in between."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.harness.subjects.observation import ModelRun
from clonediff.harness.trials.checks.aspects import RUN, RUN_ON_NUMBERS, Aspects, computes
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.links import Stage, Thing
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.runs import leaves
from clonediff.reports.records import Difference, Place, Severity

ASPECTS = Aspects(
    "masks",
    computes(
        ("mask lost", "a mask is lost{inside}{training}{at}"),
        ("mask added", "there is a mask{inside} where the original has none{training}{at}"),
        shows=(Thing.MASKS,),
        shown=RUN,
    ),
    computes(
        ("mask value", "a mask has other values{inside}{training}{at}"), shows=(Thing.MASKS,), shown=RUN_ON_NUMBERS
    ),
)


def masks(pair: Pair) -> list[Difference]:
    """The masks that symbolic tensors carry, then those of each step and output of the runs."""
    return [*_symbolic(pair), *(one for each in pair.runs for one in mask_differences(pair, *each))]


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
                aspect, told = (
                    ("mask lost", ("a mask", "no mask")) if expected else ("mask added", ("no mask", "a mask"))
                )
                path = f"{at(original, index)}.calls[{use}].masks[{output}]"
                yield ASPECTS.differs(aspect, path, *told, place(original, index, use), severity=Severity.PROPERTY)


def mask_differences(pair: Pair, expected: ModelRun | None, found: ModelRun | None, where: str) -> Iterator[Difference]:
    """The mask of every step and every output. One that no output has is a property, and changes no number."""
    if expected is None or found is None or expected.failure is not None or found.failure is not None:
        return
    first: Place | None = None
    for seen in leaves(pair, expected, found, where):
        want, have = seen.expected.mask, seen.found.mask
        if want == have:
            continue
        if not seen.is_output:
            first = first or seen.place
        yield ASPECTS.differs(
            "mask lost" if have is None else "mask added" if want is None else "mask value",
            f"{seen.path}.mask",
            want or "no mask",
            have or "no mask",
            (first or seen.place) if seen.is_output else seen.place,
            severity=Severity.COMPUTES if seen.is_output else Severity.PROPERTY,
            digests=(want, have) if want and have else None,
        )


CHECK = Check(ASPECTS, Stage.INFERENCE, masks)
