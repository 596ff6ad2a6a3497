"""3. Own weights: no variable, state or layer is shared with the original; each weight is freshly initialised.

A clone is "a copy of the test model (with freshly initialized weights)" (`clone_model`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clonediff.harness.subjects.observation import LayerSeen
from clonediff.harness.trials.checks import facts
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, in_common, numbered, place
from clonediff.reports.records import Difference, Place

_ATTRIBUTE = re.compile(r"\.([^\W\d]\w*)")
_OF_FUNCTIONS = ("__closure__", "cell_contents", "__defaults__", "__self__", "__func__", "func", "args", "keywords")
"""What Python calls the parts of a function, which no fingerprint needs."""


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
            differences.append(differs("own", "not fresh", path, *told, first))
    if keeps != "layers":
        differences += facts.shared(pair)
    return [*differences, *_reached(pair), *_left_over(pair)]


def _reached(pair: Pair) -> Iterator[Difference]:
    """What of the original that can change is reached from the clone, beside what both hold by public attributes."""
    original = pair.shapes[0]
    for leak in pair.observed.leaks:
        layer = pair.layers.expected.get(leak.layer, -1)
        names = [name for name in _ATTRIBUTE.findall(facts.INDEX.sub("", leak.path)) if name not in _OF_FUNCTIONS]
        aspect = f"object reached.{names[-1] if names else leak.thing}"
        path = f"{at(original, layer)}.attribute{leak.path}"
        found = f"the original's {leak.thing}" + (f", {leak.of_path}" if layer == leak.of_layer else "")
        yield differs("own", aspect, path, "an object of its own", found, place(original, layer))


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
            yield differs("own", "state not fresh", f"{path}.value", expected, found, first)


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
    return differs("own", f"{word} shared", path, "one of its own", "the original's", first)


CHECK = Check("own", own)
