"""7. Structure: the same graph: layers, classes, configs, names, call arguments, order and nesting of both ends.

And in every public attribute and property the same, at any depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.subjects.observation import LayerSeen, Shape
from clonediff.harness.trials.checks import calls, compiled, ends, holdings, settings
from clonediff.harness.trials.checks.argument_givers import givers
from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, loses, renames, trains
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Spread, Stage, Thing, Turn
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, kind_of, named, place, short
from clonediff.harness.trials.checks.settings import WHOLE_CONFIG
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Place, Severity
from clonediff.strategies.kinds import CATALOGUE

_BUT_INPUTS = "if not isinstance(each, keras.layers.InputLayer)"


def _names(difference: Difference, dialect: str) -> Comparison:
    kind = kind_of(difference)
    if kind == "InputLayer" and dialect == "keras":
        return ends.names_of_inputs(difference, dialect)
    if re.fullmatch(r"layers\['[^'/]*'\]\.name", difference.path):
        if dialect != "keras":
            return Comparison("[each.name for each in {}.layers]")
        # Inputs have names of their own; what is no layer stands among the operations only.
        layers = "layers" if kind in CATALOGUE else "operations"
        return Comparison(f"[each.name for each in {{}}.{layers} {_BUT_INPUTS}]")
    if difference.path.startswith("layers") and kind in CATALOGUE and kind != "InputLayer":
        return Comparison(f"[each.name for each in {{}}._flatten_layers() {_BUT_INPUTS}]")
    return WHOLE_CONFIG


def _trainable(difference: Difference, dialect: str) -> Comparison:
    layer = named(difference, dialect)
    return Comparison(f"{layer}.trainable") if layer else WHOLE_CONFIG


def _kind(difference: Difference, dialect: str) -> Comparison:
    return Comparison("type({}).__name__") if difference.path == "model.kind" else WHOLE_CONFIG


def _there(difference: Difference, dialect: str) -> Comparison:
    """Which layers there are; what is no layer is not listed."""
    if kind_of(difference) not in CATALOGUE:
        return WHOLE_CONFIG
    return Comparison("sorted(type(each).__name__ for each in {}._flatten_layers())")


_OF_ANOTHER_LAYER = (Thing.RESULTS, Thing.WIRING, Thing.LISTING, Thing.COPYING, Thing.BUILD)
"""What changes where a layer is another, is gone or is new."""

ASPECTS = Aspects(
    "structure",
    loses(
        ("kind", "{a} is of another class{inside}"),
        changes=(*_OF_ANOTHER_LAYER, Thing.SETTINGS, Thing.CONTENT),
        turn=Turn.FIRST,
        shown=_kind,
    ),
    loses(
        ("layer missing", "{a} is missing{inside}"),
        ("layer extra", "there is one {kind} more{inside}"),
        changes=_OF_ANOTHER_LAYER,
        turn=Turn.FIRST,
        shown=_there,
    ),
    loses(
        ("giver missing", "{a} that gave an argument of a call is missing{inside}"),
        ("giver extra", "there is one {kind} more that gives an argument of a call{inside}"),
        changes=(Thing.LISTING, Thing.BUILD),
        shows=(Thing.GIVERS,),
        turn=Turn.VIEWS,
    ),
    loses(
        ("layer order", "the layers of {a} come in another order{inside}"),
        quiet=True,
        changes=(Thing.WIRING, Thing.LISTING, Thing.COPYING),
        shows=(Thing.LISTING, Thing.NESTING, Thing.SETTINGS),
        turn=Turn.VIEWS,
        any_layer=True,
    ),
    renames(("name", "{a} has another name{inside}"), any_layer=True, shown=_names),
    trains(("trainable", "a {frozen} {kind} is {thawed}{inside}"), any_layer=True, shown=_trainable),
    calls.ASPECTS,
    settings.ASPECTS,
    holdings.ATTRIBUTES,
    ends.ASPECTS,
    compiled.ASPECTS,
    shown=WHOLE_CONFIG,
)


def _are_of_layers(cause: Difference, effect: Difference, flow: Flow) -> bool:
    places = (each.first for each in (cause, effect) if each.first is not None)
    return all(each.layer >= 0 and each.kind not in ("Functional", "Model", "Sequential") for each in places)


def _thawed(cause: Difference, effect: Difference, flow: Flow) -> bool:
    # What holds layers computes as they do: it is their own flags, which differ too then, that can show in a run.
    first = cause.first
    in_training = effect.check in ("outputs", "masks") and effect.path.startswith("training")
    return in_training and first is not None and first.layer >= 0 and not first.container


_LINKS = (
    # One layer was put in the place of the other.
    Link("layer missing", "layer extra", Spread.ANYWHERE),
    Link("layer extra", "layer missing", Spread.ANYWHERE),
    # What it gave is gone.
    Link("layer missing", "call.*", Spread.DOWNSTREAM),
    # A layer that is called less often, where another of its kind is called instead.
    Link("layer extra", "call count", Spread.ANYWHERE, lambda one, other, flow: kind_of(one) == kind_of(other) != ""),
    # A layer is frozen with what it holds, but each layer of a model has a flag of its own.
    Link("trainable", "trainable", Spread.AROUND, _are_of_layers),
    # A weight is trained where its layer is.
    Link("trainable", "weight trainable", Spread.AROUND),
    # Before Keras 3 a model lists the weights that are trained first.
    Link("trainable", "weight order", Spread.ANYWHERE, lambda cause, effect, flow: flow.trained_first()),
    # A layer that is not frozen, such as a batch normalization, computes otherwise in training mode.
    Link("trainable", "*", Spread.DOWNSTREAM, _thawed),
    *calls.LINKS,
    *settings.LINKS,
    *holdings.LINKS,
)


def structure(pair: Pair) -> list[Difference]:
    """The model, its layers in the original's order with each of their calls, then both ends."""
    original, clone = pair.shapes
    model = place(original, -1)
    return [
        *_attributes(pair, original, clone, model, "model"),
        *compiled.compiled(original.compiled, clone.compiled, model),
        *_layers(pair),
        *holdings.attributes(pair),
        *ends.ends(pair, "input"),
        *ends.ends(pair, "output"),
    ]


