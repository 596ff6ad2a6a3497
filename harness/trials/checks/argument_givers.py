"""Layers that are missing, or new, because of an argument: all that they did was to give one that a call lost or got.

A graph has the layers that lead to its outputs. Where a clone calls a layer without its initial state, or with another
mask, what computed those is gone with them: it is the argument that was lost, and not the layer.
"""

from __future__ import annotations

from collections.abc import Collection

from clonediff.harness.subjects.observation import Shape
from clonediff.harness.trials.checks.calls import unlike_arguments
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.skeletons import Unlike
from clonediff.harness.trials.checks.uses import tensors_at

Arguments = list[tuple[str, Unlike]]
"""What differs in the arguments of a call, with "args" or "kwargs" for where it does."""


def givers(pair: Pair) -> tuple[frozenset[int], frozenset[int]]:
    """Of the layers that only the original has, and of those that only the clone has, those that gave an argument."""
    original, clone = pair.shapes
    if not pair.layers.missing and not pair.layers.extra:
        return frozenset(), frozenset()
    mine: dict[tuple[int, int], Arguments] = {}
    theirs: dict[tuple[int, int], Arguments] = {}
    for index, found in pair.layers.pairs:
        for use, other in pair.calls[index].pairs:
            calls = original.layers[index].calls[use], clone.layers[found].calls[other]
            mine[index, use] = theirs[found, other] = list(unlike_arguments(pair, *calls))
    return (_givers(original, pair.layers.missing, mine, "missing"), _givers(clone, pair.layers.extra, theirs, "extra"))


def _givers(
    shape: Shape, alone: Collection[int], changes: dict[tuple[int, int], Arguments], aspect: str
) -> frozenset[int]:
    """Those all of whose uses are arguments that the other side has not, or in layers of which that is true."""
    uses: dict[int, list[tuple[int, bool]]] = {index: [] for index in alone}
    for user, layer in enumerate(shape.layers):
        for use, call in enumerate(layer.calls):
            for side, arguments in (("args", call.args), ("kwargs", call.kwargs)):
                for path, (giver, _, _) in tensors_at(arguments):
                    if giver in uses:
                        differing = [each for where, each in changes.get((user, use), ()) if where == side]
                        uses[giver].append((user, any(_covers(each, side, path, aspect) for each in differing)))
    ends = {end.tensor[0] for end in shape.outputs}
    found = {index for index in alone if uses[index] and index not in ends}
    while True:
        kept = {index for index in found if all(lost or user in found for user, lost in uses[index])}
        if kept == found:
            return frozenset(found)
        found = kept


def _covers(one: Unlike, side: str, path: str, aspect: str) -> bool:
    """Whether it is this argument that is there on one side only. A mask is another one, and not another's tensor."""
    if not path.startswith(one.path):
        return False
    keyword = path.partition("['")[2].partition("']")[0]
    return one.aspect == aspect or (side == "kwargs" and f"_{keyword}".endswith("_mask"))
