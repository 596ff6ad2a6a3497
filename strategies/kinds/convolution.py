"""Convolution, pooling, cropping, padding and upsampling, in one dimension, two and three."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from strategies.graph import Layer, Seq, Value
from strategies.kinds.arguments import more, weights
from strategies.kinds.kind import LEFT_OUT, Dims, Fits, Kind, floats, number, plain, shaped, tupled

LINE: Fits = plain(floats(2, masked=False, known=True))
IMAGE: Fits = plain(floats(3, masked=False, known=True))
VOLUME: Fits = plain(floats(4, masked=False, known=True))


def _sizes(shape: Dims) -> tuple[int, ...]:
    return tuple(size for size in shape if size is not None)


def _each_way(layer: Layer, name: str, default: int) -> int:
    """An argument that is a number, or a tuple of that number for each dimension."""
    value = layer.arg(name, default)
    found = value.items[0] if isinstance(value, Seq) else value
    assert isinstance(found, int)
    return found


def _convolved(shape: Dims, layer: Layer) -> Dims | None:
    """Kernels here are 2 wide, and wider where they have gaps; `same` keeps the size but for the strides."""
    *space, channels = _sizes(shape)
    step, gap = _each_way(layer, "strides", 1), _each_way(layer, "dilation_rate", 1)
    deep = layer.kind.startswith("Depthwise")
    filters = channels * number(layer, "depth_multiplier", 1) if deep else number(layer, "filters")
    if step > 1 and gap > 1:
        return None
    if layer.kind.endswith("Transpose"):
        space = [size * step if layer.arg("padding") == "same" else (size - 1) * step + 1 + gap for size in space]
    elif layer.arg("padding") == "same":
        space = [-(-size // step) for size in space]
    else:
        space = [(size - 1 - gap) // step + 1 for size in space]
    return (*space, filters) if min(space) > 0 else None


def _pooled(shape: Dims, layer: Layer) -> Dims | None:
    """Pools are 2 wide."""
    *space, channels = _sizes(shape)
    step = _each_way(layer, "strides", 2)
    same = layer.arg("padding") == "same"
    space = [-(-size // step) if same else (size - 2) // step + 1 for size in space]
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
    size = number(layer, "output_size")
    return (*(size for _ in space), channels) if min(space) >= size else None


PADDING: tuple[Value, ...] = (LEFT_OUT, "same")


_OF_A_KERNEL = more("activation", "use_bias", "data_format")


def _moves(dims: int) -> dict[str, tuple[Value, ...]]:
    """How a kernel goes over its places: a number for all dimensions, or one for each."""
    return {name: (2, tupled(*(2,) * dims)) for name in ("strides", "dilation_rate")}


def _kinds(dims: int, fits: Fits) -> tuple[Kind, ...]:
    def kind(name: str, gives: Callable[[Dims, Layer], Dims | None], **options: tuple[Value, ...]) -> Kind:
        return Kind(name, options=options, fits=fits, gives=shaped(gives))

    def pooling(name: str) -> Kind:
        pool = kind(name, _pooled, pool_size=(2,), padding=PADDING)
        return replace(pool, more={"strides": (1, tupled(*(1,) * dims)), **more("data_format")}, weight=min(2, dims))

    def convolution(name: str) -> Kind:
        each = kind(name, _convolved, filters=(2, 3), kernel_size=(2,), padding=PADDING)
        low_rank = {} if name.endswith("Transpose") else more("lora_rank", "lora_alpha")
        return replace(each, more={**weights("kernel", "bias"), **_moves(dims), **_OF_A_KERNEL, **low_rank})

    def of_channels(each: Kind, *names: str) -> Kind:
        return replace(each, more=more("data_format", *names))

    def of_places(each: Kind, *names: str) -> Kind:
        return of_channels(each, *names) if dims > 1 else each

    of_an_axis = plain(floats(2)) if dims == 1 else fits
    return (
        convolution(f"Conv{dims}D"),
        convolution(f"Conv{dims}DTranspose"),
        pooling(f"MaxPooling{dims}D"),
        pooling(f"AveragePooling{dims}D"),
        of_channels(kind(f"GlobalMaxPooling{dims}D", _globally, keepdims=(LEFT_OUT, True))),
        replace(
            of_channels(kind(f"GlobalAveragePooling{dims}D", _globally, keepdims=(LEFT_OUT, True))), fits=of_an_axis
        ),
        of_places(kind(f"Cropping{dims}D", _resized(-1), cropping=(1,))),
        of_channels(kind(f"ZeroPadding{dims}D", _resized(1), padding=(1,))),
        of_places(kind(f"UpSampling{dims}D", _grown, size=(2,)), *(("interpolation",) if dims == 2 else ())),
        replace(
            kind(f"SpatialDropout{dims}D", lambda shape, layer: shape, rate=(0.5,)),
            more=more("seed", *(("data_format",) if dims > 1 else ())),
            takes_trainable=False,
        ),
        # To one place, the largest of all, Keras 3.15 divides by zero, which ends the process.
        replace(of_channels(kind(f"AdaptiveMaxPooling{dims}D", _adapted, output_size=(2,))), only="keras"),
        replace(of_channels(kind(f"AdaptiveAveragePooling{dims}D", _adapted, output_size=(2, 1))), only="keras"),
    )


def _in_one_and_two(dims: int, fits: Fits) -> tuple[Kind, ...]:
    kernel: dict[str, tuple[Value, ...]] = {"kernel_size": (2,), "padding": PADDING}
    filters: dict[str, tuple[Value, ...]] = {"filters": (2, 3)}
    deep = {**more("depth_multiplier"), **_moves(dims), **_OF_A_KERNEL}
    return (
        Kind(
            f"SeparableConv{dims}D",
            options={**filters, **kernel},
            more={**weights("depthwise", "pointwise", "bias"), **deep},
            fits=fits,
            gives=shaped(_convolved),
            weight=dims,
        ),
        Kind(
            f"DepthwiseConv{dims}D",
            options=kernel,
            more={**weights("depthwise", "bias"), **deep},
            fits=fits,
            gives=shaped(_convolved),
        ),
        Kind(
            f"LocallyConnected{dims}D",
            options={**filters, "kernel_size": (2,)},
            more={**weights("kernel", "bias"), **_OF_A_KERNEL},
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
