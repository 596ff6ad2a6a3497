"""Models, what `clone_model` is given beside them, and the models that are asked for, built by hand."""

from __future__ import annotations

import collections

import keras
import numpy as np
from keras import layers

from . import ASKED, GENERATION, MISUSED, ops


class Asked:
    """The clone of what `build` makes, with these arguments, is to be what `by_hand` makes."""

    def __init__(self, build, arguments, by_hand, inputs):
        self.build = build
        self.arguments = arguments
        self.by_hand = by_hand
        self.inputs = inputs


class Misused:
    """The fixed cloner refuses these arguments with a message that has these words."""

    def __init__(self, build, arguments, message):
        self.build = build
        self.arguments = arguments
        self.message = message


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


def embedded(mask=True, after=None):
    x = keras.Input((5,), name="x", dtype="int32")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x)
    return keras.Model(x, layers.LSTM(2, name="lstm")(after(y) if after else y), name="model")


def masked(layer, masking=None):
    x = keras.Input((5, 3), name="x")
    return keras.Model(x, layer((masking or layers.Masking(name="masking"))(x)), name="model")


def averaged(mask=True):
    x = keras.Input((5,), name="x", dtype="int32")
    y = layers.Activation("tanh", name="tanh")(layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x))
    return keras.Model(x, layers.GlobalAveragePooling1D(name="mean")(y), name="model")


def attending(mask=True):
    x = keras.Input((5,), name="x", dtype="int32")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x)
    return keras.Model(x, layers.Attention(name="attention")([y, y]), name="model")


def with_a_mask_given(mask=True):
    x, given = keras.Input((5,), name="x", dtype="int32"), keras.Input((5,), name="given", dtype="bool")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x)
    return keras.Model([x, given], layers.LSTM(2, name="lstm")(y, mask=given), name="model")


def nested(mask=True):
    i = keras.Input((5,), name="i", dtype="int32")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(i)
    inner = keras.Model(i, layers.LSTM(2, name="lstm")(y), name="inner")
    x = keras.Input((5,), name="x", dtype="int32")
    return keras.Model(x, layers.Dense(2, name="dense")(inner(x)), name="model")


class Quiet(layers.Layer):
    def call(self, x, training=False):
        return x


class Noisy(layers.Layer):
    def call(self, x, training=True):
        return x + 1.0 if training else x


def through(layer):
    x = keras.Input((3,), name="x")
    return keras.Model(x, layers.Dense(3, name="last")(layer(x)), name="model")


def in_a_sequential(layer):
    body = [layers.InputLayer((5, 3), name="x"), layers.Dense(2, name="dense"), layer]
    return keras.Sequential(body, name="model")


def lstm(**options):
    return layers.LSTM(2, name="lstm", **options)


def both():
    return layers.Bidirectional(lstm(), name="both")


MASK_OFF, MASK_ON = changed(layers.Embedding, mask_zero=False), changed(layers.Embedding, mask_zero=True)
asked("a layer without its mask", embedded, MASK_OFF, lambda: embedded(False))
asked("a layer with a mask", lambda: embedded(False), MASK_ON, embedded)
asked("a layer without its mask, further on", averaged, MASK_OFF, lambda: averaged(False))
asked("a layer with a mask, in a list", lambda: attending(False), MASK_ON, attending)
asked("a mask that is given", with_a_mask_given, MASK_OFF, lambda: with_a_mask_given(False))
asked(
    "a layer in a nested model",
    nested,
    lambda: dict(MASK_OFF(), recursive=True),
    lambda: nested(False),
    "keras",
)


def chain_in_a_chain():
    """Which the one around it builds, so that its name is in the paths of the weights."""
    inner = keras.Sequential([layers.Dense(2, name="dense")], name="inner")
    return keras.Sequential([layers.InputLayer((3,), name="x"), inner, layers.Dense(1, name="last")], name="model")


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
    replaced(layers.Masking, lambda: layers.Activation("tanh", name="masking")),
    lambda: masked(lstm(), layers.Activation("tanh", name="masking")),
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


def dense(name="layer"):
    return layers.Dense(3, name=name)


def functional():
    x = keras.Input((3,), name="inner_x")
    return keras.Model(x, dense("inner")(x), name="layer")


