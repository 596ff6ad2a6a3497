"""Operations beside layers: functions of the framework and operators. A dialect says how each is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from strategies.graph import Layer
from strategies.kinds.kind import Fits, Gives, Kind, Spec, Specs, alike, floats, plain

ANY = floats(1, 3)
PAIR = alike(floats(1, 3))


def _kept(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, specs[0].dtype),)


def _reshaped(rule: Callable[[Spec], Spec | None]) -> Gives:
    def gives(specs: Specs, layer: Layer) -> Specs | None:
        given = rule(specs[0])
        return None if given is None else (replace(given, mask=False),)

    return gives


def _doubled(spec: Spec) -> Spec | None:
    size = spec.shape[-1]
    return None if size is None else replace(spec, shape=(*spec.shape[:-1], 2 * size))


def _halves(specs: Specs, layer: Layer) -> Specs | None:
    size = specs[0].shape[-1]
    if size is None or size % 2:
        return None
    half = Spec((*specs[0].shape[:-1], size // 2), specs[0].dtype)
    return (half, half)


def _operation(name: str, fits: Fits = ANY, gives: Gives = _kept, takes: int = 1) -> Kind:
    return Kind(name, takes=(takes, takes), pass_as="each", fits=fits, gives=gives, shared=False)


KINDS = (
    _operation("operator.add", PAIR, takes=2),
    _operation("operator.multiply", PAIR, takes=2),
    _operation("operator.half"),
    _operation("operator.negative"),
    _operation("operator.from_one"),
    _operation("operator.first", floats(2, 3), _reshaped(lambda spec: replace(spec, shape=spec.shape[1:]))),
    _operation("operator.narrow", ANY, _reshaped(lambda spec: replace(spec, shape=(*spec.shape[:-1], 1)))),
    _operation(
        "operator.positive", floats(2), _reshaped(lambda spec: replace(spec, shape=spec.shape[:1], dtype="bool"))
    ),
    _operation("ops.maximum", PAIR, takes=2),
    _operation("ops.relu"),
    _operation("ops.mean", floats(2, 3), _reshaped(lambda spec: replace(spec, shape=spec.shape[1:]))),
    _operation("ops.concatenate", PAIR, _reshaped(_doubled), takes=2),
    _operation("ops.split", ANY, _halves),
    _operation("ops.plus_array", plain(ANY)),
)
