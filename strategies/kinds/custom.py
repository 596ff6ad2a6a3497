"""Layers that a user would write: they make, use, hand on, drop and change masks, take and give several tensors.

The classes themselves, in each dialect, are in `custom` and `own_layers` of `harness/source`; here is only what they
accept and give.
"""

from __future__ import annotations

from strategies.graph import Array, Items, Layer, Named, Seq
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, alike, computed, floats, last, plain, same

ANY = plain(floats(1, 3))
SEQUENCE = plain(floats(2))


def _masked(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, computed(layer), True),)


def _twice(specs: Specs, layer: Layer) -> Specs:
    return same(specs, layer) * 2


def _thrice(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, computed(layer)),) * 3


def _kept_if_told(specs: Specs, layer: Layer) -> Specs:
    (given,) = same(specs, layer)
    return (given if "supports_masking" in layer.marks else Spec(given.shape, given.dtype),)


def _as_wide_as_its_last(specs: Specs, layer: Layer) -> Specs:
    widths = layer.arg("widths")
    assert isinstance(widths, Seq)
    wide = widths.items[-1]
    assert isinstance(wide, int)
    return (Spec((*specs[0].shape[:-1], wide), computed(layer)),)


OWN_OPERATION = "Amplify"
"""It is made like a layer and is none."""


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
    Kind(
        "Adjust",  # its call takes constants of every sort
        call_options={
            "how": (
                *(2, "double", True, 0.5),
                Items((("factor", 2.0), ("terms", Seq((1.0, 2), "tuple")))),
                Seq((Seq((2.0, 1), "tuple"), "halved"), "tuple"),
                Seq((None, 3.0)),
                Array((1,), "int32"),
                Named("np.dtype", (("dtype", "float16"),)),
            ),
        },
        fits=ANY,
        gives=same,
        masks=True,
    ),
    Kind("Span", options={"low": (LEFT_OUT, 0.25), "high": (LEFT_OUT, 3.0)}, fits=ANY, gives=same, masks=True),
    Kind("Stack", options={"widths": (Seq((4, 3)), Seq((2,), "tuple"))}, fits=ANY, gives=_as_wide_as_its_last),
    Kind("Branches", options={"units": (4, 2)}, fits=ANY, gives=last("units")),
    Kind("Center", call_options={"training": (LEFT_OUT, True)}, fits=ANY, gives=same, masks=True),
    Kind("Jitter", options={"seed": (LEFT_OUT, 7)}, fits=ANY, gives=same, masks=True, only="keras"),
    Kind("Assemble", takes=(1, 3), pass_as="nested", fits=alike(ANY), gives=same),
    Kind("Gather", takes=(1, 3), pass_as="gapped", fits=alike(ANY), gives=same),
    Kind("Join", calls=("other",), takes=(2, 3), pass_as="apart", fits=alike(ANY), gives=same),
    Kind("ForkNested", fits=ANY, gives=_thrice),
    Kind(
        OWN_OPERATION,
        options={"factor": (LEFT_OUT, 3.0)},
        fits=ANY,
        gives=same,
        shared=False,
        takes_trainable=False,
        takes_regularizer=False,
        only="keras",
    ),
)
