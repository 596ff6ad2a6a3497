"""Convolution, pooling, cropping, padding and upsampling, in one dimension and in two."""

from __future__ import annotations

from collections.abc import Callable

from strategies.graph import Layer, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Fits, Kind, floats, plain, shaped

LINE: Fits = plain(floats(2, masked=False, known=True))
IMAGE: Fits = plain(floats(3, masked=False, known=True))


def _sizes(shape: Dims) -> tuple[int, ...]:
    return tuple(size for size in shape if size is not None)


def _convolved(shape: Dims, layer: Layer) -> Dims | None:
    """Kernels here are 2 wide; `same` keeps the size."""
    *space, channels = _sizes(shape)
    filters = layer.arg("filters", None)
    if layer.kind.startswith("Depthwise"):
        filters = channels
    assert isinstance(filters, int)
    if layer.kind.endswith("Transpose"):
        space = [size + 1 for size in space]
    elif layer.arg("padding") != "same":
        space = [size - 1 for size in space]
    return (*space, filters) if min(space) > 0 else None


def _pooled(shape: Dims, layer: Layer) -> Dims | None:
    *space, channels = _sizes(shape)
    space = [(size + 1) // 2 if layer.arg("padding") == "same" else size // 2 for size in space]
    return (*space, channels) if min(space) > 0 else None


def _globally(shape: Dims, layer: Layer) -> Dims:
    return (*(1 for _ in shape[:-1]), shape[-1]) if layer.arg("keepdims") is True else (shape[-1],)


def _resized(step: int) -> Callable[[Dims, Layer], Dims | None]:
    def rule(shape: Dims, layer: Layer) -> Dims | None:
        *space, channels = _sizes(shape)
        space = [size + 2 * step for size in space]
        return (*space, channels) if min(space) > 0 else None

    return rule


def _grown(shape: Dims, layer: Layer) -> Dims | None:
    *space, channels = _sizes(shape)
    return (*(size * 2 for size in space), channels) if max(space) < 16 else None


PADDING: tuple[Value, ...] = (LEFT_OUT, "same")


def _kinds(dims: int, fits: Fits) -> tuple[Kind, ...]:
    def name(stem: str) -> str:
        return f"{stem}{dims}D"

    kernel: dict[str, tuple[Value, ...]] = {"kernel_size": (2,), "padding": PADDING}
    return (
        Kind(name("Conv"), options={"filters": (2, 3), **kernel}, fits=fits, gives=shaped(_convolved)),
        Kind(name("SeparableConv"), options={"filters": (2, 3), **kernel}, fits=fits, gives=shaped(_convolved)),
        Kind(name("DepthwiseConv"), options=kernel, fits=fits, gives=shaped(_convolved)),
        Kind(
            f"Conv{dims}DTranspose",
            options={"filters": (2, 3), "kernel_size": (2,)},
            fits=fits,
            gives=shaped(_convolved),
        ),
        Kind(name("MaxPooling"), options={"pool_size": (2,), "padding": PADDING}, fits=fits, gives=shaped(_pooled)),
        Kind(name("AveragePooling"), options={"pool_size": (2,), "padding": PADDING}, fits=fits, gives=shaped(_pooled)),
        Kind(name("GlobalMaxPooling"), options={"keepdims": (LEFT_OUT, True)}, fits=fits, gives=shaped(_globally)),
        Kind(
            name("GlobalAveragePooling"),
            options={"keepdims": (LEFT_OUT, True)},
            fits=plain(floats(2)) if dims == 1 else fits,
            gives=shaped(_globally),
        ),
        Kind(name("Cropping"), options={"cropping": (1,)}, fits=fits, gives=shaped(_resized(-1))),
        Kind(name("ZeroPadding"), options={"padding": (1,)}, fits=fits, gives=shaped(_resized(1))),
        Kind(name("UpSampling"), options={"size": (2,)}, fits=fits, gives=shaped(_grown)),
        Kind(
            name("SpatialDropout"),
            options={"rate": (0.5,)},
            fits=fits,
            gives=shaped(lambda shape, layer: shape),
            takes_trainable=False,
        ),
    )


KINDS = (*_kinds(1, LINE), *_kinds(2, IMAGE))
