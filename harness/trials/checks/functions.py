"""11. Functions: a clone function is asked once for each layer, for no input, and what it gives is in the clone.

"`clone_function`: Callable to be used to clone each layer in the target model (except `Input` instances). It takes as
argument the layer instance to be cloned, and returns the corresponding layer instance to be used in the model copy."
(`clone_model`, in each generation)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from clonediff.harness.subjects.observation import FunctionCalls, Shape
from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, loses, trains
from clonediff.harness.trials.checks.links import Reach, Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.reports.records import Difference


def _asked_of(expression: str) -> dict[str, Any]:
    return {"any_layer": True, "shown": Comparison(expression, how="asked")}


_ASPECTS = Aspects(
    "functions",
    loses(
        ("asked of an input", "a clone function is called on an input layer"),
        **_asked_of("not any(isinstance(each, keras.layers.InputLayer) for each in asked)"),
    ),
    loses(
        ("asked of an operation", "a clone function is called on an operation that is not a layer"),
        **_asked_of("all(isinstance(each, keras.layers.Layer) for each in asked)"),
    ),
    trains(
        ("asked again", "a clone function is called more than once on a layer"),
        reach=Reach.BEHAVIOUR,
        **_asked_of("len({id(each) for each in asked}) == len(asked)"),
    ),
    loses(("not asked", "a clone function is not called on a layer"), any_layer=True),
    trains(
        ("not what it gave", "a layer that a clone function returns is not in the clone"),
        reach=Reach.BEHAVIOUR,
        any_layer=True,
    ),
)


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
    return _ASPECTS.differs(aspect, at(shape, layer), expected, found, place(shape, layer))


CHECK = Check(_ASPECTS, Stage.FUNCTIONS, functions, of_a_clone=False)