def chain():
    return keras.Sequential([layers.InputLayer((3,), name="inner_x"), dense("inner")], name="layer")


def waiting_chain():
    return keras.Sequential([dense("inner")], name="layer")


def by_name(new):
    return lambda: {"clone_function": lambda layer: new() if layer.name == "layer" else remade(layer)}


for old in (dense, functional, chain, waiting_chain):
    for new in (dense, functional, chain, waiting_chain):
        name = f"{new.__name__} for {old.__name__}"
        asked(name, lambda old=old: through(old()), by_name(new), lambda new=new: through(new()), "tf_keras")


# Tensors are given


def given(width=3, name="given", **options):
    return keras.Input((width,), name=name, **options)


def single(x=None):
    x = given(name="x") if x is None else x
    return keras.Model(x, layers.Dense(2, name="dense")(x), name="model")


def subtracting(nest=lambda a, b: [a, b], names="ab", widths=(3, 2)):
    a, b = (given(width, name) for width, name in zip(widths, names))  # noqa: B905
    on = [layers.Dense(2, name="on_a")(a), layers.Dense(2, name="on_b")(b)]
    return keras.Model(nest(a, b), layers.Subtract(name="last")(on), name="model")


def sequential(width=3, name="x"):
    return keras.Sequential([layers.InputLayer((width,), name=name), layers.Dense(2, name="dense")], name="model")


def one(nest=lambda x: x, width=3):
    return lambda: {"input_tensors": nest(given(width))}


def input_layer(tensor):
    return tensor._keras_history[0]


ONE_FOR_ONE = {
    "a tensor": one(),
    "a list": one(lambda x: [x]),
    "an input layer": one(input_layer),
}
for name, arguments in ONE_FOR_ONE.items():
    asked(name + " as input", single, arguments, lambda: single(given()))
    if name != "an input layer":
        asked(name + " as input of a Sequential", sequential, arguments, lambda: sequential(name="given"))
for name, nest in (("a tensor", lambda x: x), ("a list", lambda x: [x]), ("a tuple", lambda x: (x,))):
    for theirs, own in (("a tensor", lambda x: x), ("a list", lambda x: [x])):
        asked(
            f"{name} where there is {theirs}",
            lambda own=own: listed(own, given(name="x")),
            one(nest),
            lambda own=own: listed(own, given()),
            "keras",
        )


def listed(own, x):
    return keras.Model(own(x), layers.Dense(2, name="dense")(x), name="model")


asked("an input of another width", single, one(lambda x: [x], 7), lambda: single(given(7)))
asked("a Sequential on another width", sequential, one(lambda x: [x], 7), lambda: sequential(7, "given"))
asked(
    "a Sequential that has no input",
    lambda: keras.Sequential([layers.Dense(2, name="dense")], name="model"),
    one(),
    lambda: sequential(name="given"),
)
asked(
    "a nested model that waits for its input",
    lambda: through(waiting_chain()),
    one(width=7),
    lambda: keras.Model(*(lambda x: (x, dense("last")(waiting_chain()(x))))(given(7)), name="model"),
    "tf_keras",
)


def of_keys(**tensors):
    """By the keys of a dictionary: `a` and `b` may come in any order."""
    return dict(sorted(tensors.items()))


