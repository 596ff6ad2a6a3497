"""Builders of small models that are hard to clone and are not drawn.

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
"""Models, arguments of `clone_model`, and the expected models."""
MISUSED = {}
"""Models and arguments that are refused."""


Builder = collections.namedtuple("Builder", "build inputs", defaults=(None,))
"""`inputs` creates the inputs of a run."""


def model(*generations, name="", shapes=((3,),), **options):
    """Add a builder for these generations, or both; options are those of `Builder`.

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
    """Add a builder for each layer, or function of the input, in a table."""
    for name, make in table.items():
        model(*generations, name=name, **options)(lambda make=make: around_layer(make()))


def of_inputs(build, shapes):
    """A model of a function on inputs of these shapes."""
    inputs = [keras.Input(shape) for shape in shapes]
    outputs = build(*inputs)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def around(layer, shape=(3,)):
    """A model of one layer, or of a function of its input."""
    return of_inputs(layer, [shape])


def frozen(layer, part=None):
    (getattr(layer, part) if part else layer).trainable = False
    return layer
