"""Layers that weigh one sequence by another, and use its mask."""

from __future__ import annotations

from strategies.graph import Layer
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, alike, computed, floats, plain


def _attended(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, computed(layer), specs[0].mask),)


SEQUENCES = alike(plain(floats(2)))

KINDS = (
    Kind(
        "Attention",
        options={"use_scale": (LEFT_OUT, True)},
        takes=(2, 2),
        pass_as="list",
        fits=SEQUENCES,
        gives=_attended,
        masks=True,
    ),
    Kind(
        "AdditiveAttention",
        options={"use_scale": (LEFT_OUT, False)},
        takes=(2, 2),
        pass_as="list",
        fits=SEQUENCES,
        gives=_attended,
        masks=True,
    ),
    Kind(
        "MultiHeadAttention",
        options={"num_heads": (1, 2), "key_dim": (2,)},
        call_options={"use_causal_mask": (LEFT_OUT, True)},
        takes=(2, 2),
        pass_as="each",
        fits=SEQUENCES,
        gives=_attended,
        masks=True,
    ),
)
