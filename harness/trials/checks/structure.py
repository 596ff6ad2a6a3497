"""7. Structure: the same graph: layers, classes, configs, names, call arguments, order and nesting of both ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from clonediff.harness.subjects.observation import CallSeen, End, LayerSeen, Shape
from clonediff.harness.trials.checks.givers import givers
from clonediff.harness.trials.checks.pairing import Pair, map_tensors
from clonediff.harness.trials.checks.places import at, place, short
from clonediff.harness.trials.checks.skeletons import MISSING, Unlike, unlike
from clonediff.reports.records import Cost, Difference, Place

SAID_ELSEWHERE = frozenset(["name", "trainable", "build_config", "compile_config"])
BUILT_ON = frozenset(["query_shape", "key_shape", "value_shape"])
"""Shapes that a layer was built on, which its calls tell as well: a clone on other inputs is built from the config."""
GRAPHS_OWN = frozenset(["layers", "input_layers", "output_layers", "build_input_shape"])

Named: TypeAlias = tuple[str, str, str, Cost]


def structure(pair: Pair) -> list[Difference]:
    """The model, its layers in the original's order with each of their calls, then both ends."""
    if pair.observed is None:
        return []
    return [*_model(pair), *_layers(pair), *_ends(pair, "inputs"), *_ends(pair, "outputs")]


