"""A model and its clone, compared by the harness where they are at rest, be they graphs or not; and called."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from clonediff.harness.inside.description import Description
from clonediff.harness.inside.frameworks import framework, generation_of
from clonediff.harness.inside.leaks import leaks, owned
from clonediff.harness.inside.observer import Observer
from clonediff.harness.inside.structure import leaves, numbered
from clonediff.harness.observation import Clone, Observation
from clonediff.harness.trials.checks import compare

AT_REST = ("weights", "own", "sharing", "structure")


def unlike(model, clone_model, inputs=None, again=False):
    """Clone a model, call both on `inputs`, and return the differences as lines of text.

    Without `inputs`, both are called on random numbers; where `inputs` is False they are not called. With `again`, a
    second clone and a clone of the clone are compared too.
    """
    observer = observer_of(model)
    before = described(model, observer).shape
    clones = [clone_model(model)]
    lines = [] if described(model, observer).shape == before else ["the original is changed"]
    if again:
        clones += [clone_model(model), clone_model(clones[0])]
    for clone in clones:
        lines += unlike_clone(model, clone)
    if inputs is not False and not lines:
        lines += unlike_calls(model, clones, inputs)
    return lines


def unlike_clone(model, clone):
    """The differences between a model and its clone at rest, once the weights of the clone are the model's."""
    observer = observer_of(model)
    original = described(model, observer)
    begins = Description(clone, observer)
    assign(observer, begins, values_of(observer, original))
    copy = described(clone, observer, original)
    assign(observer, begins, [*begins.initial, *begins.first_states])
    shared = leaks(copy.layers.objects(), owned(model), original.shared_with(copy), whole_packages=True)
    observation = Observation(copy.shape, leaks=shared, fresh=(True,) * len(copy.weights))
    found = compare(Observation(original.shape), Clone(observation=observation), AT_REST)
    return [line for difference in found for line in difference.lines]


def observer_of(model):
    observer = Observer(framework(generation_of(model)), seed=3)
    observer.values_by_chance = True  # a clone begins with other values
    return observer


def described(model, observer, original=None):
    """A model at rest: its layers and weights, its calls, and all that it holds."""
    description = Description(model, observer)
    description.hold(original)
    return description


def unlike_calls(model, clones, inputs=None):
    """The differences between what a model and its clones compute, on `inputs` or on random numbers."""
    observer, lines = observer_of(model), []
    inputs = arrays_for(model) if inputs is None else inputs
    original = described(model, observer)
    values = values_of(observer, original)
    descriptions = [described(clone, observer) for clone in clones]
    for training in (False, True):
        runs = [called(one, observer, values, inputs, training) for one in (original, *descriptions)]
        lines += [f"{training=}: {found} is not {runs[0]}" for found in runs[1:] if found != runs[0]]
        others = [value + 1 if value.dtype.kind == "f" else value for value in values]
        for clone in descriptions if not lines else ():  # neither computes something else once the other has changed
            for one, other in ((clone, original), (original, clone)):
                if called(one, observer, values, inputs, training, {other: others}) != runs[0]:
                    lines.append(f"{training=}: the {'clone' if one is clone else 'model'} depends on the other")
    return lines


def called(description, observer, values, inputs, training, others=()):
    """What a model computes when its variables have these values, how it is trained, and what they become.

    Those of `others` have other values meanwhile. At the end they are set back.
    """
    keras, digest = observer.framework, observer.digests.digest
    for other in others:
        assign(observer, other, others[other])
    assign(observer, description, values)
    keras.reseed(observer.seed, True)
    with tf.GradientTape() as tape:
        structure, outputs = numbered(description.model(inputs, training=training))
        tensors = [*outputs, *description.model.losses]
        floats = [one for one in tensors if isinstance(one, tf.Tensor) and one.dtype.is_floating]
        loss = tf.add_n([tf.reduce_sum(tf.cast(one, "float32")) for one in floats] or [tf.constant(0.0)])
    trained = [getattr(variable, "_value", variable) for variable in description.model.trainable_variables]
    tensors += [*map(keras.mask, outputs), *map(dense, tape.gradient(loss, trained) if training else ())]
    # A ragged tensor is no array; nor is None, where there is no mask.
    results = [digest(keras.tensors.array(one)) if hasattr(one, "__array__") else repr(one) for one in tensors]
    results += map(digest, values_of(observer, description))
    for one in (description, *others):
        assign(observer, one, values)
    return structure, results


def dense(gradient):
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


def values_of(observer, description):
    return [observer.framework.read(variable).copy() for variable in (*description.weights, *description.states)]


def assign(observer, description, values):
    for variable, value in zip([*description.weights, *description.states], values, strict=False):
        observer.framework.write(variable, value)
    observer.framework.weights_written(description.model)


def arrays_for(model):
    """Random inputs for a model; the last step of each is one that a mask leaves out."""
    random, keras = np.random.default_rng(0), framework(generation_of(model))

    def numbers(tensor):
        shape = [(2 if place == 0 else 3) if size is None else size for place, size in enumerate(keras.shape(tensor))]
        dtype = keras.dtype(tensor)
        is_whole = "int" in dtype or dtype == "bool" or type(model.layers[0]).__name__ == "Embedding"
        array = random.integers(0, 3, shape) if is_whole else random.standard_normal(shape)
        if array.ndim > 1:
            array[:, -1:] = 0
        return array.astype(dtype)

    graph = getattr(model, "_functional", None) or model
    arrays = [numbers(tensor) for tensor in leaves(keras.ends(graph)[0])]
    return keras.pack(keras.structures(graph)[0], arrays)
