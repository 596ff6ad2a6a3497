"""Models, arguments for `clone_model`, and the models that are asked for, built by hand; arguments that are refused."""

from __future__ import annotations

import collections

import keras
import numpy as np
from keras import layers

from . import ASKED, GENERATION, MISUSED, ops

Asked = collections.namedtuple("Asked", "build arguments by_hand inputs")
"""The clone of what `build` makes, with these arguments, is to be what `by_hand` makes."""
Misused = collections.namedtuple("Misused", "build arguments message")
"""These arguments are refused with an error that has these words; without words, Keras refuses them too."""


def asked(name, build, arguments, by_hand, *generations, inputs=None):
    if not generations or GENERATION in generations:
        ASKED[name] = Asked(build, arguments, by_hand, inputs)


def remade(layer):
    return layer.__class__.from_config(layer.get_config())


def changed(kind, **options):
    """A `clone_function` that gives layers of a kind another config."""

    def function(layer):
        return type(layer).from_config(dict(layer.get_config(), **(options if isinstance(layer, kind) else {})))

    return lambda: {"clone_function": function}


def replaced(kind, new):
    return lambda: {"clone_function": lambda layer: new() if isinstance(layer, kind) else remade(layer)}


# A layer is replaced


def ids(name="x"):
    return keras.Input((5,), name=name, dtype="int32")


def embedding(mask):
    return layers.Embedding(9, 3, mask_zero=mask, name="embedding")


def lstm(**options):
    return layers.LSTM(2, name="lstm", **options)


def embedded(mask=True, after=None):
    x = ids()
    y = embedding(mask)(x)
    return keras.Model(x, lstm()(after(y) if after else y), name="model")


def attending(mask=True):
    x = ids()
    y = layers.Activation("tanh", name="tanh")(embedding(mask)(x))
    z = layers.GlobalAveragePooling1D(name="mean")(layers.Attention(name="attention")([y, y]))
    return keras.Model(x, z, name="model")


def with_a_mask_given(mask=True):
    x, given = ids(), keras.Input((5,), name="given", dtype="bool")
    return keras.Model([x, given], lstm()(embedding(mask)(x), mask=given), name="model")


def nested(mask=True):
    i, x = ids("i"), ids()
    inner = keras.Model(i, lstm()(embedding(mask)(i)), name="inner")
    return keras.Model(x, layers.Dense(2, name="dense")(inner(x)), name="model")


def masked(layer, masking=None):
    x = keras.Input((5, 3), name="x")
    return keras.Model(x, layer((masking or layers.Masking(name="masking"))(x)), name="model")


class Quiet(layers.Layer):
    def call(self, x, training=False):
        return x


class Noisy(layers.Layer):
    def call(self, x, training=True):
        return x + 1.0 if training else x


def through(layer, width=3, name="x"):
    x = keras.Input((width,), name=name)
    return keras.Model(x, layers.Dense(3, name="last")(layer(x)), name="model")


def in_a_sequential(layer):
    body = [layers.InputLayer((5, 3), name="x"), layers.Dense(2, name="dense"), layer]
    return keras.Sequential(body, name="model")


def both():
    return layers.Bidirectional(lstm(), name="both")


def dense(name="layer"):
    return layers.Dense(3, name=name)


def functional():
    x = keras.Input((3,), name="inner_x")
    return keras.Model(x, dense("inner")(x), name="layer")


def chain():
    return keras.Sequential([layers.InputLayer((3,), name="inner_x"), dense("inner")], name="layer")


def waiting_chain():
    return keras.Sequential([dense("inner")], name="layer")


def chain_in_a_chain():
    """The outer chain builds the inner one, so that its name is in the paths of the weights."""
    inner = keras.Sequential([layers.Dense(2, name="dense")], name="inner")
    return keras.Sequential([layers.InputLayer((3,), name="x"), inner, layers.Dense(1, name="last")], name="model")


def no_masking():
    return layers.Activation("tanh", name="masking")


