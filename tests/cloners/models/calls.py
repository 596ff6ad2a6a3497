"""Arguments of calls, masks, and states that are given."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers

from . import GENERATION, around, model, ops


class Mixer(layers.Layer):
    """Tells lists, tuples and dictionaries apart."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._allow_non_tensor_positional_args = True

    def call(self, x, extra=None, factor=1.0, *, option=None):
        kinds = {list: 2.0, tuple: 3.0, dict: 5.0}
        total = x[0] * kinds[type(x)] if isinstance(x, (list, tuple)) else x
        more = extra.values() if isinstance(extra, dict) else extra if isinstance(extra, (list, tuple)) else [extra]
        for one in more:
            total = total if one is None else total + one
        return total * factor * kinds.get(type(extra), 1.0) * kinds.get(type(option), 7.0)

    def compute_output_shape(self, x_shape, extra_shape=None):
        return x_shape[0] if isinstance(x_shape, list) else x_shape


CALLS = {
    "keyword none": lambda layer, x: layer(x, extra=None),
    "positional none": lambda layer, x: layer(x, None),
    "scalar": lambda layer, x: layer(x, factor=2),
    "scalar of NumPy": lambda layer, x: layer(x, factor=np.float32(3)),
    "tensor by position": lambda layer, x: layer(x, x),
    "tensor by keyword": lambda layer, x: layer(x, factor=x),
    "tuple": lambda layer, x: layer(x, extra=(x, x)),
    "list": lambda layer, x: layer(x, extra=[x, x]),
    "dictionary": lambda layer, x: layer(x, extra={"b": x, "a": x * 2.0}),
    "option tuple": lambda layer, x: layer(x, option=(1, 2)),
    "option list": lambda layer, x: layer(x, option=[1, 2]),
    "option dictionary": lambda layer, x: layer(x, option={"b": 1, "a": 2}),
    "array": lambda layer, x: layer(x, extra=np.ones((1, 3), "float32")),
    "first argument list": lambda layer, x: layer([x, x]),
    "list of one": lambda layer, x: layer([x]),
    "tuple of one": lambda layer, x: layer((x,)),
    "by keyword only": lambda layer, x: layer(x=x, extra=x),
}


def called(call):
    return around(lambda x: call(Mixer(), x))


for name, call in CALLS.items():
    of = ("keras",) if name == "by keyword only" else ()
    model(*of, name=f"a call with {name}")(lambda call=call: called(call))
    model(*of, name=f"a nested call with {name}", late=True)(lambda call=call: around(called(call)))


@model(shapes=[(40,)])
def training_given(x):
    y = layers.BatchNormalization()(layers.Dropout(0.5, seed=3)(x, training=True), training=False)
    return [y, layers.GaussianNoise(1.0)(x, training=False)]


def steps():
    return keras.Input((4, 3))


@model()
def a_mask_given():
    x, flags = steps(), keras.Input((4,), dtype="bool")
    y = layers.SimpleRNN(2, return_sequences=True)(x, mask=flags)
    return keras.Model([x, flags], [y, layers.SimpleRNN(2)(y)])


@model(shapes=[(4, 3)])
def a_mask_given_by_a_layer(x):
    flags = layers.Lambda(lambda x: x[:, :, 0] > 0.0)(x)
    return layers.SimpleRNN(2)(layers.Masking()(x), mask=flags)


@model(shapes=[(4, 3)])
def no_mask_given(x):
    return layers.SimpleRNN(2)(layers.Masking()(x), mask=None)


@model("tf_keras")
def a_mask_given_that_is_not_used():
    x, flags = steps(), keras.Input((4,), dtype="bool")
    y = layers.TimeDistributed(layers.Activation("tanh"))(x, mask=flags, training=False)
    return keras.Model([x, flags], y)


@model(shapes=[(4, 3)])
def training_given_inside_of_a_masked_model(x, y):
    a = steps()
    inner = keras.Model(a, layers.SimpleRNN(2, return_sequences=True)(a, training=False), name="inner")
    return layers.Add()([inner(layers.Masking()(x)), inner(y)])


