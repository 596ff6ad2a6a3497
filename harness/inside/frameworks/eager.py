"""What Keras 3 and `tf_keras` share: a call is made at once, and a backend reads the tensors that it gives.

Owns no way of telling a release from another: that is in the modules of the generations.
"""

from __future__ import annotations

import contextlib
import functools
import random
from typing import Any, ContextManager

import numpy as np

from .backends import Backend
from .interface import Framework


class Eager(Framework):
    """A generation of Keras that runs a call when it is made."""

    tensors: Backend
    _pack: Any
    _scope: Any
    """Gives the scope of a device."""
    _functional: Any
    _sequential: Any
    _tensor: Any
    _plain_calls: set[Any]
    """The methods by which a graph calls its layers."""
    _drops_out: tuple[str, ...]
    """The modules of layers whose one use of `training` is dropout."""
    _takes_training = ""
    """The attribute that says whether a layer takes `training`."""

    def devices(self) -> list[str]:
        return self.tensors.devices()

    def on(self, device: str | None) -> ContextManager[Any]:
        return contextlib.nullcontext() if device is None else self._scope(device)

    @staticmethod
    def _forget_registered(registries: list[Any]) -> None:
        """Take back what scripts have registered.

        Keras finds a function by the end of a name, whichever script it is of; tf_keras before 2.13 refuses a name's
        second class.
        """
        for known in registries:
            for key in list(known):
                thing = known[key] if isinstance(key, str) else key
                if getattr(thing, "__module__", "") == "__main__":
                    del known[key]

    def reseed(self, seed: int, backend: bool = False) -> None:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - a graph's lambdas may use the global generator
        if backend:
            self.tensors.reseed(seed)

    # -- a model at rest

    def is_graph(self, layer: Any) -> bool:
        return isinstance(layer, (self._functional, self._sequential))

    def is_symbolic(self, value: Any) -> bool:
        return isinstance(value, self._tensor)

    def has_mask(self, tensor: Any) -> bool:
        return getattr(tensor, "_keras_mask", None) is not None

    def trains(self, layer: Any) -> bool:
        if self.is_graph(layer) and type(layer).call in self._plain_calls:
            return False
        if isinstance(layer, self.keras.layers.Lambda):
            return bool(getattr(layer, "_fn_expects_training_arg", True))
        if type(layer).__module__.startswith(self._drops_out):
            return any(vars(layer).get(name) for name in ("dropout", "recurrent_dropout", "_dropout"))
        return bool(getattr(layer, self._takes_training, True))

    def write(self, variable: Any, array: Any) -> None:
        if not self.tensors.write(getattr(variable, "_value", variable), array):
            variable.assign(array)

    def number(self, array: Any, spec: dict[str, Any]) -> Any:
        tensor = self.tensors.tensor(array, bool(spec.get("sparse")), bool(spec.get("ragged")))
        return self.cast(tensor, "bfloat16") if spec.get("dtype") == "bfloat16" else tensor

    def cast(self, tensor: Any, dtype: str) -> Any:
        """A tensor of another dtype."""
        raise NotImplementedError

    # -- a model that runs

    def feed(self, model: Any, arrays: list[Any]) -> Any:
        ends = self.ends(model)[0] or [None] * len(arrays)
        sorts = [(False, False) if end is None else self.end_options(end)[1:] for end in ends]
        tensors = [None if array is None else self.tensors.tensor(array, *each) for array, each in zip(arrays, sorts)]
        return self.packed(model, tensors)

    def pack(self, structure: Any, values: list[Any]) -> Any:
        if structure is None or isinstance(structure, self._tensor):
            return values[0]
        if type(structure) is list and all(isinstance(item, self._tensor) for item in structure):
            return values
        return self._pack(structure, values)

    def install_hooks(self) -> None:
        self._tell_of_calls(self._layer)

    def _tell_of_calls(self, kind: Any, but_not: Any = ()) -> None:
        call = kind.__call__

        @functools.wraps(call)
        def told(called: Any, *args: Any, **kwargs: Any) -> Any:
            result = call(called, *args, **kwargs)
            if self.listener is not None and not isinstance(called, but_not):
                self.listener(called, result)
            return result

        self.replace(kind, "__call__", told)

    def call(self, model: Any, inputs: Any, training: bool) -> Any:
        return model(inputs, training=training)

    def losses(self, model: Any) -> list[Any]:
        return list(model.losses)

    def concrete(self, value: Any) -> bool:
        return self.tensors.concrete(value)

    def array(self, tensor: Any) -> tuple[Any, str]:
        return self.tensors.array(tensor)

    def recording(self) -> Any:
        return self.tensors.recording()

    def gradients_of(self, recorded: Any, model: Any, outputs: Any) -> tuple[Any, list[Any]]:
        return self.tensors.gradients_of(recorded, model, outputs)

    def gradients(self, model: Any, inputs: Any) -> tuple[Any, list[Any]]:
        return self.tensors.gradients(self.keras, model, inputs)
