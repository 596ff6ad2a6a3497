"""The inputs and outputs of a model: how many, in which order, nested how, and each by itself. A part of structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.subjects.observation import End
from clonediff.harness.trials.checks.aspects import differs, differs_in
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.skeletons import unlike
from clonediff.reports.records import Difference

OPTIONS = ("optional", "sparse", "ragged")


def ends(pair: Pair, word: str) -> Iterator[Difference]:
    """What differs of each "input", or each "output", and how they are nested."""
    original, clone = pair.shapes
    side, model = f"{word}s", place(original, -1)
    for leaf in unlike(*(getattr(each, f"{word}_structure") for each in pair.shapes)):
        yield differs_in("structure", f"{word} structure", f"model.{word}_structure", leaf, model)
    wants: Sequence[End] = getattr(original, side)
    haves: Sequence[End] = getattr(clone, side)
    if len(wants) != len(haves):
        yield differs("structure", f"{word} count", side, str(len(wants)), str(len(haves)), model)
    expected = [pair.tensor(end.tensor) for end in wants]
    found = [pair.counterpart(end.tensor) for end in haves]
    if expected != found and sorted(expected) == sorted(found):
        yield differs("structure", f"{word} order", side, short(expected), short(found), model)
        return
    # What a ragged input is lost to is told there, and in a run.
    names = ("name", "shape", "dtype", *OPTIONS) if word == "input" else ("shape", "dtype", "optional", "sparse")
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        of_each = [(name, getattr(want, name), getattr(have, name)) for name in names]
        for name, one, other in (*of_each, ("tensor", expected[index], found[index])):
            if one != other and not (name == "name" and pair.same_name(one, other, "InputLayer")):
                first = place(original, *want.tensor[:2])
                yield differs("structure", f"{word} {name}", f"{side}[{index}].{name}", short(one), short(other), first)
