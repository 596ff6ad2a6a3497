"""Layers that a user would write: they make, use, hand on, drop and change masks, take and give several tensors.

The classes themselves are in `harness/source/custom`, in each dialect; here is only what they accept and give.
"""

from __future__ import annotations

from strategies.graph import Array, Layer, Seq
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, alike, computed, floats, plain, same

ANY = plain(floats(1, 3))
SEQUENCE = plain(floats(2))


def _masked(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, computed(layer), True),)


def _twice(specs: Specs, layer: Layer) -> Specs:
    return same(specs, layer) * 2


def _kept_if_told(specs: Specs, layer: Layer) -> Specs:
    (given,) = same(specs, layer)
    return (given if "supports_masking" in layer.marks else Spec(given.shape, given.dtype),)


KINDS = (
    Kind("Scale", fits=ANY, gives=same, masks=True, weight=2),
    Kind("Offset", fits=ANY, gives=same, masks=True),  # its weight has no name
    Kind("MakeMask", fits=SEQUENCE, gives=_masked, masks=True),
    Kind("UseMask", calls=("mask",), fits=SEQUENCE, gives=same, masks=True, weight=2),
    Kind("DropMask", fits=ANY, gives=_kept_if_told, masks=True),
    Kind("ChangeMask", fits=SEQUENCE, gives=same, masks=True),
    Kind("Fork", fits=ANY, gives=_twice, masks=True, weight=2),
    Kind("ForkDict", fits=ANY, gives=_twice, masks=True),
    Kind("Blend", takes=(2, 2), pass_as="each", fits=alike(ANY), gives=same),
    Kind("SumAll", takes=(1, 3), pass_as="each", fits=alike(ANY), gives=same),
    Kind("SumList", takes=(1, 3), pass_as="list", fits=alike(ANY), gives=same),
    Kind(
        "Shift",
        call_options={
            "by": (1.0, LEFT_OUT, None, Seq((1.0, 2.0), "tuple"), Seq((1.0, 2.0)), Array((1,))),
        },
        fits=ANY,
        gives=same,
        masks=True,
        weight=2,
    ),
)
