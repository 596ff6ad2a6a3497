"""Operations on images and volumes."""

from __future__ import annotations

from strategies.graph import Array, Layer
from strategies.kinds.kind import LEFT_OUT, Dims, Specs, tupled
from strategies.kinds.operations.rules import (
    IMAGE,
    body,
    colours,
    each,
    given,
    kept,
    operation,
    prefixed,
    volume,
)

CORNERS = (
    "np.array([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0], [3.0, 3.0]])",
    "np.array([[0.0, 1.0], [0.0, 3.0], [3.0, 0.0], [3.0, 2.0]])",
)
"""What stands in the catalogue as it is written."""

_FILL = (LEFT_OUT, "nearest", "reflect")


def _cropped(shape: Dims, layer: Layer) -> Dims | None:
    height, width, channels = shape
    return None if height is None or width is None or min(height, width) < 3 else (height - 1, width - 2, channels)


def _padded(shape: Dims, layer: Layer) -> Dims | None:
    height, width, channels = shape
    return None if height is None or width is None else (height + 1, width + 2, channels)


def _filtered(specs: Specs) -> bool:
    """No smaller than a filter of three, which leaves nothing of a smaller image: what its mean is nobody knows."""
    return IMAGE(specs) and all((size or 0) >= 3 for spec in specs for size in spec.shape[:2])


def _patches(shape: Dims, layer: Layer) -> Dims | None:
    *sizes, channels = shape
    if channels is None or any(size is None or size < 2 for size in sizes):
        return None
    return (*(size // 2 for size in sizes if size is not None), 2 ** len(sizes) * channels)


KINDS = prefixed(
    "image.",
    (
        operation(
            "resize",
            given(lambda shape, layer: (3, 2, shape[-1])),
            IMAGE,
            size=(tupled(3, 2),),
            interpolation=(LEFT_OUT, "nearest", "bicubic"),
            crop_to_aspect_ratio=(LEFT_OUT, True),
        ),
        operation(
            "affine_transform", fits=IMAGE, transform=(Array((8,)),), fill_mode=_FILL, fill_value=(LEFT_OUT, 1.0)
        ),
        operation(
            "crop_images",
            given(_cropped),
            IMAGE,
            top_cropping=(1,),
            bottom_cropping=(0,),
            left_cropping=(1,),
            right_cropping=(1,),
        ),
        operation(
            "pad_images",
            given(_padded),
            IMAGE,
            top_padding=(1,),
            bottom_padding=(0,),
            left_padding=(1,),
            right_padding=(1,),
        ),
        operation("elastic_transform", fits=IMAGE, alpha=(LEFT_OUT, 2.0), seed=(7,)),
        operation("extract_patches", given(_patches), IMAGE, size=(2, tupled(2, 2)), padding=(LEFT_OUT,)),
        operation("extract_patches_3d", given(_patches), volume, size=(2, tupled(2, 2, 2))),
        operation(
            "gaussian_blur", fits=IMAGE, kernel_size=(LEFT_OUT, tupled(1, 3)), sigma=(LEFT_OUT, tupled(0.5, 0.5))
        ),
        operation("rgb_to_grayscale", given(lambda shape, layer: (*shape[:-1], 1)), colours),
        *each("rgb_to_hsv hsv_to_rgb", lambda name: operation(name, kept, colours, of=("bright",))),
        operation("sobel_edges", given(lambda shape, layer: (*shape, 2)), IMAGE),
        operation("ssim", fits=_filtered, takes=2, then=("mean",), filter_size=(3,), max_val=(LEFT_OUT, 2.0)),
        operation(
            "map_coordinates",
            fits=IMAGE,
            then=("mean",),
            coordinates=(Array((4, 3)),),
            order=(1, 0),
            fill_mode=_FILL,
        ),
        operation(
            "perspective_transform",
            fits=IMAGE,
            start_points=(body(CORNERS[0]),),
            end_points=(body(CORNERS[1]),),
        ),
        operation(
            "scale_and_translate",
            fits=IMAGE,
            then=("mean",),
            output_shape=(tupled(2, 5, 5, 2),),
            scale=(Array((2,)),),
            translation=(Array((2,)),),
            spatial_dims=(tupled(1, 2),),
            method=("linear", "cubic"),
        ),
    ),
)
