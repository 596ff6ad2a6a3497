"""Arguments of `clone_model` with expected models, built by hand, and arguments that it refuses."""

from __future__ import annotations

import collections

import keras
import tensorflow as tf
from keras import layers

from . import EXPECTATIONS, GENERATION, REFUSALS, model_with

Expectation = collections.namedtuple("Expectation", "build arguments by_hand")
"""A model from `build`, cloned with `arguments`, must equal the model from `by_hand`."""
Refusal = collections.namedtuple("Refusal", "build arguments message")
"""`clone_model` refuses `arguments` for a model from `build` with an error that matches `message`."""


def expect(name, build, arguments, by_hand, *generations):
    if not generations or GENERATION in generations:
        EXPECTATIONS[name] = Expectation(build, arguments, by_hand)


def remake(layer):
    return layer.__class__.from_config(layer.get_config())


def with_config(kind, **options):
    """Return a `clone_function`, as an argument, that changes the configs of all layers of a class."""

    def function(layer):
        return type(layer).from_config(dict(layer.get_config(), **(options if isinstance(layer, kind) else {})))

    return lambda: {"clone_function": function}


def with_functions(clone=None, call=None):
    """Return `clone_function` and `call_function` as arguments, without those that are None."""
    arguments = {"clone_function": clone, "call_function": call}
    return lambda: {key: value for key, value in arguments.items() if value is not None}


def with_tensors(make):
    return lambda: {"input_tensors": make()}


def with_replacement(kind, new):
    return lambda: {"clone_function": lambda layer: new() if isinstance(layer, kind) else remake(layer)}


# A layer is replaced


def ids(name="x"):
    return keras.Input((5,), name=name, dtype="int32")


def embedding(mask):
    return layers.Embedding(9, 3, mask_zero=mask, name="embedding")


def lstm(**options):
    return layers.LSTM(2, name="lstm", **options)


def embedding_model(mask=True, after=None):
    x = ids()
    y = embedding(mask)(x)
    return keras.Model(x, lstm()(after(y) if after else y), name="model")


def attention_model(mask=True):
    x = ids()
    y = layers.Activation("tanh", name="tanh")(embedding(mask)(x))
    z = layers.GlobalAveragePooling1D(name="mean")(layers.Attention(name="attention")([y, y]))
    return keras.Model(x, z, name="model")


def model_with_mask_input(mask=True):
    x, mask_input = ids(), keras.Input((5,), name="given", dtype="bool")
    steps = layers.GRU(3, return_sequences=True, name="gru")(embedding(mask)(x), mask=mask_input)  # keeps this mask
    halves = layers.GRU(3, return_sequences=True, dtype="mixed_bfloat16", name="halves")(steps, mask=mask_input)
    return keras.Model([x, mask_input], lstm()(halves, mask=mask_input), name="model")


def model_with_training_argument():
    x = keras.Input((1, 1), name="x")
    boxes = layers.MaxNumBoundingBoxes(max_number=2, dtype="float16", name="boxes")
    return keras.Model(x, boxes(x, training=True), name="model")


def nested(mask=True):
    i, x = ids("i"), ids()
    inner = keras.Model(i, lstm()(embedding(mask)(i)), name="inner")
    return keras.Model(x, dense()(inner(x)), name="model")


def masked(layer, masking=None):
    x = keras.Input((5, 3), name="x")
    return keras.Model(x, layer((masking or layers.Masking(name="masking"))(x)), name="model")


def dense():
    return layers.Dense(2, name="dense")


def sequences():
    return lstm(return_sequences=True)


def no_masking():
    return layers.Activation("tanh", name="masking")


def plain():
    return layers.Dense(2, name="lstm")


MASK_OFF, MASK_ON = with_config(layers.Embedding, mask_zero=False), with_config(layers.Embedding, mask_zero=True)
NO_MASKING = with_replacement(layers.Masking, no_masking)
expect("a layer without its mask", attention_model, MASK_OFF, lambda: attention_model(False))
expect("a layer with a mask", lambda: attention_model(False), MASK_ON, attention_model)
expect("a mask that is given", model_with_mask_input, MASK_OFF, lambda: model_with_mask_input(False))
expect("a layer in a nested model", nested, lambda: {**MASK_OFF(), "recursive": True}, lambda: nested(False))
expect("no masking", lambda: masked(lstm()), NO_MASKING, lambda: masked(lstm(), no_masking()))
expect("no mask", lambda: masked(sequences()), with_replacement(layers.LSTM, plain), lambda: masked(plain()))
expect("a new mask", lambda: masked(plain()), with_replacement(layers.Dense, sequences), lambda: masked(sequences()))


