"""12. Two devices, or two backends: original and clone agree with each other on each, which the other checks say.

A difference between the two is told here, as its own thing: its check is "device" or "backend", and it is no cloning
bug.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Answer, Clone, Leaf, ModelRun, Observation
from clonediff.harness.trials.checks.check import Aspects, computes, crashes, nested
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.runs import leaves
from clonediff.harness.trials.checks.skeletons import unlike
from clonediff.harness.trials.checks.tolerance import coarser, tolerance
from clonediff.reports.records import Difference, Numbers, Place

Elements = Sequence[float | complex | bool | str]
Values = Callable[[str, str], tuple[Elements, Elements] | None]
"""The elements, in order, behind a digest of the first device and one of the second; None where one is gone."""


RUNS = ("inference", "training")

Check = Literal["device", "backend"]

_HALF = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
NARROW: Mapping[str, Mapping[str, str]] = {"jax": _HALF, "numpy": _HALF, "torch": _HALF}
"""What a backend computes in where it is asked for something wider: on all but TensorFlow, Keras promotes as JAX does.

The rule is `BIT64_TO_BIT32_DTYPE` of Keras 3 (keras/src/backend/common/dtypes.py). Some operations follow it and some
do not, so that either dtype is right there, and a float64 of which a part was float32 is no finer than that.
"""


@dataclass(frozen=True)
class Terms:
    """On what two answers are compared: what a difference is called, which runs, and what stands for another dtype.

    `narrow` has, of the first and of the second, what they give in the place of a dtype.
    """

    check: Check = "device"
    runs: Collection[str] = RUNS
    narrow: tuple[Mapping[str, str], Mapping[str, str]] = field(default=({}, {}))

    def same(self, want: str, have: str) -> bool:
        """Whether two dtypes are one, as far as either side can have it."""
        return self.narrowed(want) == self.narrowed(have)

    def narrowed(self, dtype: str) -> str:
        """The dtype that a number is as fine as, on the coarser of the two."""
        mine, theirs = self.narrow
        return mine.get(dtype, theirs.get(dtype, dtype))


def _aspects(check: Check) -> Aspects:
    other = f"another {check}"
    return Aspects(
        check,
        nested(computes, "structure", "outputs of a call", "an output of a call"),
        computes(
            ("weight count", f"a model has more weights on one {check} than on the other"),
            ("weight", f"a weight that was set is another on {other}"),
            ("count", f"a model gives another number of outputs on {other}{{at}}"),
            ("shape", f"a model gives another shape on {other}{{at}}"),
            ("dtype", f"a model gives another dtype on {other}{{at}}"),
            ("mask", f"a model gives another mask on {other}{{at}}"),
            ("value", f"a model computes something else on {other}{{at}}"),
            ("value unknown", f"a model may compute something else on {other}{{at}}"),
        ),
        crashes(
            ("made", f"a model can be made on one {check}, and not on the other"),
            ("raises", f"a model raises an exception on one {check}, and another or none on the other"),
            ("process", f"a model takes its process with it on one {check}, and not on the other"),
        ),
    )


ASPECTS: Mapping[str, Aspects] = {"device": _aspects("device"), "backend": _aspects("backend")}
APART = tuple(ASPECTS)
"""The checks that are of two subjects that differ, and of no cloner."""
TERMS = Terms()


def devices(first: Answer, second: Answer, values: Values, terms: Terms = TERMS) -> list[Difference]:
    """Every model of a trial on two devices or backends: the original, then each clone, each with itself.

    Where the two did not begin with the same weights, that is all that is said: what they compute is then no
    comparison.
    """
    differences = list(_given(first.original, second.original, values, terms))
    if differences:
        return differences
    for name, mine, theirs in _models(first, second):
        if mine is not None and theirs is not None:
            between = _Between(Pair(mine, Clone(observation=theirs)), values, terms)
            for where in terms.runs:
                differences += between.runs(getattr(mine, where), getattr(theirs, where), f"{name}.{where}")
        elif mine is not theirs:
            want, have = ("none" if one is None else "made" for one in (mine, theirs))
            differences.append(ASPECTS[terms.check].differs("made", name, want, have, None))
    return differences


def _models(first: Answer, second: Answer) -> Iterator[tuple[str, Observation | None, Observation | None]]:
    yield "original", first.original, second.original
    for name in dict.fromkeys((*first.clones, *second.clones)):
        clones = (first.clones.get(name), second.clones.get(name))
        mine, theirs = (None if clone is None else clone.observation for clone in clones)
        yield f"clones[{name!r}]", mine, theirs


def _given(first: Observation | None, second: Observation | None, values: Values, terms: Terms) -> Iterator[Difference]:
    if first is None or second is None:
        return
    counts = str(len(first.copied_weights)), str(len(second.copied_weights))
    if counts[0] != counts[1]:
        yield ASPECTS[terms.check].differs("weight count", "original.weights", *counts, None)
        return
    weights = zip(first.copied_weights, second.copied_weights, first.shape.weights, strict=False)
    for number, (want, have, weight) in enumerate(weights):
        if want == have or (any(weight.dtype in each for each in terms.narrow) and _equal(values(want, have))):
            continue
        owner = place(first.shape, weight.owner)
        path = f"original.weights[{number}]"
        yield ASPECTS[terms.check].differs_in_value("weight", path, want, have, owner)


def _equal(elements: tuple[Elements, Elements] | None) -> bool:
    # What is drawn for a weight has 24 bits, whatever the dtype of the weight, so that nothing is lost.
    return elements is not None and list(elements[0]) == list(elements[1])


@dataclass(frozen=True)
class _Between:
    """One model on the two, under the terms of the comparison."""

    pair: Pair
    values: Values
    terms: Terms

    @property
    def aspects(self) -> Aspects:
        return ASPECTS[self.terms.check]

    def runs(self, want: ModelRun | None, have: ModelRun | None, path: str) -> Iterator[Difference]:
        model = place(self.pair.original.shape, -1)
        if want is None or have is None:
            return
        if want.failure is not None or have.failure is not None:
            expected, found = ("it runs" if run.failure is None else run.failure.type for run in (want, have))
            if expected != found:
                yield self.aspects.differs("raises", path, expected, found, model)
            return
        for one in unlike(want.structure, have.structure):
            yield self.aspects.differs_in("structure", f"{path}.structure", one, model)
        if len(want.outputs) != len(have.outputs):
            counts = str(len(want.outputs)), str(len(have.outputs))
            yield self.aspects.differs("count", f"{path}.outputs", *counts, model)
        parted: Place | None = None
        # A number is no finer than the coarsest that it was computed from: float64 of what was float32 has its error.
        computed = ""
        steps = self.pair.steps(want, have)
        # One backend calls a cell of an RNN once more than another, to see what it gives: which call is which is not
        # known then, and what the RNN gives tells.
        uneven = {want.steps[index].layer for index in steps.missing}
        uneven |= {self.pair.layers.expected.get(have.steps[index].layer, -1) for index in steps.extra}
        for seen in leaves(self.pair, want, have, path):
            first = (parted or model) if seen.is_output else seen.place
            if not seen.is_output:
                dtypes = map(self.terms.narrowed, (seen.expected.dtype, seen.found.dtype))
                computed = max((*dtypes, computed), key=tolerance)
                if first.layer in uneven:
                    continue
            for difference in self._leaf(seen.expected, seen.found, seen.path, first, computed):
                parted = parted or first
                yield difference

    def _leaf(self, want: Leaf, have: Leaf, path: str, first: Place, computed: str) -> Iterator[Difference]:
        alike = want.shape == have.shape
        if not alike:
            yield self.aspects.differs("shape", f"{path}.shape", short(want.shape), short(have.shape), first)
        if not self.terms.same(want.dtype, have.dtype):
            alike = False
            yield self.aspects.differs("dtype", f"{path}.dtype", want.dtype, have.dtype, first)
        if alike and want.digest != have.digest:
            yield from self._value(want, have, path, first, computed)
        if want.mask != have.mask:
            masks = want.mask or "no mask", have.mask or "no mask"
            yield self.aspects.differs("mask", f"{path}.mask", *masks, first)

    def _value(self, want: Leaf, have: Leaf, path: str, first: Place, computed: str) -> Iterator[Difference]:
        digests = (want.digest, have.digest)
        elements = self.values(*digests)
        if elements is None:
            yield self.aspects.differs_in_value("value unknown", path, *digests, first)
            return
        dtype = coarser(self.terms.narrowed(coarser(want.dtype, have.dtype)), computed)
        numbers = beyond(*elements, dtype=dtype, shape=want.shape)
        if numbers is not None:
            yield replace(self.aspects.differs_in_value("value", path, *digests, first), numbers=numbers)


def beyond(expected: Elements, found: Elements, *, dtype: str, shape: Sequence[int | None]) -> Numbers | None:
    """What lies beyond the tolerance of a dtype, or None where nothing does."""
    near = np.equal(np.array(expected, object), np.array(found, object))  # in a float, two large integers would be one
    relative, absolute = tolerance(dtype)
    if absolute:
        want, have = (np.array(each, complex).view(float).reshape(-1, 2) for each in (expected, found))
        near |= np.isclose(have, want, rtol=relative, atol=absolute, equal_nan=True).all(axis=1)
    bad = [int(each) for each in np.flatnonzero(~near.astype(bool))]
    if not bad:
        return None
    both = [(expected[each], found[each]) for each in bad]
    gaps = [abs(want - have) for want, have in both if not isinstance(want, str) and not isinstance(have, str)]
    return Numbers(
        max_abs=max(filter(math.isfinite, gaps), default=None),
        differing=len(bad),
        total=len(expected),
        index=(bad[0],) if None in shape else tuple(map(int, np.unravel_index(bad[0], [size or 0 for size in shape]))),
        expected=str(expected[bad[0]]),
        found=str(found[bad[0]]),
    )
