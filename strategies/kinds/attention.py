"""Layers that weigh one sequence by another, and use its mask."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from strategies.graph import Layer, Seq, Value
from strategies.kinds.arguments import more, weights
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, alike, computed, floats, plain


def _attended(specs: Specs, layer: Layer) -> Specs:
    return (Spec(specs[0].shape, computed(layer), specs[0].mask),)


SEQUENCES = alike(plain(floats(2)))


def _attention(name: str, pass_as: Literal["list", "each"] = "list", **options: tuple[Value, ...]) -> Kind:
    return Kind(name, options=options, takes=(2, 2), pass_as=pass_as, fits=SEQUENCES, gives=_attended, masks=True)


_PROJECTED = {
    **weights("kernel", "bias"),
    **more("use_bias", "dropout", "seed", "use_gate", "sliding_window", "flash_attention"),
}

KINDS = (
    replace(_attention("Attention", use_scale=(LEFT_OUT, True)), more=more("score_mode", "dropout", "seed")),
    replace(_attention("AdditiveAttention", use_scale=(LEFT_OUT, False)), more=more("dropout", "seed")),
    replace(
        _attention("MultiHeadAttention", "each", num_heads=(1, 2), key_dim=(2,)),
        more={**_PROJECTED, **more("value_dim"), "attention_axes": (1, Seq((1,), "tuple"))},
        call_options={"use_causal_mask": (LEFT_OUT, True)},
    ),
    replace(
        _attention("GroupQueryAttention", "each", head_dim=(2,), num_query_heads=(2,), num_key_value_heads=(1, 2)),
        more=_PROJECTED,
        call_options={"use_causal_mask": (LEFT_OUT, True)},
        only="keras",
    ),
)
