"""12. CPU and GPU: original and clone agree with each other on each device, which the other checks say.

A difference between the devices is told here, as its own thing: its check is "device", and it is no cloning bug.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence

from harness.checks.pairing import Pair, full_name
from harness.checks.places import place, short
from harness.checks.skeletons import unlike
from harness.checks.tolerance import close, coarser, tolerance
from harness.observation import Answer, Clone, Leaf, Observation, Run
from reports.records import Cost, Difference, Numbers, Place

Elements = Sequence[float | complex | bool | str]
Values = Callable[[str, str], tuple[Elements, Elements] | None]
"""The elements, in order, behind a digest of the first device and one of the second; None where one is gone."""


RUNS = ("inference", "training")


def devices(first: Answer, second: Answer, values: Values, runs: Collection[str] = RUNS) -> list[Difference]:
    """Every model of a trial on two devices: the original, then each clone, each with itself.

    `runs` has the runs that can be compared. Where the two did not begin with the same weights, that is all that is
    said: what they compute is then no comparison of devices.
    """
    differences = list(_given(first.original, second.original))
    if differences:
        return differences
    for name, mine, theirs in _models(first, second):
        if mine is None and theirs is None:
            continue
        if mine is None or theirs is None:
            want, have = ("none" if one is None else "made" for one in (mine, theirs))
            differences.append(Difference("device", name, "made", want, have, Cost.CRASHES))
            continue
        pair = Pair(mine, Clone(observation=theirs))
        for where in RUNS:
            if where not in runs:
                continue
            differences += _runs(pair, getattr(mine, where), getattr(theirs, where), f"{name}.{where}", values)
    return differences


def _models(first: Answer, second: Answer) -> Iterator[tuple[str, Observation | None, Observation | None]]:
    yield "original", first.original, second.original
    for name in dict.fromkeys((*first.clones, *second.clones)):
        clones = (first.clones.get(name), second.clones.get(name))
        mine, theirs = (None if clone is None else clone.observation for clone in clones)
        yield f"clones[{name!r}]", mine, theirs


def _given(first: Observation | None, second: Observation | None) -> Iterator[Difference]:
    if first is None or second is None:
        return
    counts = str(len(first.copied_weights)), str(len(second.copied_weights))
    if counts[0] != counts[1]:
        yield Difference("device", "original.weights", "weight count", *counts, Cost.COMPUTES)
        return
    weights = zip(first.copied_weights, second.copied_weights, first.shape.weights, strict=False)
    for number, (want, have, weight) in enumerate(weights):
        if want != have:
            owner = place(first.shape, weight.owner)
            path = f"original.weights[{number}]"
            yield Difference("device", path, "weight", want, have, Cost.COMPUTES, owner, digests=(want, have))


def _runs(pair: Pair, want: Run | None, have: Run | None, path: str, values: Values) -> Iterator[Difference]:
    shape = pair.original.shape
    model = place(shape, -1)
    if want is None or have is None:
        return
    if want.failure is not None or have.failure is not None:
        expected, found = ("it runs" if run.failure is None else run.failure.type for run in (want, have))
        if expected != found:
            yield Difference("device", path, "raises", expected, found, Cost.CRASHES, model)
        return
    for one in unlike(want.structure, have.structure):
        aspect = f"structure {one.aspect}"
        yield Difference("device", f"{path}.structure{one.path}", aspect, one.expected, one.found, Cost.COMPUTES, model)
    if len(want.outputs) != len(have.outputs):
        counts = str(len(want.outputs)), str(len(have.outputs))
        yield Difference("device", f"{path}.outputs", "count", *counts, Cost.COMPUTES, model)
    parted: Place | None = None
    # A number is no finer than the coarsest that it was computed from: float64 of what was float32 has its error.
    computed = ""
    for index, counterpart in pair.steps(want, have).pairs:
        step, twin = want.steps[index], have.steps[counterpart]
        at_step = place(shape, step.layer, step.use)
        name = f"{path}.steps[{full_name(shape, step.layer)!r}][{step.use}]"
        for output, (leaf, other) in enumerate(zip(step.outputs, twin.outputs, strict=False)):
            computed = max((leaf.dtype, computed), key=tolerance)
            for difference in _leaf(leaf, other, f"{name}.outputs[{output}]", at_step, values, computed):
                parted = parted or at_step
                yield difference
    for index, (leaf, other) in enumerate(zip(want.outputs, have.outputs, strict=False)):
        yield from _leaf(leaf, other, f"{path}.outputs[{index}]", parted or model, values, computed)


def _leaf(want: Leaf, have: Leaf, path: str, first: Place, values: Values, computed: str = "") -> Iterator[Difference]:
    alike = True
    for aspect, expected, found in (("shape", want.shape, have.shape), ("dtype", want.dtype, have.dtype)):
        if expected != found:
            alike = False
            yield Difference("device", f"{path}.{aspect}", aspect, short(expected), short(found), Cost.COMPUTES, first)
    if alike and want.digest != have.digest:
        yield from _values(want, have, path, first, values, computed)
    if (want.mask is None) != (have.mask is None) or want.mask != have.mask:
        masks = want.mask or "no mask", have.mask or "no mask"
        yield Difference("device", f"{path}.mask", "mask", *masks, Cost.COMPUTES, first)


def _values(want: Leaf, have: Leaf, path: str, first: Place, values: Values, computed: str) -> Iterator[Difference]:
    digests = (want.digest, have.digest)
    elements = values(*digests)
    if elements is None:
        yield Difference("device", path, "value unknown", *digests, Cost.COMPUTES, first, digests=digests)
        return
    numbers = beyond(*elements, dtype=coarser(want.dtype, computed), shape=want.shape)
    if numbers is not None:
        yield Difference("device", path, "value", *digests, Cost.COMPUTES, first, digests=digests, numbers=numbers)


def beyond(expected: Elements, found: Elements, *, dtype: str, shape: Sequence[int | None]) -> Numbers | None:
    """What lies beyond the tolerance of a dtype, or None where nothing does."""
    bad = [
        index for index, (want, have) in enumerate(zip(expected, found, strict=True)) if not _close(want, have, dtype)
    ]
    if not bad:
        return None
    gaps = [
        abs(expected[index] - found[index])  # type: ignore[operator]  # text is filtered out on the next line
        for index in bad
        if not isinstance(expected[index], str) and not isinstance(found[index], str)
    ]
    finite = [gap for gap in gaps if math.isfinite(gap)]
    return Numbers(
        max_abs=max(finite, default=None),
        differing=len(bad),
        total=len(expected),
        index=_unravel(bad[0], shape),
        expected=str(expected[bad[0]]),
        found=str(found[bad[0]]),
    )


def _close(want: float | complex | bool | str, have: float | complex | bool | str, dtype: str) -> bool:
    if isinstance(want, str) or isinstance(have, str):
        return want == have
    if isinstance(want, complex) or isinstance(have, complex):
        want, have = complex(want), complex(have)
        return close(want.real, have.real, dtype) and close(want.imag, have.imag, dtype)
    if isinstance(want, int) and isinstance(have, int):
        return want == have  # a float would take two large ones for the same
    return close(float(want), float(have), dtype)


def _unravel(index: int, shape: Sequence[int | None]) -> tuple[int, ...]:
    place_: list[int] = []
    for size in reversed(shape):
        index, rest = divmod(index, size or 1)
        place_.append(rest)
    return tuple(reversed(place_))
