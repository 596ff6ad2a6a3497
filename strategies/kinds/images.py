"""Layers on images: scaling and cropping, and the many that change an image at random while a model is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from strategies.graph import Layer, Ref, Seq, Value
from strategies.kinds.arguments import more
from strategies.kinds.convolution import IMAGE
from strategies.kinds.kind import (
    LEFT_OUT,
    Dims,
    Fits,
    Generation,
    Gives,
    Kind,
    Specs,
    floats,
    number,
    plain,
    shaped,
    tupled,
)
from strategies.kinds.noise import TRAINING

RANGE: tuple[Value, ...] = (LEFT_OUT, tupled(0, 1))
SEED: tuple[Value, ...] = (LEFT_OUT, 7)
FILL: tuple[Value, ...] = (LEFT_OUT, "constant")
FACTOR: tuple[Value, ...] = (0.5, Seq((0.25, 0.5), "tuple"))


def _colours(specs: Specs) -> bool:
    """Images of red, green and blue."""
    return IMAGE(specs) and specs[0].shape[-1] == 3


def _kept(shape: Dims, layer: Layer) -> Dims:
    return shape


def _sized(shape: Dims, layer: Layer) -> Dims:
    return (number(layer, "height"), number(layer, "width"), shape[-1])


def _open(*axes: int) -> Gives:
    """Sizes that are not what they are said to be, or that chance decides."""
    return shaped(lambda shape, layer: tuple(None if axis in axes else size for axis, size in enumerate(shape)))


def _random(name: str, fits: Fits = IMAGE, **options: tuple[Value, ...]) -> Kind:
    """It acts in training only; its dtype is the layer's own, whatever it is given."""
    return Kind(name, options=options, call_options=TRAINING, more=_more(name), fits=fits, gives=shaped(_kept))


_MORE: Mapping[str, tuple[str, ...]] = {
    "AugMix": ("chain_depth", "alpha", "all_ops", "interpolation", "value_range"),
    "RandAugment": ("interpolation",),
    "RandomColorJitter": ("brightness_factor", "contrast_factor", "saturation_factor"),
    "RandomContrast": ("value_range",),
    "RandomElasticTransform": ("interpolation", "fill_value", "value_range"),
    "RandomErasing": ("fill_value",),
    "RandomGaussianBlur": ("value_range",),
    "RandomPerspective": ("interpolation", "fill_value"),
    "RandomRotation": ("interpolation", "fill_value"),
    "RandomShear": ("interpolation", "fill_value"),
    "RandomTranslation": ("interpolation", "fill_value"),
    "RandomZoom": ("interpolation", "fill_value"),
    "ContrastLimitedAdaptiveHistogramEqualization": ("value_range",),
    "Solarization": ("value_range",),
}


def _more(name: str) -> dict[str, tuple[Value, ...]]:
    return more("data_format", "bounding_box_format", *_MORE.get(name, ()))


def _keras3(*kinds: Kind) -> tuple[Kind, ...]:
    return tuple(replace(kind, only="keras") for kind in kinds)


_SIZE: dict[str, tuple[Value, ...]] = {"height": (2, 5), "width": (3, 4)}

_IN_BOTH = (
    Kind(
        "Resizing",
        options={**_SIZE, "interpolation": (LEFT_OUT, "nearest"), "crop_to_aspect_ratio": (LEFT_OUT, True)},
        more=more("antialias", "fill_mode", "fill_value", "data_format", "bounding_box_format"),
        fits=IMAGE,
        gives=shaped(_sized),
    ),
    Kind(
        "CenterCrop", options=_SIZE, more=more("data_format", "bounding_box_format"), fits=IMAGE, gives=shaped(_sized)
    ),
    # Outside training Keras 3 gives the whole image back where it has said that it would be cropped.
    Kind(
        "RandomCrop",
        options={"height": (2,), "width": (3, 2), "seed": SEED},
        more=more("data_format", "bounding_box_format"),
        call_options=TRAINING,
        fits=IMAGE,
        gives=_open(0, 1),
    ),
    _random("RandomFlip", mode=(LEFT_OUT, "horizontal"), seed=SEED),
    _random("RandomRotation", factor=FACTOR, fill_mode=FILL, seed=SEED),
    _random("RandomTranslation", height_factor=FACTOR, width_factor=FACTOR, fill_mode=FILL, seed=SEED),
    _random("RandomZoom", height_factor=FACTOR, width_factor=(LEFT_OUT, 0.25), fill_mode=FILL, seed=SEED),
    _random("RandomContrast", factor=FACTOR, seed=SEED),
    _random("RandomBrightness", factor=FACTOR, value_range=RANGE, seed=SEED),
)