@model("tf_keras", shapes=[(4, 3)])
def arguments_of_a_nested_call(x):
    i = steps()
    inner = keras.Model(i, layers.SimpleRNN(2, return_sequences=True)(layers.Dropout(0.5)(i)))
    return [inner(x, training=True), inner(x, mask=x[:, :, 0] > 0), inner(x)]


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
    i = steps()
    inner = keras.Model(i, layers.TimeDistributed(layers.Dense(3))(layers.Masking()(i)))
    body = keras.Sequential([layers.InputLayer((4, 3)), layers.Masking(), layers.SimpleRNN(2, return_sequences=True)])
    return [layers.SimpleRNN(2)(inner(x)), layers.SimpleRNN(2)(body(layers.Masking()(x)))]


@model()
def a_mask_that_is_computed():
    x = keras.Input((5,), dtype="int32")
    embedding = layers.Embedding(7, 4, mask_zero=True)
    return keras.Model(x, layers.SimpleRNN(3)(embedding(x), mask=embedding.compute_mask(x)))


class OneOfTwoMasks(layers.Layer):
    def compute_mask(self, inputs, mask=None):
        return [mask, None]

    def call(self, x):
        return [x, x * 2]


@model("tf_keras", shapes=[(4, 3)])
def masks_of_two_outputs(x):
    a, b = OneOfTwoMasks()(layers.Masking()(x))
    return [layers.SimpleRNN(2)(a), layers.SimpleRNN(2)(b), a]


@model(shapes=[(4, 3), (2,), (2,)])
def states_given(x, a, b):
    y, h, c = layers.LSTM(2, return_sequences=True, return_state=True)(x, initial_state=[a, b])
    z = layers.Bidirectional(layers.LSTM(2))(y, initial_state=[h, c, a, b])
    return [z, h, c]


@model("tf_keras", shapes=[(4, 3), (2,)])
def states_given_in_a_list_with_the_input(x, a):
    return layers.GRU(2)([x, a])


@model(shapes=[(4, 3), (2,), (2,)])
def states_of_both_directions_given_under_a_mask(x, a, b):
    return layers.Bidirectional(layers.SimpleRNN(2))(layers.Masking()(x), initial_state=[a, b])


@model(shapes=[(4, 3)])
def an_encoder_and_a_decoder(x, z):
    _, h, c = layers.LSTM(2, return_state=True)(layers.Masking()(x))
    return layers.LSTM(2, return_sequences=True)(z, initial_state=[h, c])


@model("tf_keras")
def a_state_given_that_is_a_constant():
    x = keras.Input((5, 3), batch_size=3)
    return keras.Model(x, layers.GRU(4)(x, initial_state=[ops.ones((3, 4))]))


class Context(layers.Layer):
    """A cell with a constant."""

    def __init__(self, units=2, **kwargs):
        self.units = self.state_size = units
        super().__init__(**kwargs)

    def build(self, shape):
        shape = shape[0] if isinstance(shape, list) else shape
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units), initializer="uniform")
        self.built = True

    def call(self, x, states, constants=None):
        h = ops.matmul(x, self.kernel) + states[0] + (constants[0] if constants else 0.0)
        return h, [h]

    def get_config(self):
        return dict(super().get_config(), units=self.units)


@model("tf_keras", shapes=[(4, 3), (2,)])
def constants_of_a_cell(x, c):
    both = [layers.RNN(Context())(x, constants=[c], initial_state=[c])]
    if GENERATION == "tf_keras":
        both.append(layers.Bidirectional(layers.RNN(Context()))(x, constants=c))
    return both


@model()
def arguments_of_attention():
    q, v = keras.Input((5, 3)), keras.Input((6, 3))
    attention = layers.MultiHeadAttention(2, 2)
    y, scores = attention(q, v, use_causal_mask=True, return_attention_scores=True)
    return keras.Model(
        [q, v], [attention(y, v, attention_mask=np.ones((1, 5, 6), bool)), scores, layers.Attention()([q, v])]
    )
