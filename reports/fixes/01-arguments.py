"""`clone_model` checks its arguments before it uses them.

It raises an error if a function cannot be called, the model is no `Model`, or
`clone_function` returns no layer. `input_tensors` may be `InputLayer`s, or a
list of one tensor. A model with its own `get_config` is cloned by its config.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = ["clone-function-uncallable", "own-option"]
# [definitions]
# "keras/src/models/cloning.py" = [
#     "check_arguments", "clone_model", "_clone_alone", "_wrap_clone_function", "_clone_layer", "_given_inputs",
# ]
# ///

import functools

from keras.src import backend
from keras.src import tree
from keras.src.layers import InputLayer
from keras.src.models.functional import Functional
from keras.src.models.model import Model
from keras.src.models.sequential import Sequential
from keras.src.saving import serialization_lib


def check_arguments(clone):
    """Makes `clone_model` check its arguments first."""

    @functools.wraps(clone)
    def wrapper(
        model,
        input_tensors=None,
        clone_function=None,
        call_function=None,
        recursive=False,
        **kwargs,
    ):
        names = ("clone_function", "call_function")
        functions = dict(zip(names, (clone_function, call_function)))
        if not isinstance(model, Model):
            raise ValueError(f"Expected a `Model`. Received: model={model}")
        for name, function in functions.items():
            if function is not None and not callable(function):
                raise ValueError(
                    f"Expected `{name}` to be callable. Received: {function}"
                )
        given = {**functions, "input_tensors": input_tensors}
        if not (recursive or kwargs) and all(x is None for x in given.values()):
            return _clone_alone(model, clone)
        return clone(model, recursive=recursive, **given, **kwargs)

    return wrapper


@check_arguments
def clone_model(model): ...


def _clone_alone(model, clone):
    """Clones a model without other arguments, through its own config if any."""
    base = Sequential if isinstance(model, Sequential) else Functional
    if type(model).get_config is base.get_config:
        return clone(model)
    return serialization_lib.deserialize_keras_object(
        serialization_lib.serialize_keras_object(model),
        custom_objects={type(model).__name__: type(model)},
        safe_mode=False,  # this process wrote the config
    )


def _wrap_clone_function(
    clone_function, call_function=None, recursive=False, cache=None
):
    """A function that clones each layer once; inner models if `recursive`."""
    cache = {} if cache is None else cache
    clone_one = clone_function or functools.partial(_clone_layer, cache=cache)

    def clone_layer(layer):
        if id(layer) in cache:
            return cache[id(layer)]
        if recursive and isinstance(layer, (Functional, Sequential)):
            is_sequential = isinstance(layer, Sequential)
            clone = clone_model(
                layer,
                clone_function=clone_function,
                call_function=None if is_sequential else call_function,
                recursive=True,
                cache=cache,
            )
        else:
            clone = clone_one(layer)
        if not callable(clone):
            raise ValueError(
                f"`clone_function` must return a layer. For '{layer.name}', "
                f"it returned: {clone}"
            )
        cache[id(layer)] = clone
        return clone

    clone_layer.cache = cache
    return clone_layer


def _clone_layer(layer, cache):
    """The clone of a layer if there is no `clone_function`."""
    return type(layer).from_config(layer.get_config())


def _given_inputs(input_tensors, expected):
    """`input_tensors` as tensors, with the structure of `expected`."""
    is_list = isinstance(input_tensors, (list, tuple))
    if is_list and len(input_tensors) == 1 and not tree.is_nested(expected):
        input_tensors = input_tensors[0]
    given = tree.map_structure(
        lambda x: x.output if isinstance(x, InputLayer) else x, input_tensors
    )
    if not all(isinstance(x, backend.KerasTensor) for x in tree.flatten(given)):
        raise ValueError(
            f"Expected `input_tensors` of KerasTensors. Received: {given}"
        )
    try:
        tree.assert_same_structure(given, expected)
    except ValueError as e:
        raise ValueError(
            "`input_tensors` must have the same structure as model.input, "
            f"{expected}. Received: {given}"
        ) from e
    return given
