"""The kinds of a release: its classes of layers, each with the arguments of its signature.

Owns how a signature becomes an entry. What the catalogue says of a layer stands first; of one that it does not know,
the arguments that are needed have values by their names, and it may be called in any form. Where that leaves a layer
without options, its arguments are such as far as there is room: what mostly stays away would hardly be drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import msgspec

from clonediff.strategies.graph import Value
from clonediff.strategies.kinds import CATALOGUE
from clonediff.strategies.kinds.arguments import SAID_OTHERWISE, values
from clonediff.strategies.kinds.kind import LEFT_OUT, NO_PLAIN_DEFAULT, Kind, Parameter, Parameters
from clonediff.strategies.kinds.not_drawn import NOT_DRAWN

UNLISTED = "unlisted"
"""The family of what the catalogue does not know."""
ROOM = 5
"""So many options a kind can have, those of its calls among them."""

Values = Mapping[str, tuple[Value, ...]]


class Signature(msgspec.Struct, frozen=True):
    """What a layer's constructor takes, and its call; None where that cannot be told."""

    constructor: Parameters | None = None
    call: Parameters | None = None


def kinds_of(
    layers: Mapping[str, Signature],
    *,
    custom: Collection[str] = (),
    tried: Values | None = None,
) -> Mapping[str, Kind]:
    """The kinds of a release that has these layers, and of those that the catalogue has for itself the `custom` ones.

    In the order of the catalogue, then what it does not know. `tried` has further values, by the name of an argument.
    """
    found: dict[str, Kind] = {}
    for name, kind in CATALOGUE.items():
        if name in layers:
            found[name] = _completed(kind, layers[name], tried or {})
        elif kind.family == "custom" and name in custom:
            found[name] = kind
    for name, signature in layers.items():
        if name not in found and name not in NOT_DRAWN:
            found[name] = _completed(_unlisted(name, signature, tried or {}), signature, tried or {})
    return found


def _unlisted(name: str, signature: Signature, tried: Values) -> Kind:
    """A layer of which its signature is all that is known."""
    needed = [each.name for each in signature.constructor or () if each.required]
    # A call that needs several tensors takes them one by one.
    count = sum(each.required for each in signature.call or ())
    several = {"takes": (count, count), "pass_as": "each"} if count > 1 else {"takes": (1, 3), "pass_as": "any"}
    options = {key: tried.get(key) or values(key, needed=True) or (0.5,) for key in needed}
    return Kind(name, options=options, family=UNLISTED, weight=2, **several)


def _completed(kind: Kind, signature: Signature, tried: Values) -> Kind:
    """The kind with what the signature has, and without what it has not."""
    options, more = dict(kind.options), dict(kind.more)
    if signature.constructor is not None:
        has = {each.name: each for each in signature.constructor}
        options = {key: value for key, value in options.items() if key in has or key in kind.parts}
        more = {key: _but(has[key], value) for key, value in more.items() if key in has}
        for name, argument in has.items():
            if name in options or name in more or name in _arranged(kind):
                continue
            default = None if argument.default == NO_PLAIN_DEFAULT else argument.default
            if name in tried and name not in SAID_OTHERWISE:
                more[name] = tried[name]
            elif argument.required:
                options[name] = values(name, needed=True) or (0.5,)
            elif found := values(name, default):
                if kind.options or len(options) >= ROOM - 1:
                    more[name] = found
                else:
                    options[name] = (LEFT_OUT, *found)
    for key in options.keys() & tried.keys():
        options[key] += tuple(value for value in tried[key] if value not in options[key])
    calls, call_options = list(kind.calls), dict(kind.call_options)
    if signature.call is not None:
        takes = {each.name: each for each in signature.call}
        call_options = {key: value for key, value in call_options.items() if key in takes}
        calls = [name for name in calls if name in takes]
        if "mask" in takes and "mask" not in calls:
            calls.append("mask")
        for name, argument in takes.items():
            if name not in call_options and len(options) + len(call_options) < ROOM:
                if name == "training":
                    call_options[name] = (LEFT_OUT, LEFT_OUT, True)
                elif isinstance(argument.default, bool):
                    call_options[name] = (LEFT_OUT, LEFT_OUT, not argument.default)
    return replace(kind, options=options, more=more, calls=tuple(calls), call_options=call_options)


def _but(argument: Parameter, tried: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values without the one that the argument has by itself."""
    return tuple(value for value in tried if value != argument.default or isinstance(value, bool))


def _arranged(kind: Kind) -> Collection[str]:
    """The arguments that are made of the `parts`."""
    return ("function", "arguments") if kind.parts else ()
