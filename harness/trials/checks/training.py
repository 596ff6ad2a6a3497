"""10. Training: a step on the same batch gives the same gradients, the same updated weights and the same losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.subjects.observation import Leaf, ModelRun, Trained
from clonediff.harness.trials.checks.aspects import differs, differs_in, differs_in_value
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.raised import unlike_failures
from clonediff.harness.trials.checks.runs import unlike_leaves
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Severity


def training(pair: Pair) -> list[Difference]:
    """The losses that layers add in each run, and the loss, the gradients and the weights after a step."""
    original, seen = pair.original, pair.observed
    return [
        *(one for each in pair.runs for one in _losses(pair, *each)),
        *_trained(pair, original.trained, seen.trained),
    ]


def _losses(pair: Pair, want: ModelRun | None, have: ModelRun | None, where: str) -> Iterator[Difference]:
    if want is None or have is None or want.failure is not None or have.failure is not None:
        return
    path, first = f"{where}.losses", place(pair.original.shape, -1)
    if len(want.losses) != len(have.losses):
        yield differs("training", "losses count", path, f"{len(want.losses)} losses", str(len(have.losses)), first)
    elif sorted(want.losses) == sorted(have.losses) and want.losses != have.losses:
        yield differs("training", "losses order", path, short(list(want.losses)), short(list(have.losses)), first)
    else:
        unlike = [each for each in enumerate(zip(want.losses, have.losses, strict=True)) if each[1][0] != each[1][1]]
        for index, (expected, found) in unlike:
            yield differs_in_value("training", "losses value", f"{path}[{index}]", expected, found, first)


def _trained(pair: Pair, want: Trained | None, have: Trained | None) -> Iterator[Difference]:
    shape = pair.original.shape
    model = place(shape, -1)
    if want is None:
        return
    if have is None:
        yield differs("training", "not trained", "trained", "a step", MISSING, model, severity=Severity.TRAINS)
        return
    if want.failure is not None or have.failure is not None:
        yield from unlike_failures("training", "trained", "it trains", want.failure, have.failure, shape)
        return
    if want.loss != have.loss:
        yield differs_in_value("training", "loss", "trained.loss", want.loss, have.loss, model)
    trainable = [index for index, weight in enumerate(shape.weights) if weight.trainable]
    yield from _leaves(pair, "gradient", trainable, want.gradients, have.gradients)
    yield from _leaves(pair, "weight", range(len(shape.weights)), want.weights, have.weights)


Leaves = Sequence[Leaf | None]


def _leaves(pair: Pair, word: str, owners: Sequence[int], wants: Leaves, haves: Leaves) -> Iterator[Difference]:
    shape, where = pair.original.shape, f"trained.{word}s"
    if len(wants) != len(haves):
        yield differs("training", f"{word} count", where, str(len(wants)), str(len(haves)), place(shape, -1))
        return
    for index, (want, have) in enumerate(zip(wants, haves, strict=True)):
        first = place(shape, shape.weights[owners[index]].owner if index < len(owners) else -1)
        path = f"{where}[{index}]"
        if want is not None and have is not None:
            for one in unlike_leaves(want, have):
                yield differs_in("training", word, path, one, first)
        elif want != have:
            told = ("missing", "one", "none") if have is None else ("extra", "none", "one")
            yield differs("training", f"{word} {told[0]}", path, *told[1:], first)


CHECK = Check("training", training, costly=True)
