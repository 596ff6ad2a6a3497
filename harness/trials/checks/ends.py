"""The inputs and outputs of a model: how many, in which order, nested how, and each by itself. A part of structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clonediff.harness.subjects.observation import End
from clonediff.harness.trials.checks.check import Aspect, Aspects, Comparison, computes, loses, nested, renames
from clonediff.harness.trials.checks.holdings import OPTIONS
from clonediff.harness.trials.checks.links import Thing, Turn
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import named, place, short
from clonediff.harness.trials.checks.settings import WHOLE_CONFIG
from clonediff.harness.trials.checks.skeletons import unlike
from clonediff.reports.records import Difference


def names_of_inputs(difference: Difference, dialect: str) -> Comparison:
    """The names of the model's inputs."""
    if dialect != "keras" or not named(difference, dialect):
        return WHOLE_CONFIG
    return Comparison("[each._keras_history.operation.name for each in {}.inputs]")


def _of_an_end(end: str) -> Iterator[Aspect]:
    """What can differ of an input or an output. Those of an input show what its layer has as a setting."""
    of_an_input = end == "input"
    ends = {"shows": (Thing.WIRING, Thing.NESTING), "changes": () if of_an_input else (Thing.NESTING,)}
    seen: dict[str, Any] = _OF_A_SETTING if of_an_input else {"shows": (Thing.RESULTS,)}
    changes = (Thing.RESULTS, Thing.BUILD) if of_an_input else ()
    yield from computes((f"{end} count", f"a model has another number of {end}s{{inside}}"), **ends)
    yield from computes(
        (f"{end} order", f"the {end}s of a model come in another order{{inside}}"), any_layer=True, **ends
    )
    yield from computes(
        (f"{end} tensor", f"an {end} of a model is another tensor{{inside}}{{at}}"),
        shows=(Thing.WIRING,),
        any_layer=True,
    )
    for declared, name in ((loses, "shape"), (computes, "dtype")):
        sentence = f"an {end} of a model has another {name}{{inside}}{{at}}"
        yield from declared((f"{end} {name}", sentence), changes=changes, **seen)
    for option in OPTIONS:
        sentence = f"an {end} of a model that is {{was}}{option} is {{now}}{option}{{inside}}"
        yield from loses((f"{end} {option}", sentence), quiet=of_an_input, **(seen if of_an_input else {}))


_OF_A_SETTING: dict[str, Any] = {"shows": (Thing.SETTINGS,), "turn": Turn.VIEWS}
_OF_NESTING: dict[str, Any] = {"turn": Turn.SETTINGS, "changes": (Thing.NESTING,)}
ASPECTS = Aspects(
    "structure",
    _of_an_end("input"),
    _of_an_end("output"),
    renames(
        ("input name", "an input of a model has another name{inside}"),
        any_layer=True,
        shown=names_of_inputs,
        **_OF_A_SETTING,
    ),
    nested(computes, "input structure", "inputs of a model", "an input of a model", **_OF_NESTING),
    nested(computes, "output structure", "outputs of a model", "an output of a model", **_OF_NESTING),
)


def ends(pair: Pair, word: str) -> Iterator[Difference]:
    """What differs of each "input", or each "output", and how they are nested."""
    original, clone = pair.shapes
    side, model = f"{word}s", place(original, -1)
    for leaf in unlike(*(getattr(each, f"{word}_structure") for each in pair.shapes)):
        yield ASPECTS.differs_in(f"{word} structure", f"model.{word}_structure", leaf, model)
    wants: Sequence[End] = getattr(original, side)
    haves: Sequence[End] = getattr(clone, side)
    if len(wants) != len(haves):
        yield ASPECTS.differs(f"{word} count", side, str(len(wants)), str(len(haves)), model)
    expected = [pair.tensor(end.tensor) for end in wants]
    found = [pair.counterpart(end.tensor) for end in haves]
    if expected != found and sorted(expected) == sorted(found):
        yield ASPECTS.differs(f"{word} order", side, short(expected), short(found), model)
        return
    # What a ragged input is lost to is told there, and in a run.
    names = ("name", "shape", "dtype", *OPTIONS) if word == "input" else ("shape", "dtype", "optional", "sparse")
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        of_each = [(name, getattr(want, name), getattr(have, name)) for name in names]
        for name, one, other in (*of_each, ("tensor", expected[index], found[index])):
            if one != other and not (name == "name" and pair.same_name(one, other, "InputLayer")):
                first = place(original, *want.tensor[:2])
                yield ASPECTS.differs(f"{word} {name}", f"{side}[{index}].{name}", short(one), short(other), first)
