"""Whose objects a clone is made of, and what cloning leaves of the original: four checks.

own: no variable, layer, or other object that can change is the original's, and each weight begins with a fresh value.
Neither model computes something else once the variables of the other have changed. A clone is "a copy of the test model
(with freshly initialized weights)" (`clone_model`).

sharing: two uses share a layer in the clone exactly where they do in the original, in nested models too.

untouched: the original is as it was, run and all. "Model cloning is similar to calling a model on new inputs, except
that it creates new layers" (`clone_model`): so no layer of the original is called.

again: a second clone, and a clone of the clone, are as good as the first, and share nothing with it. What is wrong with
the first already is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.observation import Clone, LayerSeen, Observation, Shape, Variable
from clonediff.harness.trials.checks import facts, runs, structure, weights
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.made import raises
from clonediff.harness.trials.checks.pairing import Objects, Pair, Pairing
from clonediff.harness.trials.checks.places import at, numbered, place
from clonediff.reports.records import Difference, Place

_ATTRIBUTE = re.compile(r"\.([^\W\d]\w*)")
_OF_FUNCTIONS = ("__closure__", "cell_contents", "__defaults__", "__self__", "__func__", "func", "args", "keywords")
"""What Python calls the parts of a function, which no fingerprint needs."""


def own(pair: Pair) -> list[Difference]:
    """What the clone has of the original, by its place there; and weights and states that begin with its values."""
    return [*_common_objects(pair), *_stale_values(pair), *facts.shared(pair), *_reached(pair), *_dependent(pair)]


def _common_objects(pair: Pair) -> Iterator[Difference]:
    """The layers, variables, optimizer and metrics of the original, but for inputs that the clone is to keep."""
    original, clone = pair.shapes
    met: set[int] = set()
    shared: list[tuple[str, str, Place]] = []
    for word, index, thing in _in_common(original, clone):
        if isinstance(thing, LayerSeen):
            if thing.ident in met or (pair.original.keeps_inputs and thing.kind == "InputLayer"):
                continue
            met.add(thing.ident)
        shared.append((word, *numbered(original, word, index)))
    for number, ident in enumerate(original.compiled_with):
        if ident in clone.compiled_with:
            shared.append(("compiled_with", f"compiled_with[{number}]", place(original, -1)))
    for word, path, first in shared:
        yield differs("own", f"{word} shared", path, "one of its own", "the original's", first)


def _in_common(shape: Shape, model: Shape) -> Iterator[tuple[str, int, LayerSeen | Variable]]:
    """The layers, weights and states of a model that another one has too: the word, the number and the object."""
    for word in ("layer", "weight", "state"):
        theirs = {thing.ident for thing in getattr(model, f"{word}s")}
        things = enumerate(getattr(shape, f"{word}s"))
        yield from ((word, index, thing) for index, thing in things if thing.ident in theirs)


def _stale_values(pair: Pair) -> Iterator[Difference]:
    """Weights that begin with the original's values, and states that begin as a run of the original has left them.

    "the states computed for the samples in one batch will be reused as initial states for the samples in the next
    batch" (`keras.layers.RNN`)
    """
    original, clone = pair.shapes
    for index, fresh in enumerate(pair.observed.fresh):
        if not fresh:
            owner = clone.weights[index].owner if index < len(clone.weights) else -1
            first = place(original, pair.layers.originals.get(owner, -1))
            yield differs("own", "not fresh", f"weights[{index}].value", "a fresh value", "the original's", first)
    for index, fresh in enumerate(pair.observed.fresh_states[: len(original.states)]):
        if not fresh:
            path, first = numbered(original, "state", index)
            sides = "as before the first batch", "as the original's run has left it"
            yield differs("own", "state not fresh", f"{path}.value", *sides, first)


def _reached(pair: Pair) -> Iterator[Difference]:
    """Objects of the original that can change and that the clone leads to, beside what public attributes show."""
    original = pair.shapes[0]
    for leak in pair.observed.leaks:
        layer = pair.layers.originals.get(leak.layer, -1)
        names = [name for name in _ATTRIBUTE.findall(facts.INDEX.sub("", leak.path)) if name not in _OF_FUNCTIONS]
        path = f"{at(original, layer)}.attribute{leak.path}"
        actual = f"the original's {leak.thing}" + (f", {leak.of_path}" if layer == leak.of_layer else "")
        aspect = f"object reached.{names[-1] if names else leak.thing}"
        yield differs("own", aspect, path, "an object of its own", actual, place(original, layer))


def _dependent(pair: Pair) -> Iterator[Difference]:
    """Which of the two models computes something else once all variables of the other have changed."""
    for word, before, after in (
        ("clone", pair.observed.inference, pair.clone.clone_dependent),
        ("original", pair.original.inference, pair.clone.original_dependent),
    ):
        if before is not None and after is not None:
            yield differs("own", f"{word} dependent", word, "the same outputs as before", "others", None)


def sharing(pair: Pair) -> list[Difference]:
    """Objects that were one and are two, or were two and are one."""
    return [*(difference for objects in pair.objects for difference in _partings(pair, *objects)), *facts.parted(pair)]


def _partings(pair: Pair, word: str, wants: Objects, haves: Objects, pairing: Pairing) -> Iterator[Difference]:
    """Objects are numbered by where they are first met: sharing is the same where the numbers are."""
    shape = pair.shapes[0]
    first_want: dict[int, int] = {}
    first_have: dict[int, int] = {}
    for index, counterpart in pairing.pairs:
        want = first_want.setdefault(wants[index].ident, index)
        have = first_have.setdefault(haves[counterpart].ident, index)
        path, first = numbered(shape, word, index)
        if want != have and want != index:
            sides = f"the same as {numbered(shape, word, want)[0]}", "one of its own"
            yield differs("sharing", f"{word} unshared", path, *sides, first)
        elif want != have:
            sides = "one of its own", f"the same as {numbered(shape, word, have)[0]}"
            yield differs("sharing", f"{word} merged", path, *sides, first)


def untouched(pair: Pair) -> list[Difference]:
    """Everything in which the original is not what it was, whether the cloner made a clone or not."""
    original, clone = pair.original, pair.clone
    observation = Observation(shape=clone.original_after or original.shape, copied_weights=original.copied_weights)
    after = Pair(original, Clone(observation=observation))
    differences: list[Difference] = []
    if clone.original_after is not None:
        differences += [*structure.structure(after), *weights.weights(after), *sharing(after)]
        for index, number in after.weights.pairs:
            if after.shapes[1].weights[number].value == "changed":
                path, first = numbered(original.shape, "weight", index)
                differences.append(differs("untouched", "weight value", f"{path}.value", "as before", "changed", first))
        if not differences and not original.keeps_inputs:
            first = place(original.shape, -1)
            differences.append(differs("untouched", "touched", "model", "as before", "changed", first))
    if clone.inference_after is not None and original.inference is not None:
        run = original.inference, clone.inference_after, "inference"
        differences += [*runs.output_differences(after, *run), *runs.mask_differences(after, *run)]
    return [replace(difference, check="untouched", path=f"original.{difference.path}") for difference in differences]


def again(pair: Pair) -> list[Difference]:
    """What is wrong with a second clone and with the clone of the clone, and was not with the clone."""
    clone, original = pair.clone, pair.original
    repeated = {
        (difference.path, difference.aspect) for difference in (_all(pair) if clone.again or clone.twice else ())
    }
    differences: list[Difference] = []
    for word, expected in (("again", "a second clone"), ("twice", "a clone of the clone")):
        failure, observation = getattr(clone, f"{word}_failure"), getattr(clone, word)
        if failure is not None:
            differences.append(raises("again", word, expected, failure, original.shape, aspect="no clone"))
        if observation is not None:
            for difference in _all(Pair(original, Clone(observation=observation))):
                if (difference.path, difference.aspect) not in repeated:
                    differences.append(replace(difference, check="again", path=f"{word}.{difference.path}"))
            differences += _shared_by_clones(pair, observation.shape, word)
    return differences


def _all(pair: Pair) -> list[Difference]:
    checks = sharing, structure.structure, weights.weights, own, runs.outputs, runs.masks
    return [difference for check in checks for difference in check(pair)]


def _shared_by_clones(pair: Pair, second: Shape, word: str) -> Iterator[Difference]:
    """What another clone has of the first one. What both have of the original is told of the first."""
    original, first = pair.shapes
    met = {thing.ident for _, _, thing in _in_common(original, original)}
    for kind, index, thing in _in_common(first, second):
        if thing.ident not in met:
            met.add(thing.ident)
            layer = pair.layers.originals.get(thing.owner if isinstance(thing, Variable) else index, -1)
            where = at(original, layer) if kind == "layer" else f"{kind}s[{index}]"
            sides, owner = ("one of its own", "the first clone's"), place(original, layer)
            yield differs("again", f"{kind} shared by clones", f"{word}.{where}", *sides, owner)