MASK_OFF, MASK_ON = changed(layers.Embedding, mask_zero=False), changed(layers.Embedding, mask_zero=True)
asked("a layer without its mask", attending, MASK_OFF, lambda: attending(False))
asked("a layer with a mask", lambda: attending(False), MASK_ON, attending)
asked("a mask that is given", with_a_mask_given, MASK_OFF, lambda: with_a_mask_given(False))
asked("a layer in a nested model", nested, lambda: {**MASK_OFF(), "recursive": True}, lambda: nested(False), "keras")
asked(
    "a layer in a Sequential in a Sequential",
    chain_in_a_chain,
    lambda: {"clone_function": remade, "recursive": True},
    chain_in_a_chain,
    "keras",
)
asked(
    "no masking",
    lambda: masked(lstm()),
    replaced(layers.Masking, no_masking),
    lambda: masked(lstm(), no_masking()),
)
asked(
    "another mask",
    lambda: masked(lstm()),
    changed(layers.Masking, mask_value=1.0),
    lambda: masked(lstm(), layers.Masking(1.0, name="masking")),
)
asked(
    "a layer that takes no mask",
    lambda: masked(lstm(return_sequences=True)),
    replaced(layers.LSTM, lambda: layers.Dense(2, name="lstm")),
    lambda: masked(layers.Dense(2, name="lstm")),
)
asked(
    "a layer that takes masks",
    lambda: masked(layers.Dense(2, name="lstm")),
    replaced(layers.Dense, lambda: lstm(return_sequences=True)),
    lambda: masked(lstm(return_sequences=True)),
)
asked("a wrapped layer", lambda: masked(lstm()), replaced(layers.LSTM, both), lambda: masked(both()))
asked(
    "a layer in a Sequential that tells no shape",  # Keras leaves such a Sequential without a graph
    lambda: in_a_sequential(Quiet(name="layer")),
    replaced(Quiet, lambda: layers.TimeDistributed(Quiet(name="within"), name="layer")),
    lambda: in_a_sequential(layers.TimeDistributed(Quiet(name="within"), name="layer")),
    "keras",
    inputs=np.ones((2, 5, 3), "float32"),
)
asked(
    "a layer with another default",
    lambda: through(Quiet(name="layer")),
    replaced(Quiet, lambda: Noisy(name="layer")),
    lambda: through(Noisy(name="layer")),
)
for old, new in ((dense, functional), (functional, waiting_chain), (chain, dense), (waiting_chain, chain)):
    asked(
        f"{new.__name__} for {old.__name__}",
        lambda old=old: through(old()),
        lambda new=new: {"clone_function": lambda layer: new() if layer.name == "layer" else remade(layer)},
        lambda new=new: through(new()),
        "tf_keras",
    )


# Tensors are given


def given(width=3, name="given", **options):
    return keras.Input((width,), name=name, **options)


def single(x=None, own=lambda x: x):
    x = given(name="x") if x is None else x
    return keras.Model(own(x), layers.Dense(2, name="dense")(x), name="model")


def subtracting(nest=lambda a, b: [a, b], names="ab", widths=(3, 2)):
    a, b = (given(width, name) for width, name in zip(widths, names, strict=True))
    on = [layers.Dense(2, name="on_a")(a), layers.Dense(2, name="on_b")(b)]
    return keras.Model(nest(a, b), layers.Subtract(name="last")(on), name="model")


def sequential(width=3, name="x"):
    return keras.Sequential([layers.InputLayer((width,), name=name), layers.Dense(2, name="dense")], name="model")


def unbuilt():
    return keras.Sequential([layers.Dense(2, name="dense")], name="model")


def one(nest=lambda x: x, width=3, **options):
    return lambda: {"input_tensors": nest(given(width, **options))}


def operated(operation, x):
    return keras.Model(x, operation(x), name="model")


asked("an input layer as input", single, one(lambda x: x._keras_history[0]), lambda: single(given()))
asked("a tensor as input", single, one(), lambda: single(given()))
asked("a tensor as input of a Sequential", sequential, one(), lambda: sequential(name="given"))
asked("a list as input of a Sequential", sequential, one(lambda x: [x]), lambda: sequential(name="given"))
for name, nest in (("a list", lambda x: [x]), ("a tuple", lambda x: (x,))):
    asked(f"{name} where there is a tensor", single, one(nest), lambda: single(given()), "keras")
