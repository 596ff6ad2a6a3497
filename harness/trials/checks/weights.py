"""2. Weights: the same number, order, names, shapes, dtypes and flags, after `set_weights` the same values.

What a file or a pickle gives has the values without that.

In Keras 3 a variable has a name and a path, each kept by itself: "name: The name of the variable (string). path: The
path of the variable within the Keras model or layer (string)." (`keras.Variable`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clonediff.harness.subjects.observation import Variable
from clonediff.harness.trials.checks.check import (
    NOT_COMPARED,
    Aspect,
    Aspects,
    Check,
    Comparison,
    Shown,
    computes,
    crashes,
    renames,
    trains,
)
from clonediff.harness.trials.checks.links import Link, Spread, Stage, Thing, Turn
from clonediff.harness.trials.checks.pairing import Pair, Pairing
from clonediff.harness.trials.checks.places import numbered, place, short
from clonediff.harness.trials.checks.raised import raises
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference


def _listed(difference: Difference, dialect: str) -> Comparison:
    """All that is told of each weight."""
    name = "path" if dialect == "keras" else "name"
    return Comparison(f"[(each.{name}, tuple(each.shape), str(each.dtype), each.trainable) for each in {{}}.weights]")


def _of_a_variable(word: str, shown: Shown, changes: tuple[Thing, ...] = ()) -> Iterator[Aspect]:
    alike: dict[str, Any] = {"shown": shown, "changes": changes}
    built = {"shows": (Thing.BUILD,)}
    of_any = word == "weight"
    yield from computes(
        (f"{word} missing", f"a {word} of {{a}} is missing{{inside}}"),
        (f"{word} extra", f"{{a}} has one {word} more{{inside}}"),
        turn=Turn.SETTINGS,
        **alike,
        **built,
    )
    yield from computes(
        (f"{word} shape", f"a {word} of {{a}} has another shape{{inside}}"),
        (f"{word} dtype", f"a {word} of {{a}} has another dtype{{inside}}"),
        shows=(Thing.BUILD, Thing.RESULTS),  # a layer is built for what the layers before it give
        **alike,
    )
    listed = (f"{word} order", f"the {word}s of a model come in another order{{inside}}")
    yield from computes(listed, any_layer=True, shows=(Thing.LISTING,), **alike)
    flag = (f"{word} trainable", f"a {{frozen}} {word} of {{a}} is {{thawed}}{{inside}}")
    yield from trains(flag, any_layer=of_any, shown=shown, **built)
    yield from renames(
        (f"{word} scope", f"a {word} of {{a}} has another path before its name{{inside}}"), any_layer=True, shown=shown
    )
    yield from renames(
        (f"{word} name", f"a {word} of {{a}} has another name{{inside}}"),
        (f"{word} name alone", f"a {word} of {{a}} has another name under the same path{{inside}}"),
        (f"{word} path alone", f"a {word} of {{a}} has another path under the same name{{inside}}"),
        any_layer=of_any,
        shown=shown,
    )


# Whatever else is wrong with a weight, such as its dtype, shows in what is put into it.
_OF_COPYING: dict[str, Any] = {"shows": (Thing.COPYING,), "turn": Turn.LATE}
ASPECTS = Aspects(
    "weights",
    _of_a_variable("weight", _listed, (Thing.COPYING,)),
    _of_a_variable("state", NOT_COMPARED),
    computes(("state value", "a state of {a} begins with another value{inside}"), shows=(Thing.BUILD,)),
    computes(
        ("copied value", "a weight of {a} does not get the value that is copied into it{inside}"),
        ("copied count", "{clone} takes more weights, or fewer"),
        **_OF_COPYING,
    ),
    computes(
        ("value not kept", "a weight of {a} does not keep its value{inside}"),
        shows=(Thing.BUILD,),
        shown=Comparison("all(map(np.array_equal, clone.get_weights(), model.get_weights()))", how="kept"),
    ),
    crashes(("raises", "{clone} does not take the weights of the original"), path="set_weights", **_OF_COPYING),
)


def weights(pair: Pair) -> list[Difference]:
    """Weights and states at rest, then what copying the original's weights into the clone came to."""
    at_rest = [*(one for each in pair.variables for one in _variables(pair, *each)), *_brought(pair)]
    refused = pair.observed.copied
    if refused is None:
        return [*at_rest, *_copied(pair)]
    return [*at_rest, raises(ASPECTS, "set_weights", "it takes the weights", refused, pair.original.shape)]


