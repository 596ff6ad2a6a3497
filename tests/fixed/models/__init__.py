"""Builders of small models that are hard to clone, and that the strategies do not draw.

The package is loaded once for each generation, and `import keras` means the Keras of that one.
"""

from __future__ import annotations

import collections
import functools
import inspect

import keras

GENERATION = "tf_keras" if keras.__name__ == "tf_keras" else "keras"
MODELS = {}
ASKED = {}
"""Models with arguments for `clone_model`, and the models that are asked for."""
MISUSED = {}
"""Models with arguments that are refused."""


Builder = collections.namedtuple("Builder", "build inputs", defaults=(None,))
"""`inputs` makes what the model is called on."""


def model(*generations, name="", shapes=((3,),), **options):
    """Add a builder for these generations, for both without one; the options are those of `Builder`.

    It is a function that builds the model, or one of the model's inputs that gives its outputs: the inputs have these
    shapes, the last of which is that of all further ones.
    """

    def add(build):
        parameters = inspect.signature(build).parameters.values()
        count = len([parameter for parameter in parameters if parameter.default is parameter.empty])
        padded = [*shapes, *shapes[-1:] * count][:count]
        whole = functools.partial(of_inputs, build, padded) if count else build
        if not generations or GENERATION in generations:
            key = name or build.__name__
            assert key not in MODELS, key
            MODELS[key] = Builder(whole, **options)
        return whole

    return add


def models(table, around_layer, *generations, **options):
    """Add a builder for each layer, or function of the input, that a table makes."""
    for name, make in table.items():
        model(*generations, name=name, **options)(lambda make=make: around_layer(make()))


def of_inputs(build, shapes):
    """The model of what a function gives for inputs of these shapes."""
    inputs = [keras.Input(shape) for shape in shapes]
    outputs = build(*inputs)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def around(layer, shape=(3,)):
    """A model of one layer, or of what a function gives for its input."""
    return of_inputs(layer, [shape])


def frozen(layer, part=None):
    (getattr(layer, part) if part else layer).trainable = False
    return layer
