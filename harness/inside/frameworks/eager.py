"""What Keras 3 and `tf_keras` share: a call is made at once, and a backend reads the tensors that it gives.

Owns no way of telling a release from another: that is in the modules of the generations.
"""

from __future__ import annotations

from typing import Any

from .backends import Backend
from .interface import Framework


class Eager(Framework):
    """A generation of Keras that runs a call when it is made."""

    tensors: Backend
    _functional: Any
    _sequential: Any
    _tensor: Any

    def devices(self) -> list[str]:
        return self.tensors.devices()

    # -- a model at rest

    def is_graph(self, layer: Any) -> bool:
        return isinstance(layer, (self._functional, self._sequential))

    def is_symbolic(self, value: Any) -> bool:
        return isinstance(value, self._tensor)

    def has_mask(self, tensor: Any) -> bool:
        return getattr(tensor, "_keras_mask", None) is not None

    def write(self, variable: Any, array: Any) -> None:
        variable.assign(array)

    # -- a model that runs

    def call(self, model: Any, inputs: Any, training: bool) -> Any:
        return model(inputs, training=training)

    def losses(self, model: Any) -> list[Any]:
        return list(model.losses)

    def concrete(self, value: Any) -> bool:
        return self.tensors.concrete(value)

    def array(self, tensor: Any) -> tuple[Any, str]:
        return self.tensors.array(tensor)

    def gradients(self, model: Any, inputs: Any) -> tuple[Any, list[Any]]:
        return self.tensors.gradients(self.keras, model, inputs)