def _model(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    model = place(original, -1)
    yield from _attributes(
        "model",
        model,
        [
            ("kind", original.kind, clone.kind, Cost.PROPERTY),
            *_names(pair, original, clone),
            ("trainable", original.trainable, clone.trainable, Cost.TRAINS),
            ("compiled", original.compiled is not None, clone.compiled is not None, Cost.TRAINS),
        ],
    )
    if original.kind == clone.kind:
        for name in original.settings:
            want, have = original.settings[name], clone.settings.get(name, MISSING)
            if want != have:
                aspect = f"attribute.{name}"
                yield Difference("structure", f"model.{aspect}", aspect, want, have, Cost.COMPUTES, model)
    yield from _compiled(original.compiled or {}, clone.compiled or {}, model)
    for end, want, have in (
        ("input_structure", original.input_structure, clone.input_structure),
        ("output_structure", original.output_structure, clone.output_structure),
    ):
        for leaf in unlike(want, have):
            aspect = f"{end.replace('_', ' ')} {leaf.aspect}"
            yield Difference(
                "structure", f"model.{end}{leaf.path}", aspect, leaf.expected, leaf.found, Cost.COMPUTES, model
            )


def _compiled(want: dict[str, str], have: dict[str, str], model: Place) -> Iterator[Difference]:
    """What the clone was compiled with: "If model compiled already then set same to cloned model" (Keras' cloning.py).

    Nothing is expected where either is not compiled: that is told by itself, or promised nowhere.
    """
    for part in dict.fromkeys((*want, *have)) if want and have else ():
        expected, found = want.get(part, MISSING), have.get(part, MISSING)
        if expected != found:
            aspect = "compiled." + re.sub(r"\[[^\]]*\]", "", part)
            yield Difference("structure", f"model.compiled.{part}", aspect, expected, found, Cost.TRAINS, model)


def _ends(pair: Pair, side: str) -> Iterator[Difference]:
    original, clone = pair.shapes
    wants: Sequence[End] = getattr(original, side)
    haves: Sequence[End] = getattr(clone, side)
    model, word = place(original, -1), side.removesuffix("s")
    if len(wants) != len(haves):
        yield Difference("structure", side, f"{word} count", str(len(wants)), str(len(haves)), Cost.COMPUTES, model)
    expected = [pair.tensor(end.tensor) for end in wants]
    found = [pair.counterpart(end.tensor) for end in haves]
    if expected != found and sorted(expected) == sorted(found):
        yield Difference("structure", side, f"{word} order", short(expected), short(found), Cost.COMPUTES, model)
        return
    for index, (want, have) in enumerate(zip(wants, haves, strict=False)):
        at_end = place(original, *want.tensor[:2])
        named = [] if side == "outputs" or pair.same_name(want.name, have.name, "InputLayer") else [_named(want, have)]
        # What a ragged input is lost to is told there, and in a run.
        rows = [("ragged", want.ragged, have.ragged, Cost.PROPERTY)] if side == "inputs" else []
        yield from _attributes(
            f"{side}[{index}]",
            at_end,
            [
                *named,
                ("shape", want.shape, have.shape, Cost.PROPERTY),
                ("dtype", want.dtype, have.dtype, Cost.COMPUTES),
                ("optional", want.optional, have.optional, Cost.PROPERTY),
                ("sparse", want.sparse, have.sparse, Cost.PROPERTY),
                *rows,
                ("tensor", expected[index], found[index], Cost.COMPUTES),
            ],
            word,
        )


def _layers(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.shapes
    moved = {expected for expected, _ in pair.layers.moved}
    in_order: set[int] = set()
    gone, new = givers(pair, lambda call, twin: _unlike_arguments(pair, call, twin))
    for index, layer in enumerate(original.layers):
        first, path = place(original, index), at(original, index)
        if index not in pair.layers.found:
            if layer.inside not in pair.layers.missing:  # what a missing layer held is missing with it
                aspect = "giver missing" if index in gone else "layer missing"
                yield Difference("structure", path, aspect, layer.kind, MISSING, Cost.PROPERTY, first)
            continue
        if index in moved and layer.inside not in in_order and layer.inside not in moved:
            in_order.add(layer.inside)
            wants = [other.name for other in original.layers if other.inside == layer.inside]
            holder = pair.layers.found.get(layer.inside, -1)
            haves = [other.name for other in clone.layers if other.inside == holder]
            container = place(original, layer.inside)
            yield Difference(
                "structure",
                f"{at(original, layer.inside)}.layers",
                "layer order",
                short(wants),
                short(haves),
                Cost.PROPERTY,
                container,
            )
        yield from _layer(pair, index, first, path)
    for index in pair.layers.extra:
        layer = clone.layers[index]
        if layer.inside not in pair.layers.extra:
            path, first = f"layers[{layer.name!r}]", Place(layer.name, layer.kind)
            aspect = "giver extra" if index in new else "layer extra"
            yield Difference("structure", path, aspect, MISSING, layer.kind, Cost.PROPERTY, first)


def _names(pair: Pair, one: LayerSeen | Shape, twin: LayerSeen | Shape) -> list[Named]:
    return [] if pair.same_name(one.name, twin.name, one.kind) else [_named(one, twin)]


def _named(one: LayerSeen | Shape | End, twin: LayerSeen | Shape | End) -> Named:
    return "name", one.name, twin.name, Cost.NAME


def _layer(pair: Pair, index: int, first: Place, path: str) -> Iterator[Difference]:
    original, clone = pair.shapes
    layer, twin = original.layers[index], clone.layers[pair.layers.found[index]]
    # An input has nothing to train: it is frozen with its model, and nobody can tell.
    trains = [] if layer.kind == "InputLayer" else [("trainable", layer.trainable, twin.trainable, Cost.TRAINS)]
    yield from _attributes(
        path,
        first,
        [
            ("kind", layer.kind, twin.kind, Cost.PROPERTY),
            *_names(pair, layer, twin),
            ("role", layer.role, twin.role, Cost.PROPERTY),
            *trains,
            ("supports_masking", layer.supports_masking, twin.supports_masking, Cost.PROPERTY),
            ("policy", layer.policy, twin.policy, Cost.PROPERTY),
        ],
    )
    if layer.kind == twin.kind:
        yield from _config(layer, twin, first, path)
    calls = pair.calls[index]
    if len(layer.calls) != len(twin.calls):
        want, have = f"{len(layer.calls)} calls", f"{len(twin.calls)} calls"
        yield Difference("structure", f"{path}.calls", "call count", want, have, Cost.PROPERTY, first)
    if calls.moved:
        order = [found for _, found in calls.pairs]
        yield Difference(
            "structure",
            f"{path}.calls",
            "call order",
            short(sorted(order)),
            short(order),
            Cost.PROPERTY,
            first,
        )
    for use, found in calls.pairs:
        at_call = place(original, index, use)
        yield from _call(pair, layer.calls[use], twin.calls[found], at_call, f"{path}.calls[{use}]")


def _config(layer: LayerSeen, twin: LayerSeen, first: Place, path: str) -> Iterator[Difference]:
    passed_over = SAID_ELSEWHERE | GRAPHS_OWN if "layers" in layer.config else SAID_ELSEWHERE
    if layer.kind == "MultiHeadAttention":
        passed_over |= BUILT_ON
    for key in dict.fromkeys((*layer.config, *twin.config)):
        want, have = layer.config.get(key, MISSING), twin.config.get(key, MISSING)
        if want == have or key in passed_over:
            continue
        cost = Cost.TRAINS if key.endswith(("_regularizer", "_constraint")) else Cost.PROPERTY
        setting = key.removeprefix(".")
        kind = "attribute" if key != setting else "config"
        yield Difference("structure", f"{path}.{kind}.{setting}", f"{kind}.{setting}", want, have, cost, first)


def _call(pair: Pair, call: CallSeen, twin: CallSeen, first: Place, path: str) -> Iterator[Difference]:
    if call.outputs != twin.outputs:
        want, have = f"{call.outputs} tensors", f"{twin.outputs}"
        yield Difference("structure", f"{path}.outputs", "call outputs", want, have, Cost.COMPUTES, first)
    for side, leaf in _unlike_arguments(pair, call, twin):
        where, aspect = f"{path}.{side}{leaf.path}", f"call.{side} {leaf.aspect}"
        yield Difference("structure", where, aspect, leaf.expected, leaf.found, Cost.PROPERTY, first)


def _unlike_arguments(pair: Pair, call: CallSeen, twin: CallSeen) -> Iterator[tuple[str, Unlike]]:
    wants = [map_tensors(call.args, pair.tensor), map_tensors(call.kwargs, pair.tensor)]
    haves = [map_tensors(twin.args, pair.counterpart), map_tensors(twin.kwargs, pair.counterpart)]
    wants[1], haves[1] = _with_left_masks(wants[1], haves[1]), _with_left_masks(haves[1])
    wants[0], haves[0] = _both_lists(wants[0], haves[0]), _both_lists(haves[0], wants[0])
    for side, want, have in zip(("args", "kwargs"), _alike_written(*wants, *haves), haves, strict=True):
        for leaf in unlike(want, have):
            yield side, leaf


def _with_left_masks(kwargs: Any, others: Any = None) -> Any:
    """Arguments by keyword, with the masks that Keras 2 left among them; without, where the `others` have none."""
    told = {name: value["left"] if _was_left(value) else value for name, value in kwargs.items()}
    return {name: told[name] for name in told if others is None or name in others or not _was_left(kwargs[name])}


def _was_left(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"left"}


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
    if not left or len(names) < len(left):
        return args, kwargs
    given: dict[str, Any] = {}
    for value in left:  # each goes to a keyword with its very value, if there is one
        free = [name for name in names if name not in given]
        given[next((name for name in free if its_kwargs[name] == value), free[0])] = value
    return args[: len(its_args)], {**{name: given[name] for name in names if name in given}, **kwargs}


def _attributes(
    path: str, first: Place, attributes: Sequence[tuple[str, object, object, Cost]], word: str = ""
) -> Iterator[Difference]:
    for name, want, have, cost in attributes:
        if want != have:
            aspect = f"{word} {name}".strip()
            yield Difference("structure", f"{path}.{name}", aspect, short(want), short(have), cost, first)