def _layers(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    moved = {expected for expected, _ in pair.layers.moved}
    in_order: set[int] = set()
    gone, new = givers(pair)
    for index, layer in enumerate(original.layers):
        first, path = place(original, index), at(original, index)
        if index not in pair.layers.found:
            if layer.inside not in pair.layers.missing:  # what a missing layer held is missing with it
                aspect = "giver missing" if index in gone else "layer missing"
                yield ASPECTS.differs(aspect, path, layer.kind, MISSING, first)
            continue
        if index in moved and layer.inside not in in_order and layer.inside not in moved:
            in_order.add(layer.inside)
            holders = (original, layer.inside), (clone, pair.layers.found.get(layer.inside, -1))
            wants, haves = (short([each.name for each in shape.layers if each.inside == its]) for shape, its in holders)
            where = f"{at(original, layer.inside)}.layers"
            yield ASPECTS.differs("layer order", where, wants, haves, place(original, layer.inside))
        yield from _layer(pair, index, first, path)
    for index in pair.layers.extra:
        layer = clone.layers[index]
        if layer.inside not in pair.layers.extra:
            aspect = "giver extra" if index in new else "layer extra"
            first = replace(place(clone, index), layer=-1, container=False)  # no layer of the original
            yield ASPECTS.differs(aspect, at(clone, index), MISSING, layer.kind, first)


def _layer(pair: Pair, index: int, first: Place, path: str) -> Iterator[Difference]:
    original, clone = pair.shapes
    layer, twin = original.layers[index], clone.layers[pair.layers.found[index]]
    yield from _attributes(pair, layer, twin, first, path)
    if layer.kind == twin.kind:
        yield from settings.settings(layer, twin, first, path)
    yield from calls.calls(pair, index, first)


def _attributes(
    pair: Pair, one: LayerSeen | Shape, twin: LayerSeen | Shape, first: Place, path: str
) -> Iterator[Difference]:
    """What differs in the class, the name and the flag of a layer or of the model."""
    # An input has nothing to train: it is frozen with its model, and nobody can tell.
    for name in ("kind", "name") if one.kind == "InputLayer" else ("kind", "name", "trainable"):
        want, have = getattr(one, name), getattr(twin, name)
        if want != have and not (name == "name" and pair.same_name(want, have, one.kind)):
            flag_alone = name == "trainable" and not _trains_otherwise(pair, first.layer)
            severity = Severity.PROPERTY if flag_alone else None
            yield ASPECTS.differs(name, f"{path}.{name}", short(want), short(have), first, severity=severity)


def _trains_otherwise(pair: Pair, layer: int) -> bool:
    """Whether a weight of a layer, or of the model for -1, is trained in one of the two models only."""
    original, clone = pair.shapes
    within = {layer}
    for index, each in enumerate(original.layers):
        if each.inside in within:
            within.add(index)
    flags = ((original.weights[ours], clone.weights[theirs]) for ours, theirs in pair.weights.pairs)
    return any(ours.trainable != theirs.trainable and ours.owner in within for ours, theirs in flags)


CHECK = Check(ASPECTS, Stage.STRUCTURE, structure, links=_LINKS)