NESTED = {
    "a list": (lambda a, b: [a, b], lambda a, b: [a, b], ()),
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
for name, (own, nest, of) in NESTED.items():
    asked(
        "two inputs: " + name,
        lambda own=own: subtracting(own),
        lambda nest=nest: {"input_tensors": nest(a=given(3, "c"), b=given(2, "d"))},
        lambda own=own: subtracting(own, "cd"),
        *of,
    )

NUMBERS_FIRST = {
    "divided": lambda x: 3 / x,
    "less": lambda x: 2.5 - x,
    "times": lambda x: 2 * x,
    "power": lambda x: 2.0**x,
    "whole": lambda x: 7 // x,
}


def operated(does, x):
    return keras.Model(x, does(x), name="model")


for name, does in NUMBERS_FIRST.items():
    for old in ("float16", "float32", "float64"):
        for new in ("float16", "float32", "float64"):
            asked(
                f"a number before an operator: {name}, {new} for {old}",
                lambda does=does, old=old: operated(does, given(name="x", dtype=old)),
                lambda new=new: {"input_tensors": [given(dtype=new)]},
                lambda does=does, new=new: operated(does, given(dtype=new)),
                "tf_keras",
            )


# What cannot be done


class Both(layers.Layer):
    def call(self, x):
        return x, 2 * x


def used_by_an_operation():
    x = keras.Input((3,))
    layer = layers.Dense(2, name="dense")
    y = layer(x)
    return keras.Model(x, ops.matmul(x, layer.kernel) + y)


def input_twice():
    x = keras.Input((3,), name="x")
    return keras.Model([x, x], layers.Dense(2)(x), name="model")


def functions(clone=None, call=None):
    found = {"clone_function": clone, "call_function": call}
    return lambda: {key: value for key, value in found.items() if value is not None}


def tensors(make):
    return lambda: {"input_tensors": make()}


def an_array():
    return np.ones((1, 3), "float32")


def made_by_a_layer():
    return layers.Dense(3)(given())


IN_KERAS = {
    "an argument that there is not": (single, lambda: {"surprise": 1}, "Unexpected keyword argument"),
    "an array": (single, tensors(an_array), "must be KerasTensors"),
    "other nests": (single, tensors(lambda: [given(), given(name="more")]), "same structure as model.input"),
    "other keys": (subtracting, tensors(dict), "same structure"),
    "a call function of a Sequential": (keras.Sequential, functions(call=print), "is not supported with Sequential"),
    "two tensors for a Sequential": (
        keras.Sequential,
        tensors(lambda: [given(), given(name="more")]),
        "a single tensor",
    ),
    "an array for a Sequential": (keras.Sequential, tensors(an_array), "must be a KerasTensor"),
    "a layer with a function": (lambda: layers.Dense(2), functions(remade), "only supported for Sequential"),
    "a layer with a call function": (lambda: layers.Dense(2), functions(call=print), "only supported"),
    "a call function that is none": (single, functions(call=0), "`call_function` argument to be a callable"),
    "a function that gives a function": (single, functions(lambda _: ops.relu), "the layer to use in its place"),
    "a function that gives an input layer in a Sequential": (
        lambda: keras.Sequential([layers.Dense(2), layers.Dense(3)]),
        functions(lambda _: layers.InputLayer((3,))),
        "no InputLayer",
    ),
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
    "two tensors for one that is listed twice": (
        input_twice,
        tensors(lambda: [given(), given(name="more")]),
        "the tensor 'x' for several of its inputs",
    ),
    "a tensor without a history": (
        single,
        tensors(lambda: keras.KerasTensor((None, 3))),
        "by no `Input` and by no layer",
    ),
    "a mask from outside": (
        lambda: masked(lstm(), layers.Activation("tanh")),
        tensors(lambda: layers.Embedding(9, 3, mask_zero=True)(keras.Input((5,), dtype="int32"))),
        "has a mask, which is none of the inputs",
    ),
}
OF_BEFORE = {
    "too few tensors": (subtracting, tensors(lambda: [given()]), "one for each input of model"),
    "too many tensors": (single, tensors(lambda: [given(), given(name="more")]), "one for each input of model"),
    "an array": (single, tensors(an_array), "must be tensors or InputLayers"),
}
IN_TF_KERAS = {
    "no tensors": (subtracting, tensors(list), "one for each input of model 'model'"),
    "a dictionary for a list": (
        subtracting,
        lambda: {"input_tensors": {"a": given(), "b": given(2, "d")}},
        "nested as these are",
    ),
    "an array for a Sequential": (sequential, tensors(lambda: [an_array()]), "must be tensors or InputLayers"),
    "a string": (single, tensors(lambda: "x"), "must be tensors or InputLayers"),
    "two tensors for a Sequential": (sequential, tensors(lambda: [given(), given(name="more")]), ""),
    "a tensor of a layer for a Sequential": (sequential, tensors(made_by_a_layer), ""),
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
for table in (IN_BOTH, *([IN_KERAS] if GENERATION == "keras" else [OF_BEFORE, IN_TF_KERAS])):
    MISUSED.update((name, Misused(*case)) for name, case in table.items())
