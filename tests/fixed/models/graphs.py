"""Structures of graphs: ends, shared layers, nested models, Sequentials, arguments of calls, masks, states."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers

from . import around, frozen, model, ops


@model(again=True)
def a_layer_shared_at_several_depths(z, x):
    shared, between = layers.Dense(3), layers.Dense(3, activation="relu")
    late = shared(between(shared(between(shared(x)))))
    return [shared(z), shared(x), late]


@model()
def calls_outside_of_the_model(x):
    shared, other = layers.Dense(3), keras.Input((3,))
    shared(other)
    y = shared(x)
    shared(shared(other))
    return [shared(y), y]


@model(shapes=[(1,)])
def a_lambda_of_two_outputs(x):
    a, b = layers.Lambda(lambda x: [x, x])(x)
    return layers.Add()([a, b])


@model(shapes=[(3,), (2,)])
def an_unused_input_and_an_output_listed_twice(x, unused):
    y = layers.Dense(2)(x)
    return {"a": y, "b": [y, x, y]}


@model()
def nothing_but_an_input(x):
    return x


@model(again=True)
def ends_in_dictionaries_in_their_own_order():
    b, a = keras.Input((3,), name="b"), keras.Input((3,), name="a")
    return keras.Model({"b": b, "a": a}, {"z": b - a, "y": layers.Dense(2)(b), "x": (a, [b])})


@model()
def ends_in_tuples():
    x, y = keras.Input((3,)), keras.Input((3,))
    return keras.Model((x, (y,)), (x + y, (layers.Dense(2)(x),)))


@model(again=True)
def a_model_from_the_middle_of_a_graph():
    x = keras.Input((3,))
    middle = layers.Dense(5, activation="relu")(x)
    y = layers.Dense(2)(layers.Dense(3)(middle))
    keras.Model(x, y)
    return keras.Model(middle, y)


@model()
def two_halves_of_a_graph(z):
    x = keras.Input((3,))
    h = layers.Dense(3, name="h")(x)
    first, second = keras.Model(x, h), keras.Model(h, layers.Dense(3, name="y")(h))
    return second(first(z))


@model()
def a_hundred_layers_in_a_row(x):
    for _ in range(100):
        x = layers.ReLU()(x)
    return x


@model()
def thirty_models_deep():
    inner = around(layers.Dense(3))
    for _ in range(30):
        x = keras.Input((3,))
        inner = keras.Model(x, inner(x) + x)
    return inner


@model()
def a_layer_shared_with_nested_models(x):
    shared = layers.Dense(3, name="shared")
    one = around(shared)
    j = keras.Input((3,))
    two = keras.Model(j, one(shared(j)), name="two")
    return layers.Add()([two(x), one(shared(x)), two(one(x))])


@model()
def a_layer_shared_with_a_sequential_and_a_wrapper(x):
    shared = layers.Dense(3)
    body = keras.Sequential([layers.InputLayer((3,)), shared, layers.ReLU()])
    return layers.TimeDistributed(shared)(layers.RepeatVector(2)(shared(body(shared(x)))))


@model(shapes=[(4, 3), (3,)])
def a_model_in_a_wrapper_and_outside(x, z):
    shared = layers.Dense(3, name="shared")
    inner = around(shared)
    return [layers.TimeDistributed(inner)(x), inner(z), shared(z)]


@model(shapes=[(4, 3)])
def a_sequential_that_is_built_late_in_a_wrapper(x):
    late = keras.Sequential([layers.Dense(2), layers.Dense(1)], name="late")
    return layers.TimeDistributed(late)(x)


@model()
def a_sequential_and_its_inside(x):
    body = keras.Sequential([layers.InputLayer((3,)), layers.Dense(3, name="d"), layers.ReLU(name="r")])
    y = body(x)
    return [y, keras.Model(body.inputs, body.layers[0].output, name="part")(y), body.layers[0](x)]


@model()
def a_sequential_that_is_built_by_a_call():
    body = keras.Sequential([layers.Dense(3), layers.BatchNormalization(), keras.Sequential([layers.Dense(2)])])
    body(np.ones((2, 3), "float32"))
    return body


@model("tf_keras")
def a_sequential_with_a_layer_twice():
    twice = layers.Dense(3, input_shape=(3,))
    return keras.Sequential([twice, layers.ReLU(), twice])


@model()
def a_sequential_of_models():
    inner = keras.Sequential([layers.Dense(3, input_shape=(3,)), layers.Lambda(lambda x: x * 2.0)])
    return keras.Sequential([inner, around(layers.Dense(3)), layers.ReLU()])


@model(inputs=False)
def a_sequential_that_is_not_built():
    return keras.Sequential([layers.Dense(3), layers.Lambda(lambda x: x), layers.Dense(2)], name="later")


@model()
def inputs_of_several_dtypes():
    x, ids = keras.Input(batch_shape=(2, 3), name="fixed"), keras.Input((3,), dtype="int32", name="whole")
    return keras.Model([x, ids], [layers.Dense(2)(x), layers.Embedding(4, 3)(ids)])


@model()
def a_layer_in_an_attribute_that_is_not_called():
    spare = around(layers.Dense(3))
    spare.spare = layers.Dense(2)
    spare.spare.build((None, 3))
    return spare


# Frozen parts


def nested():
    i = keras.Input((3,))
    inner = keras.Model(i, layers.BatchNormalization()(layers.Dense(3)(i)), name="inner")
    body = keras.Sequential([layers.InputLayer((3,)), layers.Dense(3), layers.Dense(3)], name="body")
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2, name="last")(body(inner(x))))


@model()
def parts_of_nested_models_frozen():
    it = nested()
    it.get_layer("inner").layers[1].trainable = False
    it.get_layer("body").layers[-1].trainable = False
    return it


@model()
def only_the_flag_of_the_model_frozen():
    it = frozen(nested())
    for layer in it.layers:
        layer.trainable = True
    return it


@model("keras")
def one_variable_frozen():
    it = nested()
    it.get_layer("last").bias.trainable = False
    return it


@model(shapes=[(4, 3)])
def a_direction_frozen_after_its_call(x):
    layer = layers.Bidirectional(layers.SimpleRNN(2))
    y = layer(x)
    frozen(layer, "forward_layer")
    return y


# Arguments of calls


class Mixer(layers.Layer):
    """Computes something else for lists, tuples and dictionaries."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._allow_non_tensor_positional_args = True

    def call(self, x, extra=None, factor=1.0, *, option=None):
        kinds = {list: 2.0, tuple: 3.0, dict: 5.0}
        total = x[0] * kinds[type(x)] if isinstance(x, (list, tuple)) else x
        more = extra.values() if isinstance(extra, dict) else extra if isinstance(extra, (list, tuple)) else [extra]
        for term in more:
            total = total if term is None else total + term
        return total * factor * kinds.get(type(extra), 1.0) * kinds.get(type(option), 7.0)

    def compute_output_shape(self, x_shape, extra_shape=None):
        return x_shape[0] if isinstance(x_shape, list) else x_shape


