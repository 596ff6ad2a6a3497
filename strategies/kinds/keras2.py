"""The catalogue as Keras 2.2 and 2.3 have it: what those lack is not in it, what differs there is said here.

Their layers cast nothing, so that every tensor is a float32; a layer that does not say that it supports masks raises
where it meets one; a layer takes one tensor or one list, and gives one tensor or a list of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from strategies.graph import Layer, Made, Named, Seq, Value
from strategies.kinds.kind import LEFT_OUT, Fits, Kind, Specs, floats, plain
from strategies.kinds.lambdas import lambda_arguments, lambda_gives
from strategies.kinds.recurrent import cell, chained

_ABSENT = frozenset(
    (
        "UnitNormalization",
        "LayerNormalization",
        "GroupNormalization",
        "ForkDict",
        "Blend",
        "SumAll",
        "Offset",
        "Stack",
        "Branches",
        "Center",
        "Jitter",
        "Assemble",
        "Gather",
        "Join",
        "ForkNested",
        "Amplify",
        "DepthwiseConv1D",
        "Conv1DTranspose",
        "Identity",
        "EinsumDense",
        "ConvLSTM1D",
        "ConvLSTM3D",
    )
)
_FAMILIES = frozenset(("lambdas", "core", "merging", "custom", "recurrent", "noise", "convolution", "conv_lstm"))

_TOO = frozenset(("ThresholdedReLU", "LocallyConnected1D", "LocallyConnected2D"))
"""Kinds that `tf_keras` and Keras 2 have, and Keras 3 no longer."""

_REFUSE_MASKS = frozenset(("Flatten", "Reshape", "Permute", "RepeatVector"))
"""Layers without `supports_masking`, beside convolutions and pooling. GlobalAveragePooling1D is one up to 2.2.2."""

_REGULARIZED = frozenset(("Dense", "Embedding"))
"""Of the families whose layers take `activity_regularizer` later on, those that take it here."""

_OVER_TIME: tuple[Value, ...] = (
    Made(Layer("Dense", (("units", 3),))),
    Made(Layer("Activation", (("activation", "tanh"),))),
    Made(Layer("Dense", (("units", 2),), trainable=False)),
    Made(Layer("Scale")),
    chained(Layer("Dense", (("units", 3),)), Layer("Dropout", (("rate", 0.5),))),
)


_CELLS: tuple[Value, ...] = (
    cell("SimpleRNNCell", 2),
    cell("GRUCell", 2),
    cell("LSTMCell", 2),
    Seq((cell("LSTMCell", 2), cell("GRUCell", 2))),
    cell("LeakyCell", 2),
)
"""Stacked cells are of one width: up to 2.2.4, `K.rnn` spreads a mask to the width of the last one for all states."""


def _unmasked(fits: Fits) -> Fits:
    return lambda specs: fits(specs) and not any(spec.mask for spec in specs)


def _arguments(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    """A `Lambda` says the shapes of several outputs by a function only."""
    gives = drawn["gives"]
    assert isinstance(gives, Seq)
    several = len(gives.items) > 1
    how = "callable" if several and drawn["output_shape"] == "given" else drawn["output_shape"]
    args = lambda_arguments(specs, {**drawn, "container": "list" if several else "tuple", "output_shape": how})
    if args is not None and several and isinstance(args["output_shape"], Seq):
        args["output_shape"] = LEFT_OUT
    return args


def _lambda_gives(specs: Specs, layer: Layer) -> Specs | None:
    """Without a mask of its own, a `Lambda` hands none on."""
    given = lambda_gives(specs, layer)
    if given is None or layer.arg("mask") is not None:
        return given
    return tuple(replace(spec, mask=False) for spec in given)


def _adapted(kind: Kind) -> Kind:
    options = {**kind.options, **_OPTIONS.get(kind.name, {})}
    for name in _NO_OPTIONS.get(kind.name, ()):
        del options[name]
    fits = plain(kind.fits) if kind.name != "Embedding" else kind.fits
    if kind.name in _REFUSE_MASKS or kind.family in ("convolution", "conv_lstm"):
        fits = _unmasked(fits)
    # To unroll takes a number of steps that TensorFlow knows, and behind a recurrent layer it may have lost it.
    absent = _NO_MORE | ({"seed", "unroll"} if kind.family in ("recurrent", "conv_lstm") else set())
    more = {key: tuple(filter(_known, values)) for key, values in kind.more.items() if key not in absent}
    adapted = replace(
        kind, options=options, more=more, fits=fits, dtypes=(), only=None, takes_regularizer=kind.name in _REGULARIZED
    )
    return _MORE[kind.name](adapted) if kind.name in _MORE else adapted


_NO_MORE = frozenset(
    (
        *("lora_rank", "lora_alpha", "negative_slope", "renorm", "renorm_momentum", "renorm_clipping"),
        *("zero_output_for_mask", "use_cudnn"),
    )
)
"""Further arguments that came later."""


def _known(value: Value) -> bool:
    """Not a class of initializers as it is, which would be called with the shape; nor a layer, which it warns of."""
    if isinstance(value, Named):
        return value.args is not None or not value.path.startswith("initializers.")
    return not isinstance(value, Made)


_OPTIONS: Mapping[str, Mapping[str, tuple[Value, ...]]] = {
    "GRU": {"reset_after": (LEFT_OUT, True)},
    "TimeDistributed": {"layer": _OVER_TIME},
    "RNN": {"cell": _CELLS},
}

_NO_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "GaussianDropout": ("seed",),
    "GaussianNoise": ("seed",),
    **{f"Global{how}Pooling{dims}D": ("keepdims",) for how in ("Max", "Average") for dims in (1, 2, 3)},
}

_MORE: Mapping[str, Callable[[Kind], Kind]] = {
    "Lambda": lambda kind: replace(kind, arrange=_arguments, gives=_lambda_gives),
    "Flatten": lambda kind: replace(kind, fits=_unmasked(plain(floats(2, 3)))),
    "SumList": lambda kind: replace(kind, takes=(2, 3)),
}


def catalogue_of(kinds: Mapping[str, Kind]) -> Mapping[str, Kind]:
    """The kinds that Keras 2.2 and 2.3 have, in the order that they are given in."""
    return {
        name: _adapted(kind)
        for name, kind in kinds.items()
        if name not in _ABSENT and kind.family in _FAMILIES and (kind.only in (None, "keras2") or name in _TOO)
    }
