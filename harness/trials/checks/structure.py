"""structure: the same layers, configs, names, calls, inputs, outputs and attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from clonediff.harness.observation import CallRecord, LayerRecord, Structure
from clonediff.harness.trials.checks import facts
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.aspects import ARGUMENTS, Aspect, compare_order, difference_at, difference_of
from clonediff.harness.trials.checks.paths import path_of, place
from clonediff.harness.trials.checks.skeletons import CHANGES, MISSING, Mismatch, map_tensors, mismatches
from clonediff.reports.records import NAME, OUTPUT, PROPERTY, Change, Difference, Part, Place

_ENDPOINTS: tuple[Part, ...] = ("input", "output")
_row = functools.partial(Aspect, "structure")
_replaced = functools.partial(Aspect, "structure", "replaced", PROPERTY)
_chosen = functools.partial(Aspect, "structure", "chosen", PROPERTY)
KIND = _replaced("kind", "", "{a} is of another class{inside}", "kinds")
LAYER_LOST = _replaced("layer", "missing", "{a} is missing{inside}", "kinds")
LAYER_ADDED = _replaced("layer", "extra", "there is one {kind} more{inside}", "kinds")
CALL_COUNT = _chosen("call", "count", "{a} has another number of calls{inside}", "config", True)
_CALLS = "the calls of a shared {kind} come in another order{inside}"
CALL_ORDER = _row("quiet", PROPERTY, "call", "order", _CALLS, "config", True)
_OUTPUTS = "a call of {a} gives another number of tensors{inside}"
CALL_OUTPUTS = _row("chosen", OUTPUT, "call", "outputs", _OUTPUTS, "config", True)
_EXTRA_TITLE = "a call has {an_argument} among its arguments{inside}, and not in the original"
CALL_ARGUMENTS = (
    _chosen(ARGUMENTS, "missing", "{argument} of a call is lost{inside}", "config", True),
    _chosen(ARGUMENTS, "type", "{form} in the arguments of a call is {found_form}{inside}", "config", True),
    _chosen(ARGUMENTS, ("tensor", "value", "order"), "{argument} of a call is another{inside}", "config", True),
    _row("derived", PROPERTY, ARGUMENTS, "extra", _EXTRA_TITLE, "config", True),
)
FLAG = _chosen("trainable", "", "a {frozen} {kind} is {thawed}{inside}", "trainable", True, topic="flag")
RENAMED = _row("chosen", NAME, "name", "", "{a} has another name{inside}", "names", True)
_end = functools.partial(Aspect, "structure", "derived", OUTPUT)
_END = "an {part} of a model has another {change}{inside}{at}"
_NESTING = "the %s of a model have another structure{inside}"
_OPTIONAL_TITLE = "an {part} of a model that is {was}{change} is {now}{change}{inside}{at}"
ENDS = (
    _end(_ENDPOINTS, "count", "a model has another number of {part}s{inside}", "config"),
    _end(_ENDPOINTS, "order", "a model has its {part}s in another order{inside}", "config", True),
    _end(_ENDPOINTS, "tensor", _END, "config", True),
    _end(_ENDPOINTS, "dtype", _END, "config"),
    _row("derived", PROPERTY, _ENDPOINTS, "shape", _END, "config"),
    _row("quiet", PROPERTY, _ENDPOINTS, "optional", _OPTIONAL_TITLE, "config"),
    _row("derived", NAME, "input", "name", "an input of a model has another name{inside}", "names", True),
    _end("input structure", CHANGES, _NESTING % "inputs", "config"),
    _end("output structure", CHANGES, _NESTING % "outputs", "config"),
)
_LAYERS = "the layers of {a} come in another order{inside}"
LAYER_ORDER = _row("quiet", PROPERTY, "layer", "order", _LAYERS, "config", True)

_FIELDS: tuple[Change, ...] = ("shape", "dtype", "optional", "name")
"""The fields of inputs and outputs to compare, except an output's name."""
_SPECIAL_ARGUMENTS = re.compile(r"initial_state|constants|mask|\w+_mask")
_RECURRENT = re.compile(r".*RNN|.*GRU|.*LSTM\w*|Bidirectional")
_DEFAULT = {"value": "default"}
"""The skeleton of an argument that equals its default, if positional arguments follow."""


def check_structure(pair: Pair) -> list[Difference]:
    original, clone = pair.structures
    return [
        *_compare_fields(pair, original, clone, place(original, -1), "model"),
        *_compare_layers(pair),
        *facts.check_facts(pair),
        *_compare_ends(pair, "input", "input structure"),
        *_compare_ends(pair, "output", "output structure"),
    ]


def _compare_layers(pair: Pair) -> Iterator[Difference]:
    original, clone = pair.structures
    moved = {index for index, _ in pair.layers.moved_pairs}
    checked_holders: set[int] = set()
    for index, layer in enumerate(original.layers):
        first, path, holder = place(original, index), path_of(original, index), layer.holder
        if index not in pair.layers.counterparts:
            if holder not in pair.layers.missing:  # in a missing layer, sublayers are not reported
                yield LAYER_LOST.difference(path, layer.kind, MISSING, first)
            continue
        if index in moved and holder not in checked_holders and holder not in moved:
            checked_holders.add(holder)
            models = (original, holder), (clone, pair.layers.counterparts.get(holder, -1))
            names, found = ([model.layers[part].name for part in model.members[number]] for model, number in models)
            yield LAYER_ORDER.difference(f"{path_of(original, holder)}.layers", names, found, place(original, holder))
        yield from _compare_fields(pair, layer, clone.layers[pair.layers.counterparts[index]], first, path)
        yield from _compare_calls(pair, index, first)
    for index in pair.layers.extra:
        layer = clone.layers[index]
        if layer.holder not in pair.layers.extra:
            first = replace(place(clone, index), layer=-1, container=False)  # the original has no such layer
            yield LAYER_ADDED.difference(path_of(clone, index), MISSING, layer.kind, first)


