"""13. Functions: a clone function is asked once for each layer, for no input, and what it gives is in the clone.

"`clone_function`: Callable to be used to clone each layer in the target model (except `Input` instances). It takes as
argument the layer instance to be cloned, and returns the corresponding layer instance to be used in the model copy."
(`clone_model`, in each generation)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clonediff.harness.subjects.observation import ByHand, FunctionCalls, Shape
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Cost, Difference


def functions(pair: Pair) -> list[Difference]:
    """What it was asked otherwise, what of its answers is lost; and, where known, what the graph computes with them."""
    clone, shape = pair.clone, pair.original.cloned or pair.original.shape
    differences = list(_asked(clone.asked, shape)) if clone.asked is not None else []
    if clone.asked is not None and clone.asked.raised is not None:
        said = "a clone" if clone.failure is None else clone.failure.type
        raised = clone.asked.raised.type
        differences.append(_difference(shape, -1, "own error lost", raised, said, Cost.CRASHES))
    if clone.by_hand is not None:
        differences += _computed(clone.by_hand, shape)
    return differences


def _asked(asked: FunctionCalls, shape: Shape) -> Iterator[Difference]:
    counts = Counter(call.layer for call in asked.calls if call.layer >= 0)
    seen = set()
    for call in asked.calls:
        if call.layer in seen:
            continue
        seen.add(call.layer)
        if call.what != "layer":
            what = "an input" if call.what == "input" else "an operation"
            yield _difference(shape, call.layer, f"asked of {what}", "not asked", "asked", Cost.PROPERTY)
        elif counts[call.layer] > 1:
            yield _difference(shape, call.layer, "asked again", "once", f"{counts[call.layer]} times", Cost.TRAINS)
        if call.what == "layer" and not call.there:
            yield _difference(shape, call.layer, "not what it gave", "the layer that it gave", "another", Cost.TRAINS)
    for layer in asked.wanted:
        if layer not in seen:
            yield _difference(shape, layer, "not asked", "once", "never", Cost.PROPERTY)


def _computed(by_hand: ByHand, shape: Shape) -> Iterator[Difference]:
    if by_hand.why:
        return
    if by_hand.failure is not None:
        yield raises("functions", "by_hand", "it runs", by_hand.failure, shape)
        return
    if len(by_hand.expected) != len(by_hand.found):
        counts = str(len(by_hand.expected)), str(len(by_hand.found))
        yield Difference("functions", "by_hand", "output count", *counts, Cost.COMPUTES, place(shape, -1))
    for number, digests in enumerate(zip(by_hand.expected, by_hand.found, strict=False)):
        if digests[0] != digests[1]:
            path, first = f"by_hand.outputs[{number}]", place(shape, -1)
            yield Difference("functions", path, "value", *digests, Cost.COMPUTES, first, digests=digests)


def _difference(shape: Shape, layer: int, aspect: str, expected: str, found: str, cost: Cost) -> Difference:
    return Difference("functions", at(shape, layer), aspect, expected, found, cost, place(shape, layer))
