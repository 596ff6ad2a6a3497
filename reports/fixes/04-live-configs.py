"""Configs that `clone_model` writes and reads at once hold live objects.

A config is a file format: functions become names, arrays become lists, and
other objects are refused. `clone_model` writes no file. In a `live_scope`, a
config holds clones of objects that have a config, and other objects themselves.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = [
#     "activation-lambda", "activation-namesake", "activation-none", "auto-config-keeps-list", "compile-auc-weights",
#     "compile-class", "compile-own-function", "function-named-like-a-class", "function-of-layer", "lambda-globals",
#     "lambda-mask", "lambda-output-shapes", "text-vectorization-function", "wrapped-weight-path",
# ]
# [definitions]
# "keras/src/saving/serialization_lib.py" = [
#     "live_scope", "is_live", "live_first", "live_object", "live_config", "serialize_keras_object", "deserialize_keras_object",
# ]
# "keras/src/activations/__init__.py" = ["serialize"]
# "keras/src/layers/core/lambda_layer.py" = ["Lambda._serialize_function_to_config"]
# "keras/src/layers/preprocessing/index_lookup.py" = ["listify_tensors"]
# "keras/src/layers/rnn/bidirectional.py" = ["Bidirectional.from_config"]
# "keras/src/models/cloning.py" = ["_scope", "_remade"]
# ///

import contextlib
import functools
import inspect

import numpy as np

from keras.src.backend.common import global_state
from keras.src.saving import serialization_lib
from keras.src.saving.serialization_lib import SafeModeScope


@contextlib.contextmanager
def live_scope(live=True):
    """Scope in which configs hold live objects, since they are read at once."""
    before = is_live()
    global_state.set_global_attribute("live_configs", live)
    try:
        with SafeModeScope(False):
            yield
    finally:
        global_state.set_global_attribute("live_configs", before)


def is_live():
    return global_state.get_global_attribute("live_configs", False)


def live_first(function):
    """Wraps a function that writes or reads configs to keep live objects."""
    is_method = next(iter(inspect.signature(function).parameters)) == "self"
    reads = function.__name__ == "deserialize_keras_object"

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        obj = args[is_method]
        is_written = isinstance(obj, str) or (
            isinstance(obj, dict) and "class_name" in obj and "config" in obj
        )
        if not is_live() or is_written:
            return function(*args, **kwargs)
        if isinstance(obj, dict):
            return {key: wrapper(value) for key, value in obj.items()}
        if isinstance(obj, list) or type(obj) is tuple:
            return (list if isinstance(obj, list) else tuple)(map(wrapper, obj))
        if reads:
            return obj
        try:
            return live_object(obj)
        except (TypeError, NotImplementedError):
            return function(*args, **kwargs)  # a part is a config

    return wrapper


def live_object(obj):
    """The value for an object in a live config: a clone, or the object."""
    from keras.src.dtype_policies import DTypePolicy
    from keras.src.models.cloning import clone_model
    from keras.src.models.model import Model

    kinds = (list, dict, np.ndarray)
    if isinstance(obj, kinds):
        return obj.copy()
    if isinstance(obj, type) or not hasattr(obj, "get_config"):
        return obj
    if type(obj) is DTypePolicy:
        return obj.name  # the config of an `Operation` has to be plain
    if isinstance(obj, Model):
        with live_scope(False):
            return clone_model(obj)
    config = live_config(obj).items()
    config = {x: y.copy() if isinstance(y, kinds) else y for x, y in config}
    return type(obj).from_config(config)


def live_config(obj):
    """The live config of an object, which is read back at once."""
    return obj.get_config()


@live_first
def serialize_keras_object(obj): ...


@live_first
def deserialize_keras_object(config): ...


@serialization_lib.live_first
def serialize(activation): ...


class Lambda:
    @serialization_lib.live_first
    def _serialize_function_to_config(self, fn): ...


class Bidirectional:
    @classmethod
    def from_config(cls, config, custom_objects=None):
        layers = {
            name: serialization_lib.deserialize_keras_object(
                config[name], custom_objects=custom_objects
            )
            for name in ("layer", "backward_layer")
            if name in config
        }
        with serialization_lib.live_scope(False):  # `cls` changes configs
            return cls(**{**config, **layers})


@serialization_lib.live_first
def listify_tensors(x): ...


def _scope():
    return serialization_lib.live_scope()


def _remade(layer):
    return serialization_lib.live_object(layer)
