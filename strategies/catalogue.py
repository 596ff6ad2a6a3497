"""The catalogue of a release: its layers and operations, with their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clonediff.strategies.kind import FALLBACK_INPUTS, Kind, combined
from clonediff.strategies.layers import CATALOGUE, EXCLUDED_LAYERS
from clonediff.strategies.operations import operations_of
from clonediff.strategies.values import EXCLUDED_ARGUMENTS, values

Signature = Mapping[str, Any]
"""The parameters of a layer's `constructor` and of its `call`."""
_LAYERS = 3
"""How many layers to draw for one operation."""


def kinds_of(
    layers: Mapping[str, Signature],
    functions: Mapping[str, Any],
    generation: str,
    *,
    own: Mapping[str, Signature] | None = None,
    further: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Kind]:
    """Return the kinds of a release by name, with the user's `own` layers.

    `further` has more values to try, by argument.
    """
    further = further or {}
    kinds: dict[str, Kind] = {}
    for name, kind in CATALOGUE.items():
        if name in layers:
            kinds[name] = _completed(kind, layers[name], further)
        elif kind.family == "custom" and (generation == "keras" or name != "Louder"):
            kinds[name] = kind
    for name, signature in layers.items():
        if name not in kinds and name not in EXCLUDED_LAYERS:
            kinds[name] = _unlisted(name, signature, further)
    operations = operations_of(functions, generation)
    total = sum(kind.weight for kind in kinds.values())
    times = max(1, round(_LAYERS * sum(kind.weight for kind in operations.values()) / max(1, total)))
    kinds = {name: replace(kind, weight=times * kind.weight) for name, kind in kinds.items()}
    kinds.update(operations)
    if own:
        made = {name: _unlisted(name, signature, further) for name, signature in own.items()}
        weight = max(2, sum(kind.weight for kind in kinds.values()) // (2 * len(own)))
        pairs, own_pairs = (sum(len(kind.optional) for kind in some.values()) for some in (kinds, made))
        share = max(1, pairs // (2 * max(1, own_pairs)))
        kinds.update({name: replace(kind, weight=weight, share=share) for name, kind in made.items()})
    return kinds


def _unlisted(name: str, signature: Signature, further: Mapping[str, tuple[str, ...]]) -> Kind:
    """Return the kind of a layer without a row in `layers`."""
    # If the call has several required arguments, each is a tensor.
    count = sum(bool(parameter.get("required")) for parameter in signature["call"])
    kind = Kind(name, takes=(1, 3), packed="any", inputs=FALLBACK_INPUTS, weight=2)
    if count > 1:
        kind = replace(kind, takes=(count, count), packed="each")
    return _completed(kind, signature, further)


def _completed(kind: Kind, signature: Signature, further: Mapping[str, tuple[str, ...]]) -> Kind:
    """Return the kind with the arguments of the signature, and without those that it lacks."""
    bases, more = kind.bases, dict(kind.optional)
    if kind.family != "lambda":
        has = {parameter["name"]: parameter for parameter in signature["constructor"]}
        bases = tuple(base for base in bases if all(key in has for key, _ in base)) or ((),)
        needed = [name for name, parameter in has.items() if parameter.get("required") and name not in dict(bases[0])]
        missing = {name: further.get(name) or values(name, required=True) or ("0.5",) for name in needed}
        bases = tuple((*base, *added) for base in bases for added in combined(missing))
        for name, parameter in has.items():
            if name in further:
                more[name] = further[name]
            elif not parameter.get("required") and name not in EXCLUDED_ARGUMENTS:
                more[name] = values(name, parameter.get("default"))
    more = {name: texts for name, texts in more.items() if texts}
    takes = {parameter["name"]: parameter for parameter in signature["call"]}
    call_options = {key: texts for key, texts in kind.call.items() if key in takes}
    extra = [name for name in kind.tensor_arguments if name in takes]
    if "mask" in takes and "mask" not in extra:
        extra.append("mask")
    for name, parameter in takes.items():
        if name not in call_options and name == "training":
            call_options[name] = ("", "", "True")
        elif name not in call_options and isinstance(parameter.get("default"), bool):
            call_options[name] = ("", "", "", repr(not parameter["default"]))
    return replace(kind, bases=bases, optional=more, call=call_options, tensor_arguments=tuple(extra))
