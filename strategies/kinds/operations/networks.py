"""What neural networks are made of: activations along an axis, normalization, convolution, pooling, losses."""

from __future__ import annotations

from collections.abc import Callable

from strategies.graph import Array, Layer, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Gives, Spec, listed
from strategies.kinds.lambdas import BATCH
from strategies.kinds.operations.reductions import per_channel
from strategies.kinds.operations.rules import (
    GRID,
    IMAGE,
    KNOWN,
    MATRIX,
    NO,
    Suits,
    along,
    each,
    even,
    given,
    ids,
    kept,
    on_axis,
    operation,
    reduced,
    suiting,
    wide,
)


def _steps(spec: Spec, drawn: Value) -> Value:
    """The length of each sequence: all of it."""
    return NO if spec.shape[0] is None else listed(*(spec.shape[0],) * BATCH)


def _kernel(filters: int) -> Suits:
    """Windows of two by two, for as many channels as there are."""
    return lambda spec, drawn: (
        NO if spec.shape[-1] is None or spec.rank != 3 else Array((2, 2, spec.shape[-1], filters))
    )


def _windowed(channels: Callable[[int, Layer], int]) -> Gives:
    """As large as a window of two leaves it; with so many channels."""

    def rule(shape: Dims, layer: Layer) -> Dims | None:
        sizes = []
        for size in shape[:-1]:
            if size is None:
                return None
            if layer.arg("padding") != "same":
                size -= 1
            if size < 1:
                return None
            sizes.append(size)
        return None if shape[-1] is None else (*sizes, channels(shape[-1], layer))

    return given(rule)


def _pooled(shape: Dims, layer: Layer) -> Dims | None:
    sizes = [None if size is None else size // 2 for size in shape[:-1]]
    return (*sizes, shape[-1]) if all(sizes) else None


def _blocks(times: int) -> Gives:
    def rule(shape: Dims, layer: Layer) -> Dims | None:
        height, width, channels = shape
        if height is None or width is None or channels is None:
            return None
        if times > 1:  # of an image that is put beside itself
            return (2 * height, 2 * width, channels // 2) if channels % 2 == 0 else None
        return (height // 2, width // 2, 4 * channels) if height % 2 == width % 2 == 0 else None

    return given(rule)


def _unfolded(shape: Dims, layer: Layer) -> Dims | None:
    channels, height, width = shape
    if channels is None or height is None or width is None or height < 2 or width < 2:
        return None
    return (4 * channels, (height - 1) * (width - 1))


def _encoded(shape: Dims, layer: Layer) -> Dims:
    return (*shape, 6)


_SAME: tuple[Value, ...] = (LEFT_OUT, "same")


def _three(channels: int, layer: Layer) -> int:
    return 3


def _as_many(channels: int, layer: Layer) -> int:
    return channels


KINDS = (
    *each("softmax log_softmax sparsemax", lambda name: operation(name, on_axis(kept), axis=(LEFT_OUT, 1))),
    operation("glu", along(lambda size, layer: None if size is None else size // 2), even(KNOWN), axis=(-1,)),
    operation("normalize", on_axis(kept), axis=(LEFT_OUT, 1), order=(LEFT_OUT, 1), epsilon=(LEFT_OUT, 0.5)),
    operation("layer_normalization", arrange=suiting(gamma=per_channel), gamma=(LEFT_OUT, "each"), axis=(LEFT_OUT, -1)),
    operation("rms_normalization", arrange=suiting(scale=per_channel), scale=(LEFT_OUT, "each"), axis=(LEFT_OUT, -1)),
    operation(
        "batch_normalization",
        arrange=suiting(mean=per_channel, variance=per_channel, offset=per_channel, scale=per_channel),
        mean=("each",),
        variance=("each",),
        axis=(-1,),
        offset=(LEFT_OUT, "each"),
        scale=("each",),
    ),
    operation("one_hot", given(_encoded, "float32"), ids, num_classes=(6,)),
    # It tells the dtype of the numbers that it is given, and gives floats.
    operation("multi_hot", given(lambda shape, layer: (6,), "float32"), ids, then=("float",), num_classes=(6,)),
    operation(
        "binary_crossentropy", takes=2, of=("probable", "probable"), of_one_batch=True, from_logits=(LEFT_OUT, True)
    ),
    operation(
        "categorical_crossentropy",
        reduced(),
        wide(KNOWN),
        2,
        of=("probable", "probable"),
        of_one_batch=True,
        from_logits=(LEFT_OUT, True),
    ),
    operation(
        "sparse_categorical_crossentropy", reduced(), wide(KNOWN), 2, of=("classes", "probable"), of_one_batch=True
    ),
    operation("psnr", takes=2, of=("", "unit"), then=("mean",), max_val=(1.0, 2.0)),
    # -- on images and sequences
    *each(
        "average_pool max_pool",
        lambda name: operation(name, given(_pooled), GRID, pool_size=(2,), padding=(LEFT_OUT,)),
    ),
    operation("conv", _windowed(_three), IMAGE, arrange=suiting(kernel=_kernel(3)), kernel=("window",), padding=_SAME),
    operation(
        "depthwise_conv",
        _windowed(_as_many),
        IMAGE,
        arrange=suiting(kernel=_kernel(1)),
        kernel=("window",),
        padding=_SAME,
    ),
    operation(
        "separable_conv",
        _windowed(_three),
        IMAGE,
        arrange=suiting(
            depthwise_kernel=_kernel(1), pointwise_kernel=lambda spec, drawn: Array((1, 1, spec.shape[-1] or 1, 3))
        ),
        depthwise_kernel=("window",),
        pointwise_kernel=("channels",),
        padding=_SAME,
    ),
    operation("depth_to_space", _blocks(2), IMAGE, of=("twice",), block_size=(2,)),
    operation("space_to_depth", _blocks(1), IMAGE, block_size=(2,)),
    operation("unfold", given(_unfolded), IMAGE, kernel_size=(2,)),
    operation("dot_product_attention", fits=IMAGE, takes=(3, 3), scale=(LEFT_OUT, 0.5), is_causal=(LEFT_OUT, True)),
    operation(
        "ctc_loss",
        then=("mean",),
        fits=wide(MATRIX),
        takes=4,
        names=("", "", "target_length", "output_length"),
        of=("classes", "", "single", "lengths"),
    ),
    operation(
        "ctc_decode",
        then=("second", "mean"),
        fits=wide(MATRIX),
        arrange=suiting(sequence_lengths=_steps),
        sequence_lengths=("all",),
        strategy=(LEFT_OUT, "beam_search"),
    ),
    operation(
        "extract_sequences",
        given(lambda shape, layer: (*shape[:-1], (shape[-1] or 2) - 1, 2)),
        wide(KNOWN),
        sequence_length=(2,),
        sequence_stride=(1,),
    ),
    operation(
        "stft",
        then=("first", "mean"),
        fits=wide(KNOWN, 4),
        sequence_length=(4,),
        sequence_stride=(1,),
        fft_length=(4,),
        window=(None,),
    ),
    operation(
        "istft",
        then=("mean",),
        fits=wide(KNOWN),
        of=("spectrum",),
        sequence_length=(4,),
        sequence_stride=(2,),
        fft_length=(4,),
        window=(None,),
    ),
)
