"""structure: the same graph: layers, classes, configs, names, call arguments, order and nesting of both ends.

And in every public attribute and property the same, at any depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from clonediff.harness.observation import CallSeen, LayerSeen, Shape
from clonediff.harness.trials.checks import facts
from clonediff.harness.trials.checks.aspects import differs, differs_in, differs_in_order
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.harness.trials.checks.skeletons import MISSING, Unlike, map_tensors, unlike
from clonediff.reports.records import Difference, Place

_ONE_CALL = {"value": "default"}
"""How an argument is written that a call has by default, where others come after it."""


def structure(pair: Pair) -> list[Difference]:
    """The model, its layers in the original's order with each of their calls, then both ends."""
    original, clone = pair.shapes
    return [
        *_attributes(pair, original, clone, place(original, -1), "model"),
        *_layers(pair),
        *facts.facts(pair),
        *_ends(pair, "input"),
        *_ends(pair, "output"),
    ]


def _layers(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    moved = {index for index, _ in pair.layers.moved}
    in_order: set[int] = set()
    for index, layer in enumerate(original.layers):
        first, path, holder = place(original, index), at(original, index), layer.inside
        if index not in pair.layers.counterparts:
            if holder not in pair.layers.missing:  # what a missing layer held is missing with it
                yield differs("structure", "layer missing", path, layer.kind, MISSING, first)
            continue
        if index in moved and holder not in in_order and holder not in moved:
            in_order.add(holder)
            models = (original, holder), (clone, pair.layers.counterparts.get(holder, -1))
            wants, haves = ([shape.layers[part].name for part in shape.members[model]] for shape, model in models)
            where = f"{at(original, holder)}.layers"
            yield differs("structure", "layer order", where, wants, haves, place(original, holder))
        yield from _attributes(pair, layer, clone.layers[pair.layers.counterparts[index]], first, path)
        yield from _calls(pair, index, first)
    for index in pair.layers.extra:
        layer = clone.layers[index]
        if layer.inside not in pair.layers.extra:
            first = replace(place(clone, index), layer=-1, container=False)  # no layer of the original
            yield differs("structure", "layer extra", at(clone, index), MISSING, layer.kind, first)


def _attributes(
    pair: Pair, layer: LayerSeen | Shape, counterpart: LayerSeen | Shape, first: Place, path: str
) -> Iterator[Difference]:
    """What differs in the class, the name and the flag of a layer or of the model."""
    # An input has nothing to train: it is frozen with its model, and nobody can tell.
    for name in ("kind", "name") if layer.kind == "InputLayer" else ("kind", "name", "trainable"):
        want, have = getattr(layer, name), getattr(counterpart, name)
        if want != have:
            yield differs("structure", name, f"{path}.{name}", want, have, first)


def _calls(pair: Pair, index: int, first: Place) -> Iterator[Difference]:
    """How often a layer is called, in which order, on what, and what it gives."""
    original, clone = pair.shapes
    calls, others = original.layers[index].calls, clone.layers[pair.layers.counterparts[index]].calls
    paired, path = pair.calls[index], f"{at(original, index)}.calls"
    if len(calls) != len(others):
        yield differs("structure", "call count", path, f"{len(calls)} calls", f"{len(others)} calls", first)
    if paired.moved:
        yield differs("structure", "call order", path, *paired.orders, first)
    for use, counterpart in paired.pairs:
        want, have, first, where = calls[use], others[counterpart], place(original, index, use), f"{path}[{use}]"
        if want.outputs != have.outputs:
            yield differs("structure", "call outputs", f"{where}.outputs", want.outputs, have.outputs, first)
        for side, leaf in _unlike_arguments(pair, want, have):
            yield differs_in("structure", f"call.{side}", f"{where}.{side}", leaf, first)


def _unlike_arguments(pair: Pair, call: CallSeen, counterpart: CallSeen) -> Iterator[tuple[str, Unlike]]:
    """Each argument that differs, with "args" or "kwargs" for where it stands."""
    wants = [map_tensors(call.args, pair.tensor), map_tensors(call.kwargs, pair.tensor)]
    haves = [map_tensors(counterpart.args, pair.counterpart), map_tensors(counterpart.kwargs, pair.counterpart)]
    wants[0], haves[0] = _both_lists(wants[0], haves[0]), _both_lists(haves[0], wants[0])
    for side, want, have in zip(("args", "kwargs"), _alike_written(*wants, *haves), haves, strict=True):
        for leaf in unlike(want, have):
            yield side, leaf


def _both_lists(args: list[Any], others: list[Any]) -> list[Any]:
    """Arguments, a tensor in a list where the other side has a list that begins with it: what is lost is the rest.

    In tf_keras that is how a recurrent layer is called with its initial state, and without.
    """
    alone = [
        isinstance(argument, list) and len(argument) > 1 and argument[0] == mine
        for mine, argument in zip(args, others, strict=False)
    ]
    return [[mine] if is_alone else mine for mine, is_alone in zip(args, alone, strict=False)] + args[len(alone) :]


def _alike_written(args: Any, kwargs: Any, other_args: Any, other_kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, those by keyword that the clone has by keyword: it is the same call either way."""
    left = args[len(other_args) :]
    names = [name for name in other_kwargs if name not in kwargs]
    if len(names) < len(left):  # a default is not written by keyword
        left = [value for value in left if value not in (None, _ONE_CALL)]
    if not left or len(names) < len(left):
        return args, kwargs
    by_name: dict[str, Any] = {}
    for value in left:  # each goes to a keyword with its very value, if there is one
        free = [name for name in names if name not in by_name]
        by_name[next((name for name in free if other_kwargs[name] == value), free[0])] = value
    return args[: len(other_args)], {**{name: by_name[name] for name in names if name in by_name}, **kwargs}


def _ends(pair: Pair, word: str) -> Iterator[Difference]:
    """What differs of each "input", or each "output", and how they are nested."""
    original, side, model = pair.original.shape, f"{word}s", place(pair.original.shape, -1)
    for leaf in unlike(*(getattr(shape, f"{word}_structure") for shape in pair.shapes)):
        yield differs_in("structure", f"{word} structure", f"model.{word}_structure", leaf, model)
    wants, haves = (getattr(shape, side) for shape in pair.shapes)
    tensors = [pair.tensor(end.tensor) for end in wants], [pair.counterpart(end.tensor) for end in haves]
    moved = differs_in_order("structure", f"{word} ", side, *tensors, model)
    yield from moved
    if moved and len(wants) == len(haves):
        return
    names = ("shape", "dtype", "optional", *(("name",) if word == "input" else ()))
    for index, (want, have, *named) in enumerate(zip(wants, haves, *tensors, strict=False)):
        parts = [(name, getattr(want, name), getattr(have, name)) for name in names]
        for name, expected, actual in (*parts, ("tensor", *named)):
            if expected != actual:
                path, first = f"{side}[{index}].{name}", place(original, *want.tensor[:2])
                yield differs("structure", f"{word} {name}", path, expected, actual, first)
