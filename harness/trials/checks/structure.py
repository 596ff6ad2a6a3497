"""7. Structure: the same graph: layers, classes, configs, names, call arguments, order and nesting of both ends.

And in every public attribute and property the same, at any depth.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.subjects.observation import LayerSeen, Shape
from clonediff.harness.trials.checks import calls, ends, facts
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place, short
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Place


def structure(pair: Pair) -> list[Difference]:
    """The model, its layers in the original's order with each of their calls, then both ends."""
    original, clone = pair.shapes
    model = place(original, -1)
    return [
        *_attributes(pair, original, clone, model, "model"),
        *_layers(pair),
        *facts.facts(pair),
        *ends.ends(pair, "input"),
        *ends.ends(pair, "output"),
    ]


def _layers(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    moved = {expected for expected, _ in pair.layers.moved}
    in_order: set[int] = set()
    for index, layer in enumerate(original.layers):
        first, path = place(original, index), at(original, index)
        if index not in pair.layers.found:
            if layer.inside not in pair.layers.missing:  # what a missing layer held is missing with it
                yield differs("structure", "layer missing", path, layer.kind, MISSING, first)
            continue
        if index in moved and layer.inside not in in_order and layer.inside not in moved:
            in_order.add(layer.inside)
            holders = (original, layer.inside), (clone, pair.layers.found.get(layer.inside, -1))
            wants, haves = (short([each.name for each in shape.layers if each.inside == its]) for shape, its in holders)
            where = f"{at(original, layer.inside)}.layers"
            yield differs("structure", "layer order", where, wants, haves, place(original, layer.inside))
        yield from _layer(pair, index, first, path)
    for index in pair.layers.extra:
        layer = clone.layers[index]
        if layer.inside not in pair.layers.extra:
            first = replace(place(clone, index), layer=-1, container=False)  # no layer of the original
            yield differs("structure", "layer extra", at(clone, index), MISSING, layer.kind, first)


def _layer(pair: Pair, index: int, first: Place, path: str) -> Iterator[Difference]:
    original, clone = pair.shapes
    layer, twin = original.layers[index], clone.layers[pair.layers.found[index]]
    yield from _attributes(pair, layer, twin, first, path)
    yield from calls.calls(pair, index, first)


def _attributes(
    pair: Pair, one: LayerSeen | Shape, twin: LayerSeen | Shape, first: Place, path: str
) -> Iterator[Difference]:
    """What differs in the class, the name and the flag of a layer or of the model."""
    # An input has nothing to train: it is frozen with its model, and nobody can tell.
    for name in ("kind", "name") if one.kind == "InputLayer" else ("kind", "name", "trainable"):
        want, have = getattr(one, name), getattr(twin, name)
        if want != have and not (name == "name" and pair.same_name(want, have, one.kind)):
            yield differs("structure", name, f"{path}.{name}", short(want), short(have), first)


CHECK = Check("structure", structure)
