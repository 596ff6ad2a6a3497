"""A layer of Keras 2.2 or 2.3 rebuilt from its config."""

from __future__ import annotations

from typing import Any, Callable

from ....structure import map_leaves
from ..before_keras3.layers import LiveConfig, rebuild_from_config, rebuild_plain_lambda
from ..untold import Untold
from .release import RELEASE


class Keras2Config(LiveConfig):
    """A config in which a function is a string, or itself."""

    release = RELEASE


def rebuild_layer(layer: Any, clone_of: Callable[[Any], Any], untold: list[Untold]) -> Any:
    """A fresh layer like `layer`; `clone_of` gives the clone of a layer that its config describes.

    What became of options that no config tells is noted in `untold`.
    """
    if not isinstance(layer, RELEASE.keras.layers.Lambda):
        return rebuild_from_config(Keras2Config, layer, clone_of, untold)
    kind = type(layer)
    arguments = map_leaves(lambda value: value, layer.arguments)
    if RELEASE.takes(layer.function, "mask"):
        arguments.pop("mask", None)  # each call leaves its mask there
    if kind.__init__ is RELEASE.keras.layers.Lambda.__init__:
        return rebuild_plain_lambda(RELEASE, layer, arguments)
    clone = kind.from_config(layer.get_config())
    clone.function, clone._output_shape, clone.mask = layer.function, layer._output_shape, layer.mask
    clone.arguments = arguments
    return clone