def _compare_fields(
    pair: Pair, layer: LayerRecord | Structure, counterpart: LayerRecord | Structure, first: Place, path: str
) -> Iterator[Difference]:
    """Find differences in class, name and `trainable` flag."""
    # The flag of an input has no effect.
    for name, row in (("kind", KIND), ("name", RENAMED), ("trainable", FLAG)):
        expected, found = getattr(layer, name), getattr(counterpart, name)
        if row is KIND and expected == found and layer.code != counterpart.code:
            found = f"another {found}"
        if expected != found and not (row is FLAG and layer.kind == "InputLayer"):
            yield row.difference(f"{path}.{name}", expected, found, first)


def _compare_calls(pair: Pair, index: int, first: Place) -> Iterator[Difference]:
    original, clone = pair.structures
    calls = original.layers[index].calls
    clone_calls = clone.layers[pair.layers.counterparts[index]].calls
    alignment, path = pair.calls[index], f"{path_of(original, index)}.calls"
    if len(calls) != len(clone_calls):
        yield CALL_COUNT.difference(path, f"{len(calls)} calls", f"{len(clone_calls)} calls", first)
    if alignment.moved_pairs:
        yield CALL_ORDER.difference(path, *alignment.orders, first)
    for number, counterpart in alignment.pairs:
        expected, found, first = calls[number], clone_calls[counterpart], place(original, index, number)
        if expected.output_count != found.output_count:
            yield CALL_OUTPUTS.difference(f"{path}[{number}].outputs", expected.output_count, found.output_count, first)
        for part, mismatch in _argument_mismatches(pair, expected, found):
            name = _argument_name(part, mismatch.keys, first.kind)
            prefix = f"{path}[{number}].{'args' if part == ARGUMENTS[0] else 'kwargs'}"
            yield difference_at(CALL_ARGUMENTS, part, mismatch, prefix, first, argument=name)


def _argument_name(part: Part, keys: tuple[Any, ...], kind: str) -> str:
    """The name of an argument that is special for Keras, such as a mask, or ""."""
    if part == "call.kwargs":
        return keys[0] if keys and _SPECIAL_ARGUMENTS.fullmatch(keys[0]) else ""
    return "initial_state" if _RECURRENT.fullmatch(kind) and keys[:1] == (0,) and any(keys[1:2]) else ""


def _argument_mismatches(pair: Pair, call: CallRecord, counterpart: CallRecord) -> Iterator[tuple[Part, Mismatch]]:
    """The arguments that differ; the part is `args` or `kwargs`."""
    expected = [map_tensors(call.args, pair.tensor_name), map_tensors(call.kwargs, pair.tensor_name)]
    name = pair.name_in_original
    found = [map_tensors(counterpart.args, name), map_tensors(counterpart.kwargs, name)]
    expected[0], found[0] = _use_lists(expected[0], found[0]), _use_lists(found[0], expected[0])
    for part, value, clone_value in zip(ARGUMENTS, _use_keywords(*expected, *found), found, strict=True):
        for mismatch in mismatches(value, clone_value):
            yield part, mismatch


def _use_lists(args: list[Any], other_args: list[Any]) -> list[Any]:
    """Put a tensor into a list if a list in `other_args` begins with it."""
    pairs = list(zip(args, other_args, strict=False))
    lists = [
        [argument] if isinstance(other, list) and len(other) > 1 and other[0] == argument else argument
        for argument, other in pairs
    ]
    return lists + args[len(pairs) :]


def _use_keywords(args: Any, kwargs: Any, other_args: Any, other_kwargs: Any) -> tuple[Any, Any]:
    """Turn positional arguments into keywords, as in the clone."""
    rest = args[len(other_args) :]
    names = [name for name in other_kwargs if name not in kwargs]
    if len(names) < len(rest):  # the clone has no keyword for a default
        rest = [value for value in rest if value not in (None, _DEFAULT)]
    if not rest or len(names) < len(rest):
        return args, kwargs
    by_name: dict[str, Any] = {}
    for value in rest:  # prefer a keyword that has an equal value
        free_names = [name for name in names if name not in by_name]
        by_name[next((name for name in free_names if other_kwargs[name] == value), free_names[0])] = value
    return args[: len(other_args)], {**{name: by_name[name] for name in names if name in by_name}, **kwargs}


def _compare_ends(pair: Pair, part: Part, nesting: Part) -> Iterator[Difference]:
    original, plural, model = pair.original.structure, f"{part}s", place(pair.original.structure, -1)
    for mismatch in mismatches(*(getattr(structure, f"{part}_structure") for structure in pair.structures)):
        yield difference_at(ENDS, nesting, mismatch, f"model.{part}_structure", model)
    ends, clone_ends = (getattr(structure, plural) for structure in pair.structures)
    tensors = [pair.tensor_name(end.tensor) for end in ends], [pair.name_in_original(end.tensor) for end in clone_ends]
    moved = compare_order(ENDS, part, plural, *tensors, model)
    yield from moved
    if moved and len(ends) == len(clone_ends):
        return
    for index, (end, clone_end, *names) in enumerate(zip(ends, clone_ends, *tensors, strict=False)):
        values = {field: [getattr(end, field), getattr(clone_end, field)] for field in _FIELDS}
        for change, (expected, found) in {**values, "tensor": names}.items():
            if expected != found and (part, change) != ("output", "name"):
                path, first = f"{plural}[{index}].{change}", place(original, *end.tensor[:2])
                yield difference_of(ENDS, part, change, path, expected, found, first)
