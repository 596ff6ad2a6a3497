"""A release's catalogue: its layers and operations, with arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clonediff.strategies.kind import FALLBACK_INPUTS, Kind, combine
from clonediff.strategies.layers import CATALOGUE, EXCLUDED_LAYERS
from clonediff.strategies.operations import operations_of
from clonediff.strategies.values import EXCLUDED_ARGUMENTS, values

Signature = Mapping[str, Any]
"""The parameters of a layer's `constructor` and of its `call`."""
_LAYERS_PER_OPERATION = 3
"""How many layers to draw for one operation."""


def kinds_of(
    layers: Mapping[str, Signature],
    functions: Mapping[str, Any],
    generation: str,
    *,
    user_layers: Mapping[str, Signature] | None = None,
    more_values: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Kind]:
    """The kinds of a release and of users' layers; `more_values` adds values, by argument."""
    more_values = more_values or {}
    kinds: dict[str, Kind] = {}
    for name, kind in CATALOGUE.items():
        if name in layers:
            kinds[name] = _complete(kind, layers[name], more_values)
        elif kind.family == "custom" and (generation == "keras" or name != "Louder"):
            kinds[name] = kind
    for name, signature in layers.items():
        if name not in kinds and name not in EXCLUDED_LAYERS:
            kinds[name] = _unlisted_kind(name, signature, more_values)
    operations = operations_of(functions, generation)
    total = sum(kind.weight for kind in kinds.values())
    operation_weight = sum(kind.weight for kind in operations.values())
    factor = max(1, round(_LAYERS_PER_OPERATION * operation_weight / max(1, total)))
    kinds = {name: replace(kind, weight=factor * kind.weight) for name, kind in kinds.items()}
    kinds.update(operations)
    if user_layers:
        user_kinds = {name: _unlisted_kind(name, layer, more_values) for name, layer in user_layers.items()}
        weight = max(2, sum(kind.weight for kind in kinds.values()) // (2 * len(user_layers)))
        groups = (kinds.values(), user_kinds.values())
        count, user_count = (sum(len(kind.options) for kind in group) for group in groups)
        share = max(1, count // (2 * max(1, user_count)))
        # The user's layers come first: failing examples shrink to them.
        kinds = {name: replace(kind, weight=weight, share=share) for name, kind in user_kinds.items()} | kinds
    return kinds


def _unlisted_kind(name: str, signature: Signature, more_values: Mapping[str, tuple[str, ...]]) -> Kind:
    """The kind of a layer that `CATALOGUE` does not list."""
    # If the call has several required arguments, each is a tensor.
    count = sum(bool(parameter.get("required")) for parameter in signature["call"])
    kind = Kind(name, counts=(1, 3), packing="one or each", inputs=FALLBACK_INPUTS, weight=2)
    if count > 1:
        kind = replace(kind, counts=(count, count), packing="each")
    return _complete(kind, signature, more_values)


def _complete(kind: Kind, signature: Signature, more_values: Mapping[str, tuple[str, ...]]) -> Kind:
    """Add the signature's arguments to a kind; remove all others."""
    bases, options = kind.base_arguments, dict(kind.options)
    if kind.family != "lambda":
        parameters = {parameter["name"]: parameter for parameter in signature["constructor"]}
        bases = tuple(base for base in bases if all(key in parameters for key, _ in base)) or ((),)
        names = [name for name, parameter in parameters.items() if parameter.get("required")]
        names = [name for name in names if name not in dict(bases[0])]
        candidates = {name: more_values.get(name) or values(name, required=True) or ("0.5",) for name in names}
        bases = tuple((*base, *arguments) for base in bases for arguments in combine(candidates))
        for name, parameter in parameters.items():
            if name in more_values:
                options[name] = more_values[name]
            elif not parameter.get("required") and name not in EXCLUDED_ARGUMENTS:
                options[name] = values(name, parameter.get("default"))
    options = {name: texts for name, texts in options.items() if texts}
    call_parameters = {parameter["name"]: parameter for parameter in signature["call"]}
    call = {key: texts for key, texts in kind.call.items() if key in call_parameters}
    tensor_arguments = [name for name in kind.tensor_arguments if name in call_parameters]
    if "mask" in call_parameters and "mask" not in tensor_arguments:
        tensor_arguments.append("mask")
    for name, parameter in call_parameters.items():
        if name not in call and name == "training":
            call[name] = ("", "", "True")
        elif name not in call and isinstance(parameter.get("default"), bool):
            call[name] = ("", "", "", repr(not parameter["default"]))
    kind = replace(kind, base_arguments=bases, options=options)
    return replace(kind, call=call, tensor_arguments=tuple(tensor_arguments))
