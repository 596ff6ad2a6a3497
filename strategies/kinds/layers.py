"""The layers of Keras of which something is to be said: values that nobody can ask, the form of a call, a weight.

By family, the simplest first; recurrent layers, `Lambda` and custom ones have modules of their own. A name alone says
that a layer is simple, or where it stands in its family: what it takes is in its signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clonediff.strategies.graph import Array, Seq, Value
from clonediff.strategies.kinds.arguments import layer
from clonediff.strategies.kinds.kind import LEFT_OUT, Arrange, Kind, PassAs, Specs, plain_kinds, tupled

TRAINING: dict[str, tuple[Value, ...]] = {"training": (LEFT_OUT, True, False, None)}
_ACTIVATIONS: tuple[Value, ...] = (LEFT_OUT, "relu", "tanh", "softmax")


def _kind(
    name: str,
    *,
    takes: int | tuple[int, int] = 1,
    pass_as: PassAs = "one",
    arrange: Arrange | None = None,
    weight: int = 1,
    **options: tuple[Value, ...],
) -> Kind:
    several = (takes, takes) if isinstance(takes, int) else takes
    return Kind(name, options=options, takes=several, pass_as=pass_as, arrange=arrange, weight=weight)


# -- the layers that most models are made of, and those that change a shape


def _equation(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """A `Dense` on the last dimension, written with a letter for each dimension or with dots for most."""
    shape, units = specs[0].shape, drawn["output_shape"]
    if "..." in str(drawn["equation"]):
        return dict(drawn)
    letters = "abcdefg"[: len(shape) + 1]
    equation = f"{letters},{letters[-1]}y->{letters[:-1]}y"
    return {**drawn, "equation": equation, "output_shape": tupled(*shape[:-1], units)}


_CORE = (
    _kind(
        "Dense",
        units=(4, 1, 3),
        activation=_ACTIVATIONS,
        use_bias=(LEFT_OUT, False),
        kernel_regularizer=(LEFT_OUT, "l2"),
    ),
    _kind("Activation", activation=("relu", "tanh", "sigmoid", "softplus")),
    *plain_kinds("ReLU LeakyReLU ELU ThresholdedReLU PReLU Identity Softmax Flatten"),
    _kind(
        "Reshape",
        target_shape=(tupled(-1), tupled(-1, 1), tupled(4, 3), tupled(2, -1), tupled(1, -1), tupled(-1, 2, 2)),
    ),
    _kind("Permute", dims=(tupled(2, 1), tupled(3, 2, 1), tupled(2, 1, 3))),
    _kind("RepeatVector", n=(3, 2)),
    _kind("Masking", mask_value=(LEFT_OUT, 1.0), weight=3),
    _kind("Embedding", input_dim=(6,), output_dim=(4, 3), mask_zero=(LEFT_OUT, True), weight=3),
    _kind("ReversibleEmbedding", input_dim=(6,), output_dim=(4, 3), mask_zero=(LEFT_OUT, True)),
    _kind(
        "EinsumDense",
        arrange=_equation,
        equation=("...x,xy->...y", "ab,bc->ac"),
        output_shape=(3, 1),
        bias_axes=(LEFT_OUT, "y"),
        activation=_ACTIVATIONS,
    ),
    _kind("ActivityRegularization", l2=(0.5,)),
    *plain_kinds("UnitNormalization"),
    _kind("LayerNormalization", epsilon=(LEFT_OUT, 0.5), scale=(LEFT_OUT, False)),
    replace(
        _kind("BatchNormalization", momentum=(LEFT_OUT, 0.5), center=(LEFT_OUT, False)),
        call_options={"training": (LEFT_OUT, True, False)},
    ),
    *plain_kinds("RMSNormalization"),
    _kind("GroupNormalization", groups=(1, 2)),
)

# -- layers that take several tensors and give one

_MERGING = (
    _kind("Add", takes=(2, 3), pass_as="list", weight=3),
    _kind("Subtract", takes=2, pass_as="list"),
    *(_kind(name, takes=(2, 3), pass_as="list") for name in ("Multiply", "Average", "Maximum", "Minimum")),
    _kind("Concatenate", takes=(2, 3), pass_as="list", axis=(LEFT_OUT, 1), weight=2),
    _kind("Dot", takes=2, pass_as="list", axes=(-1, 1), normalize=(LEFT_OUT, True)),
)

# -- layers that act in training only


def _noise(name: str, *, weight: int = 1, **options: tuple[Value, ...]) -> Kind:
    return Kind(name, options={**options, "seed": (LEFT_OUT, 7)}, call_options=TRAINING, weight=weight)


_NOISE = (
    _noise("Dropout", weight=2, rate=(0.5, 0.25)),
    _noise("GaussianDropout", rate=(0.5,)),
    _noise("GaussianNoise", stddev=(0.5,)),
    _noise("AlphaDropout", rate=(0.5,)),
)

# -- layers that weigh one sequence by another

_ATTENTION = (
    _kind("Attention", takes=2, pass_as="list", use_scale=(LEFT_OUT, True)),
    _kind("AdditiveAttention", takes=2, pass_as="list", use_scale=(LEFT_OUT, False)),
    _kind("MultiHeadAttention", takes=2, pass_as="each", num_heads=(1, 2), key_dim=(2,)),
    _kind(
        "GroupQueryAttention",
        takes=2,
        pass_as="each",
        head_dim=(2,),
        num_query_heads=(2,),
        num_key_value_heads=(1, 2),
    ),
)

# -- convolution, pooling, cropping, padding and upsampling, in one dimension, two and three

_PADDING: tuple[Value, ...] = (LEFT_OUT, "same")


def _over(dims: int) -> tuple[Kind, ...]:
    """The layers that go over so many dimensions. Few tensors have three, so those over three are drawn more often."""
    wide = tupled(*(2,) * dims)
    moves: dict[str, tuple[Value, ...]] = {"strides": (2, wide, 1), "dilation_rate": (2, wide)}

    def kind(name: str, weight: int = 1, **options: tuple[Value, ...]) -> Kind:
        return Kind(f"{name}{dims}D", options=options, more=moves, weight=2 if dims == 3 else weight)

    def kernel(name: str) -> Kind:
        return kind(name, filters=(2, 3), kernel_size=(2,), padding=_PADDING)

    def turned(name: str) -> Kind:
        return replace(kernel(name), name=f"{name}{dims}DTranspose")

    return (
        kernel("Conv"),
        turned("Conv"),
        kind("MaxPooling", min(2, dims), pool_size=(2,), padding=_PADDING),
        kind("AveragePooling", min(2, dims), pool_size=(2,), padding=_PADDING),
        kind("GlobalMaxPooling", keepdims=(LEFT_OUT, True)),
        kind("GlobalAveragePooling", keepdims=(LEFT_OUT, True)),
        kind("Cropping", cropping=(1,)),
        kind("ZeroPadding", padding=(1,)),
        kind("UpSampling", size=(2,)),
        kind("SpatialDropout", rate=(0.5,)),
        # To one place, the largest of all, Keras 3.15 divides by zero, which ends the process.
        kind("AdaptiveMaxPooling", output_size=(2,)),
        kind("AdaptiveAveragePooling", output_size=(2, 1)),
        kind("SeparableConv", dims, filters=(2, 3), kernel_size=(2,), padding=_PADDING),
        kind("DepthwiseConv", kernel_size=(2,), padding=_PADDING),
        kind("LocallyConnected", filters=(2, 3), kernel_size=(2,)),
    )


_CONVOLUTION = (*_over(1), *_over(2), *_over(3))

_CONV_LSTM = tuple(
    _kind(
        f"ConvLSTM{dims}D",
        weight=min(2, dims),
        filters=(2, 3),
        kernel_size=(2,),
        padding=_PADDING,
        return_sequences=(LEFT_OUT, True),
        return_state=(LEFT_OUT, LEFT_OUT, True),
    )
    for dims in (1, 2, 3)
)

# -- layers around other layers; those over time are with the recurrent ones

_WRAPPERS = (
    _kind("SpectralNormalization", layer=(layer("Dense", units=3), layer("Dense", units=2, frozen=True))),
    *plain_kinds("Pipeline"),
)

# -- numbers, categories and words: what they would learn from data is given, ids stay below six, to be encoded again


def _statistics(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """A mean and a variance for all, or for each place of the last dimension."""
    size = specs[0].shape[-1] if specs[0].shape else None
    if drawn["mean"] != "each":
        return dict(drawn)
    if size is None:
        return {**drawn, "mean": 0.5}
    return {**drawn, "axis": LEFT_OUT, "mean": Array((size,)), "variance": Array((size,))}


def _mask_of_a_dtype(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    text = specs[0].dtype == "string" and drawn["mask_value"] != LEFT_OUT
    return {**drawn, "mask_value": ""} if text else dict(drawn)


def _looked_up(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value]:
    """Weights for each entry where they are needed; the words of what is turned round have an unknown like them."""
    vocabulary = drawn["vocabulary"]
    if drawn["output_mode"] == "tf_idf" and isinstance(vocabulary, Seq):
        return {**drawn, "invert": LEFT_OUT, "idf_weights": Array((len(vocabulary.items),))}
    if specs[0].dtype != "string" and "red" in (vocabulary.items if isinstance(vocabulary, Seq) else ()):
        return {**drawn, "mask_token": LEFT_OUT, "output_mode": LEFT_OUT, "invert": True}
    if drawn.get("invert", LEFT_OUT) != LEFT_OUT:
        return {**drawn, "mask_token": LEFT_OUT, "oov_token": 5}
    return dict(drawn)


_COUNTS: tuple[Value, ...] = (LEFT_OUT, "multi_hot", "count")
_SOME: tuple[Value, ...] = (LEFT_OUT, 2)

_ENCODING = (
    _kind(
        "Normalization",
        arrange=_statistics,
        axis=(LEFT_OUT, None),
        mean=(0.5, "each"),
        variance=(2.0,),
        invert=(LEFT_OUT, True),
    ),
    _kind("Discretization", bin_boundaries=(Seq((-0.5, 0.0, 0.5)),), output_mode=_COUNTS),
    _kind("CategoryEncoding", num_tokens=(6,), output_mode=(LEFT_OUT, "count", "one_hot"), weight=2),
    _kind(
        "Hashing",
        arrange=_mask_of_a_dtype,
        weight=2,
        num_bins=(3, 6),
        mask_value=(LEFT_OUT, 0),
        salt=(LEFT_OUT, 7),
        output_mode=_COUNTS,
    ),
    _kind("HashedCrossing", takes=2, pass_as="list", num_bins=(3, 6), output_mode=(LEFT_OUT, "one_hot"), weight=3),
    _kind(
        "IntegerLookup",
        arrange=_looked_up,
        weight=2,
        vocabulary=(Seq((1, 2, 4)),),
        num_oov_indices=_SOME,
        mask_token=(LEFT_OUT, 0),
        output_mode=(LEFT_OUT, "tf_idf"),
        invert=(LEFT_OUT, True),
    ),
    _kind(
        "StringLookup",
        arrange=_looked_up,
        weight=2,
        vocabulary=(Seq(("red", "green")),),
        num_oov_indices=_SOME,
        mask_token=(LEFT_OUT, ""),
        output_mode=(LEFT_OUT, "tf_idf"),
    ),
    _kind(
        "TextVectorization",
        weight=2,
        vocabulary=(Seq(("red", "green", "a")),),
        output_sequence_length=(3, 4),
        standardize=(LEFT_OUT, "lower", None),
        split=(LEFT_OUT, "character"),
        ngrams=_SOME,
    ),
)

# -- the frequencies of a signal

_SIGNALS = (
    _kind(
        "MelSpectrogram",
        fft_length=(4,),
        sequence_stride=(2, 4),
        num_mel_bins=(2, 3),
        power_to_db=(LEFT_OUT, False),
        sampling_rate=(100,),
    ),
    _kind(
        "STFTSpectrogram",
        frame_length=(2,),
        frame_step=(1,),
        window=(Array((2,)),),  # one by its name needs SciPy
        mode=(LEFT_OUT, "magnitude", "stft", "real"),
        expand_dims=(LEFT_OUT, True),
    ),
)

# -- images, and the many ways to change one at random

_IMAGES = (
    _kind("Rescaling", scale=(2.0, 0.5), offset=(LEFT_OUT, 1.0)),
    *plain_kinds("Resizing CenterCrop RandomCrop RandomFlip RandomRotation RandomTranslation RandomZoom"),
    *plain_kinds("RandomContrast RandomBrightness"),
    *plain_kinds("RandomHeight RandomWidth", weight=2),
    *plain_kinds("RandomErasing RandomElasticTransform RandomGaussianBlur RandomInvert RandomPerspective"),
    _kind("RandomPosterization", factor=(4,)),
    *plain_kinds("RandomSharpness RandomShear RandomColorDegeneration"),
    _kind("RandomColorJitter", hue_factor=(0.5, LEFT_OUT)),
    _kind("RandomGrayscale", factor=(LEFT_OUT, 0.25), seed=(LEFT_OUT, 7)),
    *plain_kinds("RandomHue RandomSaturation AugMix RandAugment CutMix MixUp"),
    _kind("Solarization", addition_factor=(0.5,), threshold_factor=(LEFT_OUT, 0.5)),
    *plain_kinds("AutoContrast Equalization"),
    _kind("ContrastLimitedAdaptiveHistogramEqualization", tile_grid_size=(tupled(2, 2),)),
    *plain_kinds("MaxNumBoundingBoxes"),
)

BEFORE: Mapping[str, tuple[Kind, ...]] = {"core": _CORE, "merging": _MERGING}
AFTER: Mapping[str, tuple[Kind, ...]] = {
    "noise": _NOISE,
    "attention": _ATTENTION,
    "convolution": _CONVOLUTION,
    "conv_lstm": _CONV_LSTM,
    "wrappers": _WRAPPERS,
    "encoding": _ENCODING,
    "signals": _SIGNALS,
    "images": _IMAGES,
}
"""The families, in the order in which what is drawn gets simpler."""
