"""The models that come with Keras, as real networks that nobody here drew: which there are, smallest first.

Owns what each is known to weigh, so that a look at all of them begins with what is quick.
"""

from __future__ import annotations

from collections.abc import Iterable

IMAGE = 224
"""The side of the image for those that take any."""

MILLIONS = {
    "MobileNetV3Small": 2.6,
    "MobileNetV2": 3.5,
    "MobileNet": 4.3,
    "EfficientNetB0": 5.3,
    "NASNetMobile": 5.3,
    "MobileNetV3Large": 5.5,
    "EfficientNetV2B0": 7.2,
    "EfficientNetB1": 7.9,
    "DenseNet121": 8.1,
    "EfficientNetV2B1": 8.2,
    "EfficientNetB2": 9.2,
    "EfficientNetV2B2": 10.2,
    "EfficientNetB3": 12.3,
    "DenseNet169": 14.3,
    "EfficientNetV2B3": 14.5,
    "EfficientNetB4": 19.5,
    "DenseNet201": 20.2,
    "EfficientNetV2S": 21.6,
    "Xception": 22.9,
    "InceptionV3": 23.9,
    "ResNet50V2": 25.6,
    "ResNet50": 25.6,
    "ConvNeXtTiny": 28.6,
    "EfficientNetB5": 30.6,
    "EfficientNetB6": 43.3,
    "ResNet101V2": 44.7,
    "ResNet101": 44.7,
    "ConvNeXtSmall": 50.2,
    "EfficientNetV2M": 54.4,
    "InceptionResNetV2": 55.9,
    "ResNet152V2": 60.4,
    "ResNet152": 60.4,
    "EfficientNetB7": 66.7,
    "ConvNeXtBase": 88.6,
    "NASNetLarge": 88.9,
    "EfficientNetV2L": 119.0,
    "VGG16": 138.4,
    "VGG19": 143.7,
    "ConvNeXtLarge": 197.8,
    "ConvNeXtXLarge": 350.2,
}
"""Millions of parameters, with the top and a thousand classes."""


def smallest_first(names: Iterable[str]) -> list[str]:
    """The names in the order in which to try them; one that is not in the table comes last."""
    return sorted(names, key=lambda name: (MILLIONS.get(name, 1e9), name))


def how_large(name: str) -> str:
    """How large it is, for a list."""
    return f"{MILLIONS[name]:.1f} million parameters" if name in MILLIONS else "of a size that is not known here"
