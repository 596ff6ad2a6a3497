"""A config that `clone_model` reads itself has what `get_config` omits.

The `get_config` of two dozen classes omits an argument, such as `use_cudnn`. Now
an object of Keras remembers the plain arguments of its constructor.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = [
#     "bounding-boxes-fill", "compile-cosine-metric", "compile-huber", "compile-loss-dtype", "encoding-sparse",
#     "flash-attention", "grayscale-seed", "identity-gain", "recurrent-use-cudnn"
# ]
# [definitions]
# "keras/src/saving/keras_saveable.py" = ["remembering", "KerasSaveable.__new__"]
# "keras/src/ops/operation.py" = ["Operation.__new__"]
# "keras/src/initializers/initializer.py" = ["Initializer.__new__"]
# "keras/src/saving/serialization_lib.py" = ["live_config"]
# ///

import functools
import inspect

from keras.src.saving import keras_saveable


def remembering(new):
    """Wraps `__new__` to remember the plain arguments of the constructor."""

    @functools.wraps(new)
    def wrapper(cls, *args, **kwargs):
        instance = new(cls, *args, **kwargs)
        if not cls.__module__.startswith("keras.") or not (args or kwargs):
            return instance
        signature = inspect.signature(cls.__init__)
        try:
            given = signature.bind(None, *args, **kwargs).arguments
        except TypeError:
            return instance
        for name, parameter in signature.parameters.items():
            if parameter.kind == inspect.Parameter.VAR_KEYWORD:
                given.update(given.pop(name, {}))
        vars(instance)["_given"] = {
            name: value
            for name, value in given.items()
            if isinstance(value, (str, int, float, bool))
        }
        return instance

    return wrapper


class KerasSaveable:
    @remembering
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)


class Operation:
    @keras_saveable.remembering
    def __new__(cls, *args, **kwargs): ...


class Initializer:
    @keras_saveable.remembering
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)


def live_config(obj):
    """The config of an object, with the arguments that `get_config` omits."""
    given = getattr(obj, "__dict__", {}).get("_given", {})
    return {**given, **obj.get_config()}