# Tensors are given


def new_input(width=3, name="given", **options):
    return keras.Input((width,), name=name, **options)


def dense_model(x=None, layer=None):
    x = new_input(name="x") if x is None else x
    return keras.Model(x, (layer or dense())(x), name="model")


def edited_model(name="units", value=7, **options):
    """Return a model in which a setting of a layer does not fit the layer's weights."""
    layer = layers.Dense(2, name="dense", **options)
    model = dense_model(layer=layer)
    setattr(layer, name, value)
    return model


def subtract(nest=lambda a, b: [a, b], names="ab", widths=(3, 2)):
    a, b = (new_input(width, name) for width, name in zip(widths, names, strict=True))
    branches = [layers.Dense(2, name="on_a")(a), layers.Dense(2, name="on_b")(b)]
    return keras.Model(nest(a, b), layers.Subtract(name="last")(branches), name="model")


def sequential(width=3, name="x"):
    return keras.Sequential([layers.InputLayer((width,), name=name), dense()], name="model")


def masked_sequential(name="x"):
    inputs = keras.Input((4, 3), name=name)
    return keras.Sequential([inputs, layers.Masking(), lstm(return_sequences=True), dense()], name="model")


def with_input(nest=lambda x: x, width=3, **options):
    return lambda: {"input_tensors": nest(new_input(width, **options))}


def in_a_list(x):
    return [x]


expect("a tensor as input", dense_model, with_input(), lambda: dense_model(new_input()))
expect("a list as input of a Sequential", sequential, with_input(in_a_list), lambda: sequential(name="given"))
expect("a tuple for a tensor", dense_model, with_input(lambda x: (x,)), lambda: dense_model(new_input()), "keras")
expect("an input of another width", dense_model, with_input(in_a_list, 7), lambda: dense_model(new_input(7)))
expect("a Sequential on another width", sequential, with_input(in_a_list, 7), lambda: sequential(7, "given"))
expect("no input", lambda: keras.Sequential([dense()], name="model"), with_input(), lambda: sequential(name="given"))
NESTED = {
    "a tuple for a list": (lambda a, b: [a, b], lambda a, b: (a, b), ()),
    "a dictionary": (lambda a, b: {"b": b, "a": a}, lambda a, b: {"a": a, "b": b}, ()),
    "a dictionary by name": (lambda a, b: [a, b], lambda a, b: {"b": b, "a": a}, ()),
    "a list for a dictionary": (lambda a, b: {"b": b, "a": a}, lambda a, b: [a, b], ["tf_keras"]),
}
for name, (model_nest, nest, generations) in NESTED.items():
    expect(
        "two inputs: " + name,
        lambda model_nest=model_nest: subtract(model_nest),
        lambda nest=nest: {"input_tensors": nest(a=new_input(3, "c"), b=new_input(2, "d"))},
        lambda model_nest=model_nest: subtract(model_nest, "cd"),
        *generations,
    )


def an_input_layer():
    return {"input_tensors": [layers.InputLayer((3,), name="given")]}


def network():
    return keras.Sequential([new_input(name="inside"), layers.Dense(2, name="inner")], name="network")


def model_with_network():
    x = new_input(name="x")
    return keras.Model(x, network()(x), name="model")


def stateful(batch=2, lasts=True):
    x = keras.Input(batch_shape=(batch, 4, 3), name="x")
    return keras.Model(x, lstm(stateful=lasts)(x), name="model")


def batches_of_one():
    return {**with_config(layers.LSTM, stateful=True)(), "input_tensors": keras.Input(batch_shape=(1, 4, 3), name="x")}


OTHER_STEPS = with_tensors(lambda: keras.Input((4, 3), name="given"))
expect("masks of a Sequential", masked_sequential, OTHER_STEPS, lambda: masked_sequential("given"))
expect("an InputLayer as input", dense_model, an_input_layer, lambda: dense_model(new_input()))
expect("a model in the place of a layer", dense_model, with_replacement(layers.Dense, network), model_with_network)
expect("edited units", edited_model, with_functions(remake), lambda: dense_model(layer=layers.Dense(7, name="dense")))
expect("edited units with the old weights", edited_model, lambda: {"weights": True}, edited_model)
expect("a stateful layer on another batch", lambda: stateful(2, False), batches_of_one, lambda: stateful(1))