def _variables(
    pair: Pair, word: str, wants: Sequence[Variable], haves: Sequence[Variable], pairing: Pairing
) -> Iterator[Difference]:
    shape = pair.original.shape
    for index in pairing.missing:
        path, first = numbered(shape, word, index)
        yield ASPECTS.differs(f"{word} missing", path, _said(wants[index]), MISSING, first)
    for found in pairing.extra:
        first = place(shape, pair.layers.expected.get(haves[found].owner, -1))
        yield ASPECTS.differs(f"{word} extra", f"{word}s[+{found}]", MISSING, _said(haves[found]), first)
    if pairing.moved:
        first = place(shape, wants[pairing.moved[0][0]].owner)
        expected, got = map(short, pairing.orders)
        yield ASPECTS.differs(f"{word} order", f"{word}s", expected, got, first)
    for index, found in pairing.pairs:
        want, have = wants[index], haves[found]
        path, first = numbered(shape, word, index)
        for part, aspect, its, other in _names(pair, want, have):
            yield ASPECTS.differs(f"{word} {aspect}", f"{path}.{part}", its, other, first)
        for aspect in ("shape", "dtype", "trainable"):
            its, other = getattr(want, aspect), getattr(have, aspect)
            if its != other:
                yield ASPECTS.differs(f"{word} {aspect}", f"{path}.{aspect}", short(its), short(other), first)
        if word == "state" and want.value and have.value and want.value != have.value:
            yield ASPECTS.differs_in_value("state value", f"{path}.value", want.value, have.value, first)


def _names(pair: Pair, want: Variable, have: Variable) -> Iterator[tuple[str, str, str, str]]:
    """What differs of a name: where, the aspect, and both texts.

    A name and the last part of a path change together as a rule. What stands before that is of what was being built.
    """
    known = bool(want.short_name and have.short_name)
    paths, shorts = pair.paths(want.name, have.name), pair.paths(want.short_name, have.short_name)
    renamed = known and shorts[0] != shorts[1]
    moved = paths[0].rpartition("/")[2] != paths[1].rpartition("/")[2]
    if paths[0] != paths[1]:
        aspect = "scope" if not moved else "path alone" if known and not renamed else "name"
        yield "name", aspect, short(want.name), short(have.name)
    if renamed and not moved:
        yield "short_name", "name alone", short(want.short_name), short(have.short_name)


def _brought(pair: Pair) -> Iterator[Difference]:
    """What a clone begins with that is to bring the original's values, such as one from a file."""
    wants, haves = pair.original.copied_weights, pair.observed.brought or ()
    for index, found in pair.weights.pairs if haves else ():
        digests = wants[index], haves[found]
        if digests[0] != digests[1]:
            path, first = numbered(pair.original.shape, "weight", index)
            yield ASPECTS.differs_in_value("value not kept", f"{path}.brought", *digests, first)


def _copied(pair: Pair) -> Iterator[Difference]:
    """Weights are copied by position, as a user copies them."""
    wants, haves = pair.original.copied_weights, pair.observed.copied_weights
    shape = pair.original.shape
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        if want != have:
            owner = shape.weights[index].owner if index < len(shape.weights) else -1
            yield ASPECTS.differs_in_value("copied value", f"weights[{index}].copied", want, have, place(shape, owner))
    if len(wants) != len(haves) and len(shape.weights) == len(pair.shapes[1].weights):
        yield ASPECTS.differs("copied count", "copied_weights", str(len(wants)), str(len(haves)), place(shape, -1))


def _said(variable: Variable) -> str:
    return f"{variable.name} {variable.dtype}{list(variable.shape)}"


# A layer lists the weights that it trains before the others, and it does not train its kernel once it is quantized.
_LINKS = (Link("config.dtype", "weight order", Spread.HERE),)
CHECK = Check(ASPECTS, Stage.WEIGHTS, weights, links=_LINKS)
