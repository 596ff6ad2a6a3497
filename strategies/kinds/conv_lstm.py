"""Recurrent layers over lines, images and volumes, a step each."""

from __future__ import annotations

from strategies.graph import Layer
from strategies.kinds.arguments import more, weights
from strategies.kinds.convolution import PADDING
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, computed, floats, number, plain


def _gives(specs: Specs, layer: Layer) -> Specs | None:
    """Kernels are 2 wide; there are two states, both as large as an output."""
    steps, *space, _ = specs[0].shape
    filters = number(layer, "filters")
    sizes = [size if layer.arg("padding") == "same" else size - 1 for size in space if size is not None]
    if min(sizes) < 1:
        return None
    state = Spec((*sizes, filters), computed(layer))
    whole = layer.arg("return_sequences") is True
    first = Spec((steps, *state.shape), state.dtype, specs[0].mask) if whole else state
    return (first, state, state) if layer.arg("return_state") is True else (first,)


def _kind(dims: int) -> Kind:
    return Kind(
        f"ConvLSTM{dims}D",
        options={
            "filters": (2, 3),
            "kernel_size": (2,),
            "padding": PADDING,
            "return_sequences": (LEFT_OUT, True),
            "return_state": (LEFT_OUT, LEFT_OUT, True),
        },
        more={
            **weights("kernel", "recurrent", "bias"),
            **more("activation", "recurrent_activation", "use_bias", "unit_forget_bias", "dropout"),
            **more("recurrent_dropout", "seed", "go_backwards", "data_format"),
            **more("zero_output_for_mask"),
        },
        calls=("mask",),
        fits=plain(floats(dims + 2, known=True)),
        gives=_gives,
        masks=True,
        weight=min(2, dims),
    )


KINDS = (_kind(1), _kind(2), _kind(3))