asked(
    "a tensor where there is a list",
    lambda: single(own=lambda x: [x]),
    one(),
    lambda: single(given(), lambda x: [x]),
    "keras",
)
asked("an input of another width", single, one(lambda x: [x], 7), lambda: single(given(7)))
asked("a Sequential on another width", sequential, one(lambda x: [x], 7), lambda: sequential(7, "given"))
asked("a Sequential that has no input", unbuilt, one(), lambda: sequential(name="given"))
asked(
    "a nested model that waits for its input",
    lambda: through(waiting_chain()),
    one(width=7),
    lambda: through(waiting_chain(), 7, "given"),
    "tf_keras",
)
NUMBERS_FIRST = {"divided": lambda x: 3 / x, "less": lambda x: 2.5 - x, "whole": lambda x: 7 // x}
for name, operation in NUMBERS_FIRST.items():
    asked(
        f"a number before an operator: {name}",
        lambda operation=operation: operated(operation, given(name="x", dtype="float16")),
        one(lambda x: [x], dtype="float64"),
        lambda operation=operation: operated(operation, given(dtype="float64")),
        "tf_keras",
    )


def of_keys(**tensors):
    """By the keys of a dictionary: `a` and `b` may come in any order."""
    return dict(sorted(tensors.items()))


NESTED = {
    "a tuple for a list": (lambda a, b: [a, b], lambda a, b: (a, b), ()),
    "a dictionary": (lambda a, b: {"b": b, "a": a}, of_keys, ()),
    "nested": (lambda a, b: [b, {"a": a}], lambda a, b: [b, {"a": a}], ()),
    "a tuple for a nested list": (lambda a, b: [b, {"a": a}], lambda a, b: (b, {"a": a}), ["keras"]),
    "a list for a dictionary": (lambda a, b: {"b": b, "a": a}, lambda a, b: [a, b], ["tf_keras"]),
    "an ordered dictionary": (
        lambda a, b: collections.OrderedDict(b=b, a=a),
        lambda a, b: collections.OrderedDict(a=a, b=b),
        ["keras"],
    ),
}
for name, (own, nest, generations) in NESTED.items():
    asked(
        "two inputs: " + name,
        lambda own=own: subtracting(own),
        lambda nest=nest: {"input_tensors": nest(a=given(3, "c"), b=given(2, "d"))},
        lambda own=own: subtracting(own, "cd"),
        *generations,
    )


# What cannot be done


class Both(layers.Layer):
    def call(self, x):
        return x, 2 * x


def used_by_an_operation():
    x = given(name="x")
    layer = layers.Dense(2, name="dense")
    y = layer(x)
    return keras.Model(x, ops.matmul(x, layer.kernel) + y)


def input_twice():
    x = given(name="x")
    return keras.Model([x, x], layers.Dense(2)(x), name="model")


def functions(clone=None, call=None):
    arguments = {"clone_function": clone, "call_function": call}
    return lambda: {key: value for key, value in arguments.items() if value is not None}


def tensors(make):
    return lambda: {"input_tensors": make()}


def two():
    return [given(), given(name="more")]


def an_array():
    return np.ones((1, 3), "float32")


def embedded_steps():
    return layers.Embedding(9, 3, mask_zero=True)(keras.Input((5,), dtype="int32"))


IN_KERAS = {
    "an argument that there is not": (single, lambda: {"surprise": 1}, "Unexpected keyword argument"),
    "an array": (single, tensors(an_array), "must be KerasTensors"),
    "other nests": (single, tensors(two), "same structure as model.input"),
    "other keys": (subtracting, tensors(dict), "same structure"),
    "a call function of a Sequential": (keras.Sequential, functions(call=print), "is not supported with Sequential"),
    "two tensors for a Sequential": (keras.Sequential, tensors(two), "a single tensor"),
    "an array for a Sequential": (keras.Sequential, tensors(an_array), "must be a KerasTensor"),
    "a layer with a function": (lambda: layers.Dense(2), functions(remade), "only supported for Sequential"),
    "a layer with a call function": (lambda: layers.Dense(2), functions(call=print), "only supported"),
    "a call function that is none": (single, functions(call=0), "`call_function` argument to be a callable"),
    "a function that gives a function": (single, functions(lambda _: ops.relu), "the layer to use in its place"),
    "two outputs for one": (single, functions(lambda _: Both()), "gave 2 tensors for the call of 'dense'"),
    "no outputs": (single, functions(call=lambda *_, **__: None), "`call_function` gave None for the call of"),
    "a layer that takes no such argument": (
        with_a_mask_given,
        replaced(layers.LSTM, lambda: layers.Dense(2)),
        "call of 'lstm' cannot be made on .*Dense.*mask",
    ),
    "a layer whose variable is used": (
        used_by_an_operation,
        replaced(layers.Dense, lambda: layers.Lambda(lambda t: t[:, :2])),
        "takes the variable '.*' of the layer 'dense'",
    ),
    "two tensors for one that is listed twice": (input_twice, tensors(two), "the tensor 'x' for several of its inputs"),
    "a tensor without a history": (
        single,
        tensors(lambda: keras.KerasTensor((None, 3))),
        "by no `Input` and by no layer",
    ),
    "a mask from outside": (
        lambda: masked(lstm(), layers.Activation("tanh")),
        tensors(embedded_steps),
        "has a mask, which is none of the inputs",
    ),
}
IN_TF_KERAS = {
    "too few tensors": (subtracting, tensors(lambda: [given()]), "one for each input of model 'model'"),
    "too many tensors": (single, tensors(two), "one for each input of model"),
    "an array": (single, tensors(an_array), "must be tensors or InputLayers"),
    "a dictionary for a list": (
        subtracting,
        tensors(lambda: {"a": given(), "b": given(2, "d")}),
        "nested as these are",
    ),
    "an array for a Sequential": (sequential, tensors(lambda: [an_array()]), "must be tensors or InputLayers"),
    "two tensors for a Sequential": (sequential, tensors(two), ""),
    "a tensor of a layer for a Sequential": (sequential, tensors(lambda: layers.Dense(3)(given())), ""),
    "a layer with a function": (lambda: layers.Dense(2), functions(remade), ""),
    "two outputs for one": (single, functions(lambda _: Both()), "must keep their number"),
}
IN_BOTH = {
    "no callable": (single, functions(3), "to be a callable"),
    "no callable for a Sequential": (sequential, functions(3), "to be a callable"),
    "a function that gives none": (single, functions(lambda _: None), "gave None for the layer 'dense'"),
    "a function that gives a class": (single, functions(type), "the layer to use in its place"),
    "a function that gives an input layer": (single, functions(lambda _: layers.InputLayer((3,))), "no InputLayer"),
}
for table in (IN_BOTH, IN_KERAS if GENERATION == "keras" else IN_TF_KERAS):
    MISUSED.update((name, Misused(*case)) for name, case in table.items())
