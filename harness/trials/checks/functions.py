"""11. Functions: a clone function is asked once for each layer, for no input, and what it gives is in the clone.

"`clone_function`: Callable to be used to clone each layer in the target model (except `Input` instances). It takes as
argument the layer instance to be cloned, and returns the corresponding layer instance to be used in the model copy."
(`clone_model`, in each generation)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clonediff.harness.subjects.observation import FunctionCalls, Shape
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.reports.records import Difference


def functions(pair: Pair) -> list[Difference]:
    """What it was asked otherwise, and what of its answers is lost."""
    clone, shape = pair.clone, pair.original.cloned or pair.original.shape
    return list(_asked(clone.asked, shape)) if clone.asked is not None else []


def _asked(asked: FunctionCalls, shape: Shape) -> Iterator[Difference]:
    counts = Counter(call.layer for call in asked.calls if call.layer >= 0)
    seen = set()
    for call in asked.calls:
        if call.layer in seen:
            continue
        seen.add(call.layer)
        if call.what != "layer":
            what = "an input" if call.what == "input" else "an operation"
            yield _differs(f"asked of {what}", shape, call.layer, "not asked", "asked")
        elif counts[call.layer] > 1:
            yield _differs("asked again", shape, call.layer, "once", f"{counts[call.layer]} times")
        if call.what == "layer" and not call.there:
            yield _differs("not what it gave", shape, call.layer, "the layer that it gave", "another")
    for layer in asked.wanted:
        if layer not in seen:
            yield _differs("not asked", shape, layer, "once", "never")


def _differs(aspect: str, shape: Shape, layer: int, expected: str, found: str) -> Difference:
    return differs("functions", aspect, at(shape, layer), expected, found, place(shape, layer))


CHECK = Check("functions", functions, of_a_clone=False)
