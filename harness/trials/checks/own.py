"""3. Own weights: no variable, state or layer is shared with the original; each weight is freshly initialised.

A clone is "a copy of the test model (with freshly initialized weights)" (`clone_model`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clonediff.harness.subjects.observation import LayerSeen
from clonediff.harness.trials.checks import holdings, reached
from clonediff.harness.trials.checks.check import NOT_COMPARED, Aspects, Check, Comparison, computes, trains
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Reach, Spread, Stage, Thing, Turn
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import in_common, kind_of, numbered, place
from clonediff.reports.records import Difference, Place


def _layers(difference: Difference, dialect: str) -> Comparison:
    inside = difference.first is not None and "/" in difference.first.name
    return Comparison("{}._flatten_layers()" if inside else "{}.layers", how="shared")


def _optimizer(difference: Difference, dialect: str) -> Comparison:
    if difference.path != "compiled_with[0]":
        return NOT_COMPARED
    return Comparison(
        "clone.optimizer is not model.optimizer, 'the clone has the optimizer of the model'", how="assert"
    )


OBJECTS: dict[str, Any] = {
    "reach": Reach.BEHAVIOUR,
    "changes": (Thing.OBJECTS, Thing.BUILD, Thing.COPYING),
    "any_layer": True,
}
"""Of layers and variables that are one object: whatever is done to the one is done to the other."""

ASPECTS = Aspects(
    "own",
    trains(("layer shared", "{clone} holds {a} of the original itself"), turn=Turn.FIRST, shown=_layers, **OBJECTS),
    trains(
        ("weight shared", "{clone} shares a weight of {a} with the original"),
        shown=Comparison("{}.weights", how="shared"),
        **OBJECTS,
    ),
    trains(("state shared", "{clone} shares a state of {a} with the original"), **OBJECTS),
    trains(
        ("compiled_with shared", "{clone} is compiled with an optimizer, or a metric, of the original itself"),
        shown=_optimizer,
    ),
    trains(("not fresh", "a weight of {a} begins with the original's value{inside}"), any_layer=True),
    computes(
        ("state not fresh", "a state of {a} begins as a run of the original has left it{inside}"), reach=Reach.TRAINING
    ),
    holdings.OWN,
    reached.ASPECTS,
)


def _is_of_inputs(cause: Difference, effect: Difference, flow: Flow) -> bool:
    of_an_input = kind_of(effect) == "InputLayer" or effect.aspect.startswith(("input ", "outbound nodes"))
    return kind_of(cause) == "InputLayer" and of_an_input


# A clone on the model's own inputs is on other inputs than it was given.
_LINKS = (Link("layer shared", "*", Spread.ANYWHERE, _is_of_inputs),)


def own(pair: Pair) -> list[Difference]:
    """What the clone has of the original's, by the place it has there; and weights that begin with its values."""
    original, clone = pair.shapes
    keeps = pair.original.keeps
    differences = list(_all_shared(pair))
    for index, fresh in enumerate(pair.observed.fresh):
        if not fresh:
            owner = clone.weights[index].owner if index < len(clone.weights) else -1
            first = place(original, pair.layers.expected.get(owner, -1))
            path, told = f"weights[{index}].value", ("a value drawn anew", "the original's")
            differences.append(ASPECTS.differs("not fresh", path, *told, first))
    if keeps != "layers":
        differences += holdings.shared(pair)
    return [*differences, *reached.reached(pair), *_left_over(pair)]


def _left_over(pair: Pair) -> Iterator[Difference]:
    """States that the original was left in by a run, though its clone has seen no batch yet.

    "the states computed for the samples in one batch will be reused as initial states for the samples in the next
    batch" (`keras.layers.RNN`)
    """
    original = pair.shapes[0]
    for index, fresh in enumerate(pair.observed.fresh_states[: len(original.states)]):
        if not fresh:
            path, first = numbered(original, "state", index)
            expected, found = "as before the first batch", "as the original's run has left it"
            yield ASPECTS.differs("state not fresh", f"{path}.value", expected, found, first)


def _all_shared(pair: Pair) -> Iterator[Difference]:
    """What the clone has of the model that was cloned; a clone that is asked to be on its inputs has these.

    "If not provided, new Input objects will be created" (`clone_model`): so it is even where its `clone_function` gives
    the layers themselves.
    """
    keeps, clone, cloned = pair.original.keeps, pair.shapes[1], pair.original.cloned or pair.original.shape
    told = {layer.ident for layer in pair.shapes[0].layers} if keeps == "layers" else set()
    for word, index, thing in in_common(cloned, clone):
        is_kept = keeps == "layers"
        if isinstance(thing, LayerSeen):
            is_kept = thing.ident in told or (keeps in ("layers", "inputs") and (thing.kind == "InputLayer") != is_kept)
            told.add(thing.ident)
        if not is_kept:
            yield _shared(word, *numbered(cloned, word, index))
    for number, ident in enumerate(cloned.compiled_with):
        if ident in clone.compiled_with and keeps != "layers":
            yield _shared("compiled_with", f"compiled_with[{number}]", place(cloned, -1))


def _shared(word: str, path: str, first: Place) -> Difference:
    return ASPECTS.differs(f"{word} shared", path, "one of its own", "the original's", first)


CHECK = Check(ASPECTS, Stage.OWN, own, links=_LINKS)
