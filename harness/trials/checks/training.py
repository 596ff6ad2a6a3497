"""10. Training: a step on the same batch gives the same gradients, the same updated weights and the same losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.subjects.observation import Leaf, ModelRun, Trained
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.raised import raises
from clonediff.harness.trials.checks.runs import LeafPair, leaf_differences
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Cost, Difference, Place


def training(pair: Pair) -> list[Difference]:
    """The losses that layers add in each run, then the loss, the gradients and the weights after one step."""
    seen = pair.observed
    if seen is None:
        return []
    original = pair.original
    return [
        *_losses(pair, original.inference, seen.inference, "inference"),
        *_losses(pair, original.training, seen.training, "training"),
        *_trained(pair, original.trained, seen.trained),
    ]


def _losses(pair: Pair, want: ModelRun | None, have: ModelRun | None, where: str) -> Iterator[Difference]:
    if want is None or have is None or want.failure is not None or have.failure is not None:
        return
    path, first = f"{where}.losses", place(pair.original.shape, -1)
    if len(want.losses) != len(have.losses):
        expected, found = f"{len(want.losses)} losses", f"{len(have.losses)}"
        yield Difference("training", path, "losses count", expected, found, Cost.TRAINS, first)
    elif sorted(want.losses) == sorted(have.losses) and want.losses != have.losses:
        expected, found = short(list(want.losses)), short(list(have.losses))
        yield Difference("training", path, "losses order", expected, found, Cost.PROPERTY, first)
        return
    for index, (expected, found) in enumerate(zip(want.losses, have.losses, strict=False)):
        if expected != found and len(want.losses) == len(have.losses):
            digests = (expected, found)
            yield Difference(
                "training", f"{path}[{index}]", "losses value", *digests, Cost.TRAINS, first, digests=digests
            )


def _trained(pair: Pair, want: Trained | None, have: Trained | None) -> Iterator[Difference]:
    shape = pair.original.shape
    model = place(shape, -1)
    if want is None:
        return
    if have is None:
        yield Difference("training", "trained", "not trained", "a step", MISSING, Cost.TRAINS, model)
        return
    if want.failure is not None or have.failure is not None:
        if want.failure is None and have.failure is not None:
            yield raises("training", "trained", "it trains", have.failure, shape)
        elif have.failure is None and want.failure is not None:
            raised = want.failure.type
            yield Difference("training", "trained", "no longer raises", raised, "it trains", Cost.PROPERTY, model)
        return
    if want.loss != have.loss:
        digests = (want.loss, have.loss)
        yield Difference("training", "trained.loss", "loss", *digests, Cost.TRAINS, model, digests=digests)
    trainable = [index for index, weight in enumerate(shape.weights) if weight.trainable]
    yield from _leaves(pair, "gradient", trainable, want.gradients, have.gradients)
    yield from _leaves(pair, "weight", range(len(shape.weights)), want.weights, have.weights)


def _leaves(
    pair: Pair, word: str, owners: Sequence[int], wants: Sequence[Leaf | None], haves: Sequence[Leaf | None]
) -> Iterator[Difference]:
    shape = pair.original.shape

    def first(index: int) -> Place:
        return place(shape, shape.weights[owners[index]].owner if index < len(owners) else -1)

    if len(wants) != len(haves):
        path, model = f"trained.{word}s", place(shape, -1)
        yield Difference("training", path, f"{word} count", str(len(wants)), str(len(haves)), Cost.TRAINS, model)
        return
    for index, (want, have) in enumerate(zip(wants, haves, strict=True)):
        path = f"trained.{word}s[{index}]"
        if want is not None and have is not None:
            for one in leaf_differences(LeafPair(path, want, have, first(index), False), Cost.TRAINS, first(index)):
                yield _named(one, word)
        elif want != have:
            expected, found = ("none" if leaf is None else "one" for leaf in (want, have))
            aspect = f"{word} {'missing' if have is None else 'extra'}"
            yield Difference("training", path, aspect, expected, found, Cost.TRAINS, first(index))


def _named(one: Difference, word: str) -> Difference:
    aspect = f"{word} {one.aspect}"
    return Difference("training", one.path, aspect, one.expected, one.found, one.rank, one.first, digests=one.digests)
