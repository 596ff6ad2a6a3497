"""Convolution, pooling, cropping, padding and upsampling, in one dimension, two and three."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from strategies.graph import Layer, Value
from strategies.kinds.kind import LEFT_OUT, Dims, Fits, Kind, floats, plain, shaped

LINE: Fits = plain(floats(2, masked=False, known=True))
IMAGE: Fits = plain(floats(3, masked=False, known=True))
VOLUME: Fits = plain(floats(4, masked=False, known=True))


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
    return (*(size * 2 for size in space), channels) if max(space) < 32 // len(space) else None


def _adapted(shape: Dims, layer: Layer) -> Dims | None:
    """To as many places as are asked for, of at least as many."""
    *space, channels = _sizes(shape)
    size = layer.arg("output_size")
    assert isinstance(size, int)
    return (*(size for _ in space), channels) if min(space) >= size else None


PADDING: tuple[Value, ...] = (LEFT_OUT, "same")


def _kinds(dims: int, fits: Fits) -> tuple[Kind, ...]:
    def kind(name: str, gives: Callable[[Dims, Layer], Dims | None], **options: tuple[Value, ...]) -> Kind:
        return Kind(name, options=options, fits=fits, gives=shaped(gives))

    def pooling(name: str) -> Kind:
        return replace(kind(name, _pooled, pool_size=(2,), padding=PADDING), weight=min(2, dims))

    of_an_axis = plain(floats(2)) if dims == 1 else fits
    return (
        kind(f"Conv{dims}D", _convolved, filters=(2, 3), kernel_size=(2,), padding=PADDING),
        kind(f"Conv{dims}DTranspose", _convolved, filters=(2, 3), kernel_size=(2,)),
        pooling(f"MaxPooling{dims}D"),
        pooling(f"AveragePooling{dims}D"),
        kind(f"GlobalMaxPooling{dims}D", _globally, keepdims=(LEFT_OUT, True)),
        replace(kind(f"GlobalAveragePooling{dims}D", _globally, keepdims=(LEFT_OUT, True)), fits=of_an_axis),
        kind(f"Cropping{dims}D", _resized(-1), cropping=(1,)),
        kind(f"ZeroPadding{dims}D", _resized(1), padding=(1,)),
        kind(f"UpSampling{dims}D", _grown, size=(2,)),
        replace(kind(f"SpatialDropout{dims}D", lambda shape, layer: shape, rate=(0.5,)), takes_trainable=False),
        # To one place, the largest of all, Keras 3.15 divides by zero, which ends the process.
        replace(kind(f"AdaptiveMaxPooling{dims}D", _adapted, output_size=(2,)), only="keras"),
        replace(kind(f"AdaptiveAveragePooling{dims}D", _adapted, output_size=(2, 1)), only="keras"),
    )


def _in_one_and_two(dims: int, fits: Fits) -> tuple[Kind, ...]:
    kernel: dict[str, tuple[Value, ...]] = {"kernel_size": (2,), "padding": PADDING}
    filters: dict[str, tuple[Value, ...]] = {"filters": (2, 3)}
    return (
        Kind(f"SeparableConv{dims}D", options={**filters, **kernel}, fits=fits, gives=shaped(_convolved), weight=dims),
        Kind(f"DepthwiseConv{dims}D", options=kernel, fits=fits, gives=shaped(_convolved)),
        Kind(
            f"LocallyConnected{dims}D",
            options={**filters, "kernel_size": (2,)},
            fits=fits,
            gives=shaped(_convolved),
            only="tf_keras",
        ),
    )


KINDS = (
    *_kinds(1, LINE),
    *_in_one_and_two(1, LINE),
    *_kinds(2, IMAGE),
    *_in_one_and_two(2, IMAGE),
    *(replace(kind, weight=2) for kind in _kinds(3, VOLUME)),  # few tensors fit them
)
