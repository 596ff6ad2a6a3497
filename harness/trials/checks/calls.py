"""The calls of a layer: how often, in which order, on what, and what they give. A part of the check of structure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clonediff.harness.subjects.observation import CallSeen
from clonediff.harness.trials.checks.aspects import differs, differs_in
from clonediff.harness.trials.checks.pairing import Pair, map_tensors
from clonediff.harness.trials.checks.places import at, place, short
from clonediff.harness.trials.checks.skeletons import Unlike, unlike
from clonediff.reports.records import Difference, Place


def calls(pair: Pair, index: int, first: Place) -> Iterator[Difference]:
    """Every difference in the calls of a layer that both models have."""
    original, clone = pair.shapes
    layer, twin = original.layers[index], clone.layers[pair.layers.found[index]]
    paired, path = pair.calls[index], f"{at(original, index)}.calls"
    if len(layer.calls) != len(twin.calls):
        yield differs("structure", "call count", path, f"{len(layer.calls)} calls", f"{len(twin.calls)} calls", first)
    if paired.moved:
        expected, got = map(short, paired.orders)
        yield differs("structure", "call order", path, expected, got, first)
    for use, found in paired.pairs:
        call, its, here, where = layer.calls[use], twin.calls[found], place(original, index, use), f"{path}[{use}]"
        if call.outputs != its.outputs:
            yield differs(
                "structure", "call outputs", f"{where}.outputs", f"{call.outputs} tensors", f"{its.outputs}", here
            )
        for side, leaf in unlike_arguments(pair, call, its):
            yield differs_in("structure", f"call.{side}", f"{where}.{side}", leaf, here)


def unlike_arguments(pair: Pair, call: CallSeen, twin: CallSeen) -> Iterator[tuple[str, Unlike]]:
    """Each argument that differs, with "args" or "kwargs" for where it stands."""
    wants = [map_tensors(call.args, pair.tensor), map_tensors(call.kwargs, pair.tensor)]
    haves = [map_tensors(twin.args, pair.counterpart), map_tensors(twin.kwargs, pair.counterpart)]
    wants[0], haves[0] = _both_lists(wants[0], haves[0]), _both_lists(haves[0], wants[0])
    for side, want, have in zip(("args", "kwargs"), _alike_written(*wants, *haves), haves, strict=True):
        for leaf in unlike(want, have):
            yield side, leaf


_DEFAULT = {"value": "default"}


def _both_lists(args: Any, others: Any) -> Any:
    """Arguments, a tensor in a list where the other side has a list that begins with it: what is lost is the rest.

    Before Keras 3 that is how a recurrent layer is called with its initial state, and without.
    """
    if not isinstance(args, list) or not isinstance(others, list):
        return args
    alone = [
        isinstance(other, list) and len(other) > 1 and other[0] == mine
        for mine, other in zip(args, others, strict=False)
    ]
    return [[mine] if each else mine for mine, each in zip(args, alone, strict=False)] + args[len(alone) :]


def _alike_written(args: Any, kwargs: Any, its_args: Any, its_kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, those by keyword that the clone has by keyword: it is the same call either way."""
    left = args[len(its_args) :]
    names = [name for name in its_kwargs if name not in kwargs]
    if len(names) < len(left):  # one that a call has by default is not told where it stands by keyword
        left = [value for value in left if value not in (None, _DEFAULT)]
    if not left or len(names) < len(left):
        return args, kwargs
    given: dict[str, Any] = {}
    for value in left:  # each goes to a keyword with its very value, if there is one
        free = [name for name in names if name not in given]
        given[next((name for name in free if its_kwargs[name] == value), free[0])] = value
    return args[: len(its_args)], {**{name: given[name] for name in names if name in given}, **kwargs}
