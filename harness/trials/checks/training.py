"""10. Training: a step on the same batch gives the same gradients, the same updated weights and the same losses.

Where both models are compiled, so does a step by `fit` itself, on data by the same names; also where the clone is
compiled by hand, with what the configs of the original's optimizer, losses and metrics tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from clonediff.harness.subjects.observation import Fitted, Leaf, ModelRun, Trained
from clonediff.harness.trials.checks.check import Aspects, Check, crashes, loses, trains
from clonediff.harness.trials.checks.links import Link, Reach, Spread, Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.raised import unlike_failures
from clonediff.harness.trials.checks.runs import unlike_leaves
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference


def _of_leaves(word: str, sentence: str) -> list[tuple[str, str]]:
    return [(f"{word} {each}", sentence.format(each)) for each in ("shape", "dtype", "value")]


_OF_TRAINING = {"reach": Reach.TRAINING}
_BY_FIT: dict[str, Any] = {"reach": Reach.TRAINING, "stage": Stage.FITTED, "any_layer": True}
ASPECTS = Aspects(
    "training",
    trains(
        ("losses count", "the layers add more losses, or fewer,{inside}"),
        ("losses value", "a loss that a layer adds is another{inside}"),
        ("not trained", "{clone} was not trained"),
        ("loss", "a step of training gives another loss{inside}"),
        ("gradient count", "more weights, or fewer, have a gradient{inside}"),
        ("gradient missing", "a weight of {a} has no gradient{inside}"),
        ("gradient extra", "a weight of {a} has a gradient{inside}, and none in the original"),
        *_of_leaves("gradient", "the gradient of a weight of {{a}} has another {}{{inside}}"),
        ("weight count", "a step of training leaves more weights, or fewer,{inside}"),
        *_of_leaves("weight", "a weight of {{a}} has another {} after a step of training{{inside}}"),
    ),
    loses(("losses order", "the losses that layers add come in another order{inside}"), any_layer=True, **_OF_TRAINING),
    loses(("no longer raises", "{clone} can be trained where the original raises an exception"), **_OF_TRAINING),
    *(
        crashes(("raises", "{clone} cannot be trained by `fit`, on data that the original takes"), path=path, **_BY_FIT)
        for path in ("fitted", "by_hand")
    ),
    crashes(("raises", "{clone} cannot be trained"), **_OF_TRAINING),
    loses(
        ("fit no longer raises", "{clone} can be trained by `fit` where the original raises an exception"),
        ("fit raises another", "{clone} raises another exception by `fit` than the original"),
        ("fit result missing", "{clone} gives a result less by `fit`, or by another name"),
        ("fit result extra", "{clone} gives a result more by `fit`"),
        **_BY_FIT,
    ),
    trains(
        ("fit result value", "a step by `fit` gives another loss, or another metric,{inside}"),
        ("fit weight count", "a step by `fit` leaves more weights, or fewer,{inside}"),
        *_of_leaves("fit weight", "a weight of {{a}} has another {} after a step by `fit`{{inside}}"),
        **_BY_FIT,
    ),
)

# `fit` finds data, losses and metrics by the names of a model's ends.
_BY_NAME = "raises|fit result missing|fit result extra"
_LINKS = (Link("name|input name", _BY_NAME, Spread.ANYWHERE, lambda _, effect, flow: effect.path.startswith("fitted")),)


def training(pair: Pair) -> list[Difference]:
    """The losses that layers add in each run, the loss, the gradients and the weights after a step, and after `fit`."""
    original, seen = pair.original, pair.observed
    return [
        *(one for each in pair.runs for one in _losses(pair, *each)),
        *_trained(pair, original.trained, seen.trained),
        *_fitted(pair, original.fitted, seen.fitted),
        *_by_hand(pair),
    ]


def _losses(pair: Pair, want: ModelRun | None, have: ModelRun | None, where: str) -> Iterator[Difference]:
    if want is None or have is None or want.failure is not None or have.failure is not None:
        return
    path, first = f"{where}.losses", place(pair.original.shape, -1)
    if len(want.losses) != len(have.losses):
        yield ASPECTS.differs("losses count", path, f"{len(want.losses)} losses", str(len(have.losses)), first)
    elif sorted(want.losses) == sorted(have.losses) and want.losses != have.losses:
        yield ASPECTS.differs("losses order", path, short(list(want.losses)), short(list(have.losses)), first)
    else:
        unlike = [each for each in enumerate(zip(want.losses, have.losses, strict=True)) if each[1][0] != each[1][1]]
        for index, (expected, found) in unlike:
            yield ASPECTS.differs_in_value("losses value", f"{path}[{index}]", expected, found, first)


def _trained(pair: Pair, want: Trained | None, have: Trained | None) -> Iterator[Difference]:
    shape = pair.original.shape
    model = place(shape, -1)
    if want is None:
        return
    if have is None:
        yield ASPECTS.differs("not trained", "trained", "a step", MISSING, model)
        return
    if want.failure is not None or have.failure is not None:
        yield from unlike_failures(ASPECTS, "trained", "it trains", want.failure, have.failure, shape)
        return
    if want.loss != have.loss:
        yield ASPECTS.differs_in_value("loss", "trained.loss", want.loss, have.loss, model)
    yield from step(pair, want, have)


def step(pair: Pair, want: Trained, have: Trained) -> Iterator[Difference]:
    """What differs in the gradients of a step, and in the weights after it."""
    shape = pair.original.shape
    trainable = [index for index, weight in enumerate(shape.weights) if weight.trainable]
    yield from _leaves(pair, "gradient", trainable, want.gradients, have.gradients)
    yield from _leaves(pair, "weight", range(len(shape.weights)), want.weights, have.weights)


def _by_hand(pair: Pair) -> Iterator[Difference]:
    """What `fit` does to a clone that is compiled by hand, and does not to one that is compiled as it was made."""
    original, seen = pair.original, pair.observed
    told = {(each.path, each.aspect) for each in _fitted(pair, original.fitted, seen.fitted)}
    for each in _fitted(pair, original.fitted_by_hand or original.fitted, seen.fitted_by_hand):
        if (each.path, each.aspect) not in told:
            yield replace(each, path=each.path.replace("fitted", "by_hand", 1))


def _fitted(pair: Pair, want: Fitted | None, have: Fitted | None) -> Iterator[Difference]:
    """What `fit` gives, and leaves. Of a clone that is not compiled, that is told of what it was compiled with."""
    if want is None or want.why or have is None:
        return
    shape = pair.original.shape
    model = place(shape, -1)
    if want.failure is not None or have.failure is not None:
        for each in unlike_failures(ASPECTS, "fitted", "it trains", want.failure, have.failure, shape, by="fit "):
            yield replace(each, first=model)
        return
    for name, expected in want.results.items():
        path = f"fitted.results[{name!r}]"
        if name not in have.results:
            yield ASPECTS.differs("fit result missing", path, "a result", MISSING, model)
        elif have.results[name] != expected:
            yield ASPECTS.differs_in_value("fit result value", path, expected, have.results[name], model)
    for name in have.results:
        if name not in want.results:
            yield ASPECTS.differs("fit result extra", f"fitted.results[{name!r}]", MISSING, "a result", model)
    yield from _leaves(pair, "fit weight", range(len(shape.weights)), want.weights, have.weights, "fitted.weights")


Leaves = Sequence[Leaf | None]


def _leaves(
    pair: Pair, word: str, owners: Sequence[int], wants: Leaves, haves: Leaves, where: str = ""
) -> Iterator[Difference]:
    shape, where = pair.original.shape, where or f"trained.{word}s"
    if len(wants) != len(haves):
        yield ASPECTS.differs(f"{word} count", where, str(len(wants)), str(len(haves)), place(shape, -1))
        return
    for index, (want, have) in enumerate(zip(wants, haves, strict=True)):
        first = place(shape, shape.weights[owners[index]].owner if index < len(owners) else -1)
        path = f"{where}[{index}]"
        if want is not None and have is not None:
            for one in unlike_leaves(want, have):
                yield ASPECTS.differs_in(word, path, one, first)
        elif want != have:
            told = ("missing", "one", "none") if have is None else ("extra", "none", "one")
            yield ASPECTS.differs(f"{word} {told[0]}", path, *told[1:], first)


CHECK = Check(ASPECTS, Stage.TRAINED, training, part="training_step", links=_LINKS)