# Refusals


class TwoOutputs(layers.Layer):
    def call(self, x):
        return x, 2 * x


class NoCopy:
    def __deepcopy__(self, memo):
        raise TypeError("there is only one")

    __copy__ = __reduce_ex__ = __deepcopy__


def hold(make):
    """Return a builder of a model; `make` creates an object that a layer of it holds."""

    def build():
        layer = dense()
        layer.held = make()
        return model_with(layer)

    return build


def model_using_outer_layer():
    used = layers.Dense(3, name="around")

    class Caller(layers.Layer):
        def call(self, x):
            return used(x)

    return model_with(lambda x: Caller()(used(x)))


def with_weights(arguments):
    return lambda: {**arguments(), "weights": True}


def embedded_steps():
    return embedding(True)(ids())


def tanh_masked():
    return masked(lstm(), layers.Activation("tanh"))


KERAS_REFUSALS = {
    "an argument that there is not": (dense_model, lambda: {"surprise": 1}, "Unexpected keyword argument"),
    "a call function of a Sequential": (keras.Sequential, with_functions(call=print), "not supported with Sequential"),
    "a layer with a function": (dense, with_functions(remake), "only supported for Sequential"),
    "no outputs": (dense_model, with_functions(call=lambda *_, **__: None), "`call_function` returned .*None"),
    "a free variable": (lambda: model_with(lambda x: x * keras.Variable(1.0)), with_functions(remake), "the variable"),
    "a tensor without a history": (dense_model, with_tensors(lambda: keras.KerasTensor((None, 3))), "an `Input`"),
    "a mask from outside": (tanh_masked, with_tensors(embedded_steps), "not connected"),
    "an iterator": (hold(lambda: iter(tf.data.Dataset.range(3))), dict, "`held` of 'dense' holds.*Iterator"),
}
TF_KERAS_REFUSALS = {
    "too few tensors": (subtract, with_tensors(lambda: [new_input()]), "`input_tensors`.* of model 'model'"),
    "a dictionary": (subtract, with_tensors(lambda: {"a": new_input(), "c": new_input(2, "d")}), "same structure"),
    "a layer with a function": (dense, with_functions(remake), "Functional|Sequential"),
    "a call function": (dense_model, with_functions(call=print), "argument of Keras 3"),
}
COMMON_REFUSALS = {
    "two outputs for one": (dense_model, with_functions(lambda _: TwoOutputs()), "returned 2 outputs.*call of 'dense'"),
    "no callable": (dense_model, with_functions(3), "to be a callable"),
    "a function that gives none": (dense_model, with_functions(lambda _: None), "returned None for the layer 'dense'"),
    "a function that gives an input layer": (
        dense_model,
        with_functions(lambda _: layers.InputLayer((3,))),
        "an InputLayer cannot",
    ),
    "a text": (lambda: "model", dict, "model"),
    "nothing": (lambda: None, dict, "model"),
    "a class": (lambda: layers.Dense, dict, "model"),
    "an object that cannot be copied": (hold(NoCopy), dict, "`held` of 'dense' holds.*NoCopy.*there is only one"),
    "the same in a dictionary": (hold(lambda: {"a": NoCopy()}), dict, "the model .* holds.*NoCopy.*there is only one"),
    "a layer outside a class": (model_using_outer_layer, dict, "Caller.call` uses the layer 'around'.*attribute"),
    "edited units": (edited_model, dict, r"'dense' was built before its settings.*7,?\).*clone_function"),
    "edited bias": (lambda: edited_model("use_bias", True, use_bias=False), dict, "'dense'.*has none.*clone_function"),
    "weights of another layer": (
        *(dense_model, with_weights(with_functions(lambda _: layers.Dense(7)))),
        r"'dense' \(\(3, 2\), \(2,\), now \(3, 7\), \(7,\)\)",
    ),
    "weights on another width": (dense_model, with_weights(with_input(width=7)), "'dense'"),
}
for table in (COMMON_REFUSALS, KERAS_REFUSALS if GENERATION == "keras" else TF_KERAS_REFUSALS):
    REFUSALS.update((name, Refusal(*case)) for name, case in table.items())
