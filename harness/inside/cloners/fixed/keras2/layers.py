"""A layer of Keras 2.2 or 2.3 rebuilt from its config."""

from __future__ import annotations

from typing import Any, Callable

from ....structure import map_leaves
from ..before_keras3.layers import EarlyConfig, rebuild_from_config, rebuild_plain_lambda
from ..missing_options import UserLayer
from .release import RELEASE

_ACTIVATION = "activation_of_the_layer_being_cloned_"


class Keras2Config(EarlyConfig):
    """A config in which a function is a string, or itself; a layer that is an activation is asked for its name."""

    adapter = RELEASE

    def _stand_in(self, layer: Any) -> Any:
        stand_in = super(Keras2Config, self)._stand_in(layer)
        stand_in.__dict__["__name__"] = _ACTIVATION + str(id(stand_in))
        return stand_in

    def _text(self, value: str) -> Any:
        if value.startswith(_ACTIVATION):
            return self._clone_of(self._originals[int(value[len(_ACTIVATION) :])])
        return super(Keras2Config, self)._text(value)


def rebuild_layer(layer: Any, clone_of: Callable[[Any], Any], user_layers: list[UserLayer]) -> Any:
    """A fresh layer like `layer`; `clone_of` gives the clone of a layer that its config describes.

    One of a user's class is added to `user_layers`.
    """
    if not isinstance(layer, RELEASE.keras.layers.Lambda):
        return rebuild_from_config(Keras2Config, layer, clone_of, user_layers)
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