@model()
def calls_with_arguments_of_every_form(x):
    layer, array = Mixer(), np.ones((1, 3), "float32")
    first = [layer(x, None), layer(x, x), layer(x, factor=2), layer(x, factor=np.float32(3)), layer(x, factor=x)]
    second = [layer(x, extra=(x, x)), layer(x, extra=[x, x]), layer(x, extra={"b": x, "a": x * 2.0})]
    third = [layer(x, option=(1, 2)), layer(x, option=[1, 2]), layer(x, option={"b": 1, "a": 2}), layer(x, array)]
    return [*first, *second, *third, layer([x, x]), layer([x]), layer((x,))]


@model(shapes=[(40,)])
def training_given(x):
    y = layers.BatchNormalization()(layers.Dropout(0.5, seed=3)(x, training=True), training=False)
    return [y, layers.GaussianNoise(1.0)(x, training=False)]


@model(shapes=[(4, 3)])
def masks_given_and_not_given(x):
    flags = layers.Lambda(lambda x: x[:, :, 0] > 0.0)(x)
    masked = layers.Masking()(x)
    return [layers.SimpleRNN(2)(masked, mask=flags), layers.SimpleRNN(2)(masked, mask=None)]


@model(again=True)
def masks_along_several_ways():
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(7, 4, mask_zero=True)(x)
    left = layers.SimpleRNN(2, return_sequences=True)(layers.Dropout(0.2, seed=1)(y))
    right = layers.TimeDistributed(layers.Dense(2))(y)
    both = layers.Concatenate()([left, right])
    return keras.Model(x, [layers.Bidirectional(layers.SimpleRNN(2))(both), layers.GlobalAveragePooling1D()(left), y])


@model(shapes=[(4, 3)])
def masks_of_nested_models(x):
    i = keras.Input((4, 3))
    inner = keras.Model(i, layers.TimeDistributed(layers.Dense(3))(layers.Masking()(i)))
    body = keras.Sequential([layers.InputLayer((4, 3)), layers.Masking(), layers.SimpleRNN(2, return_sequences=True)])
    return [layers.SimpleRNN(2)(inner(x)), layers.SimpleRNN(2)(body(layers.Masking()(x)))]


@model(shapes=[(4, 3), (2,), (2,)])
def states_given(x, a, b):
    y, h, c = layers.LSTM(2, return_sequences=True, return_state=True)(x, initial_state=[a, b])
    z = layers.Bidirectional(layers.LSTM(2))(y, initial_state=[h, c, a, b])
    return [z, h, c]


@model()
def states_that_last():
    x = keras.Input(batch_shape=(2, 4, 3))
    y = layers.GRU(2, stateful=True, return_sequences=True)(x)
    return keras.Model(x, layers.Bidirectional(layers.LSTM(3, stateful=True))(y))


@model()
def arguments_of_attention():
    q, v = keras.Input((5, 3)), keras.Input((6, 3))
    attention = layers.MultiHeadAttention(2, 2)
    y, scores = attention(q, v, use_causal_mask=True, return_attention_scores=True)
    outputs = [attention(y, v, attention_mask=np.ones((1, 5, 6), bool)), scores, layers.Attention()([q, v])]
    return keras.Model([q, v], outputs)


@model()
def weights_in_operations(x):
    inside, before = layers.Dense(3, name="inside"), layers.Dense(3, name="before")
    inner = around(inside)
    before.build((None, 3))
    return [ops.matmul(inner(x), inside.kernel), ops.matmul(x, before.kernel), before(x)]