_SCALED = more("interpolation")


def _scaled(name: str, axis: int) -> Kind:
    """Half of an image of one row, or of one that may have one, is none."""

    def fits(specs: Specs) -> bool:
        return IMAGE(specs) and (specs[0].shape[axis] or 0) > 1

    kind = _random(name, fits, factor=FACTOR, seed=SEED)
    return replace(kind, gives=_open(axis), more=_SCALED, only="tf_keras", weight=2)


def scaled_apart(sources: Sequence[Ref], specs: Specs, generation: Generation | None) -> bool:
    """Whether several images have an open side, of which each is another in training, by chance."""
    images = {ref for ref, spec in zip(sources, specs, strict=True) if spec.rank == 3 and None in spec.shape[:2]}
    return generation == "tf_keras" and len(images) > 1


_IN_TF_KERAS = (_scaled("RandomHeight", 0), _scaled("RandomWidth", 1))


def _in_perspective(specs: Specs) -> bool:
    """Of an image of one row or column the corners are on a line, whichever axes are those: no perspective of it."""
    return IMAGE(specs) and all((size or 0) > 1 for size in specs[0].shape)


_IN_KERAS3 = _keras3(
    _random("RandomErasing", factor=FACTOR, scale=(LEFT_OUT, 0.25), value_range=RANGE, seed=SEED),
    _random("RandomElasticTransform", factor=FACTOR, scale=(LEFT_OUT, 0.5), fill_mode=FILL, seed=SEED),
    _random("RandomGaussianBlur", factor=FACTOR, kernel_size=(LEFT_OUT, 1), sigma=(LEFT_OUT, 0.5), seed=SEED),
    _random("RandomInvert", factor=FACTOR, value_range=RANGE, seed=SEED),
    _random("RandomPerspective", _in_perspective, factor=FACTOR, scale=(LEFT_OUT, 0.5), seed=SEED),
    _random("RandomPosterization", factor=(4,), value_range=RANGE, seed=SEED),
    _random("RandomSharpness", factor=FACTOR, value_range=RANGE, seed=SEED),
    _random("RandomShear", x_factor=FACTOR, y_factor=(LEFT_OUT, 0.25), fill_mode=FILL, seed=SEED),
    _random("RandomColorDegeneration", _colours, factor=FACTOR, value_range=RANGE, seed=SEED),
    _random("RandomColorJitter", _colours, value_range=RANGE, hue_factor=(LEFT_OUT, 0.5), seed=SEED),
    replace(_random("RandomGrayscale", _colours, factor=(0.5, LEFT_OUT), seed=SEED), weight=2),
    _random("RandomHue", _colours, factor=FACTOR, value_range=RANGE, seed=SEED),
    _random("RandomSaturation", _colours, factor=FACTOR, value_range=RANGE, seed=SEED),
    _random("AugMix", _colours, num_chains=(2, LEFT_OUT), factor=(LEFT_OUT, 0.5), seed=SEED),
    _random("RandAugment", _colours, num_ops=(LEFT_OUT, 1), value_range=RANGE, seed=SEED),
    _random("CutMix", factor=(LEFT_OUT, 0.5), seed=SEED),
    _random("MixUp", alpha=(LEFT_OUT, 0.5), seed=SEED),
    _random("Solarization", addition_factor=(0.5,), threshold_factor=(LEFT_OUT, 0.5), seed=SEED),
    _random("AutoContrast", value_range=RANGE),
    _random("ContrastLimitedAdaptiveHistogramEqualization", tile_grid_size=(tupled(2, 2),), clip_limit=(LEFT_OUT, 2.0)),
    # Of an image without boxes it makes nothing else.
    _random("MaxNumBoundingBoxes", max_number=(2,), fill_value=(LEFT_OUT, 0)),
)

KINDS = (
    Kind(
        "Rescaling",
        options={"scale": (2.0, 0.5), "offset": (LEFT_OUT, 1.0)},
        fits=plain(floats(1, 3)),
        gives=shaped(_kept),
    ),
    *_IN_BOTH,
    *_IN_TF_KERAS,
    *_IN_KERAS3,
)
