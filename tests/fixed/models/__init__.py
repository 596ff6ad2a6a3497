"""Builders of small models that are hard to clone and that strategies do not draw.

The package is loaded once for each generation; `import keras` imports the Keras of that generation.
"""

from __future__ import annotations

import collections
import functools
import inspect

import keras

GENERATION = "tf_keras" if keras.__name__ == "tf_keras" else "keras"
MODELS = {}
EXPECTATIONS = {}
"""Models with arguments of `clone_model`, and the expected clones."""
REFUSALS = {}
"""Models with arguments that `clone_model` refuses."""


Builder = collections.namedtuple("Builder", "build inputs", defaults=(None,))
"""`build` returns a model, and `inputs` the inputs of a run."""


def model(*generations, name="", shapes=((3,),), **options):
    """Return a decorator that adds a builder for these generations (or both); `options` go to `Builder`.

    The decorated function returns a model; if it has parameters, it gets inputs of these shapes and returns outputs.
    If there are fewer shapes than parameters, the last shape is repeated.
    """

    def add(build):
        parameters = inspect.signature(build).parameters.values()
        count = len([parameter for parameter in parameters if parameter.default is parameter.empty])
        padded = [*shapes, *shapes[-1:] * count][:count]
        whole = functools.partial(model_on_inputs, build, padded) if count else build
        if not generations or GENERATION in generations:
            key = name or build.__name__
            assert key not in MODELS, key
            MODELS[key] = Builder(whole, **options)
        return whole

    return add


def add_models(table, around_layer, *generations, **options):
    """Add a builder for each entry of a table: a layer, or a function of the input."""
    for name, make in table.items():
        model(*generations, name=name, **options)(lambda make=make: around_layer(make()))


def model_on_inputs(build, shapes):
    """Return a model that calls a function on inputs of these shapes."""
    inputs = [keras.Input(shape) for shape in shapes]
    outputs = build(*inputs)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def model_with(layer, shape=(3,)):
    """Return a model that calls one layer, or a function, on its input."""
    return model_on_inputs(layer, [shape])


def freeze(layer, part=None):
    (getattr(layer, part) if part else layer).trainable = False
    return layer
