"""Builders of small models that are hard to clone, by name: one for all generations of Keras that have what it uses.

The package is loaded once for each generation, and `import keras` means the Keras of that one. What one generation
alone has is in the modules that begin with its name.
"""

from __future__ import annotations

import functools
import inspect
import types

import keras

GENERATION = "tf_keras" if keras.__name__ == "tf_keras" else "keras"
MODELS = {}
TRAINED = {}
"""Those of `MODELS` that are compiled, and are trained as well."""
REFUSED = {}
"""Those that the fixed cloner refuses, because nobody tells what a layer was made with."""
ASKED = {}
"""Models with arguments for `clone_model`, and the models that are asked for."""
MISUSED = {}
"""Models with arguments that the fixed cloner refuses."""


class Builder:
    """Builds a model, and says what is tried with it.

    `inputs` gives what it is called on, where numbers that are drawn would not do. `again` asks for a second clone and
    the clone of a clone. With `computes`, only what it gives is compared, because what it was made of has changed;
    with `begins`, what its weights begin with is compared, too. `differs` has the checks that do not agree with the
    oracle. `late` is for those that are tried where everything is. `refused` is what the fixed cloner says of a model
    that it refuses.
    """

    def __init__(
        self, build, inputs=None, again=False, computes=False, begins=False, differs=(), late=False, refused=""
    ):
        self.build = build
        self.inputs = inputs
        self.again = again
        self.computes = computes
        self.begins = begins
        self.differs = set(differs)
        self.late = late
        self.refused = refused

    def given(self):
        """What the model is called on; None where that is drawn, False where it is not called."""
        return self.inputs() if self.inputs else None


def model(*generations, name="", shapes=((3,),), **options):
    """Add a builder for these generations, for all without one; the options are those of `Builder`.

    It is a function that builds the model, or one of the model's inputs that gives its outputs: the inputs have these
    shapes, the last of which is that of all further ones.
    """

    def add(build):
        parameters = inspect.signature(build).parameters.values()
        count = len([each for each in parameters if each.default is each.empty])
        given = [*shapes, *shapes[-1:] * count][:count]
        whole = functools.partial(of_inputs, build, given) if count else build
        if not generations or GENERATION in generations:
            found, named = REFUSED if options.get("refused") else MODELS, name or build.__name__
            assert named not in found, named
            found[named] = Builder(whole, **options)
        return whole

    return add


def of_inputs(build, shapes):
    """The model of what a function gives for inputs of these shapes."""
    inputs = [keras.Input(shape) for shape in shapes]
    outputs = build(*inputs)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def around(layer, shape=(3,)):
    """A model of one layer, or of what a function gives for its input."""
    return of_inputs(layer, [shape])


if GENERATION == "keras":
    ops = keras.ops
else:
    import tensorflow as tf

    ops = types.SimpleNamespace(
        abs=tf.abs,
        any=tf.reduce_any,
        cast=tf.cast,
        expand_dims=tf.expand_dims,
        matmul=tf.matmul,
        ones=tf.ones,
        sum=tf.reduce_sum,
    )
