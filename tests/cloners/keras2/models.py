"""Models of plain Keras 2.2 that are hard to clone, by name. Runs beside the release, in the syntax of Python 3.7."""

# ruff: noqa: UP008, UP031, UP032, B905

from __future__ import annotations

import keras
import numpy as np
from keras import backend as K
from keras import layers
from keras.models import Model, Sequential

MODELS = {}
REFUSED = {}
"""Those that cannot be cloned, because nobody tells what a layer was made with."""


def model(build):
    MODELS[build.__name__] = build
    return build


def refused(build):
    REFUSED[build.__name__] = build
    return build


SCALE = 3.0


class Scale(layers.Layer):
    """A custom layer that no custom object scope knows, with an argument to its call."""

    def __init__(self, factor=2.0, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.factor = factor

    def call(self, inputs, by=1.0):
        return inputs * self.factor * by

    def get_config(self):
        return dict(super(Scale, self).get_config(), factor=self.factor)


class Holder(layers.Layer):
    """A custom layer that holds another."""

    def __init__(self, layer, **kwargs):
        super(Holder, self).__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape):
        self.layer.build(input_shape)
        self._trainable_weights = self.layer._trainable_weights
        super(Holder, self).build(input_shape)

    def call(self, inputs):
        return self.layer.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        return dict(super(Holder, self).get_config(), layer=keras.layers.serialize(self.layer))

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        return cls(keras.layers.deserialize(config.pop("layer")), **config)


class Cell(layers.Layer):
    """A cell with a constant."""

    def __init__(self, units, **kwargs):
        self.units = units
        self.state_size = units
        super(Cell, self).__init__(**kwargs)

    def build(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="uniform", name="kernel")
        self.built = True

    def call(self, inputs, states, constants=None):
        output = K.dot(inputs, self.kernel) + states[0]
        if constants:
            output = output + constants[0]
        return output, [output]

    def get_config(self):
        return dict(super(Cell, self).get_config(), units=self.units)


def steps(name=None):
    return layers.Input((4, 3), name=name)


@model
def reported_bug():
    x = layers.Input((1,))
    a, b = layers.Lambda(lambda x: [x, x])(x)
    return Model(x, layers.Add()([a, b]))


@model
def layers_as_activations():
    shared = layers.PReLU(name="prelu")
    x = layers.Input((3,))
    y = shared(layers.Dense(3, activation=shared)(x))
    return Model(x, layers.Dense(3, activation=layers.ELU())(y))


@model
def formats_that_no_config_tells():
    x = layers.Input((3, 4))
    y = layers.LocallyConnected1D(2, 2, data_format="channels_first")(x)
    z = layers.Reshape((3, 4, 1))(x)
    return Model(x, [y, layers.SpatialDropout2D(0.5, seed=1, data_format="channels_first")(z)])


@model
def several_outputs_under_a_mask():
    x = steps()
    masked = layers.Masking()(x)
    return Model(x, layers.Lambda(lambda x: [x, x * 2.0], mask=lambda x, m: [m, m])(masked))


@model
def mask_function():
    x = steps()
    chosen = layers.Lambda(lambda x: x * 1.0, mask=lambda x, m=None: K.greater(x[:, :, 0], 0.0))(x)
    return Model(x, layers.LSTM(2)(chosen))


@model
def lambda_takes_the_mask():
    x = steps()
    y = layers.Lambda(lambda x, mask=None: x if mask is None else x * K.expand_dims(K.cast(mask, "float32")))
    y.supports_masking = True
    return Model(x, y(layers.Masking()(x)))


@model
def lambda_with_everything():
    x = steps()
    shift = np.float32(2.0)
    y = layers.Lambda(
        lambda x, by, many: x * by + many[0] + shift * SCALE,
        output_shape=lambda shape: shape,
        arguments={"by": 3.0, "many": [1.0, 2.0]},
    )(x)
    return Model(x, layers.Lambda(K.sum, arguments={"axis": 1}, output_shape=(3,))(y))


@model
def call_arguments():
    x = steps()
    y = layers.LSTM(2, return_sequences=True)(x, training=False)
    return Model(x, layers.Add()([Scale()(y, by=3.0), y]))


@model
def call_arguments_inside_a_masked_model():
    a = steps()
    inner = Model(a, layers.LSTM(2, return_sequences=True)(a, training=False), name="inner")
    x, y = steps(), steps()
    return Model([x, y], layers.Add()([inner(layers.Masking()(x)), inner(y)]))


@model
def mask_by_keyword():
    x, flags = steps(), layers.Input((4,), dtype="bool")
    return Model([x, flags], layers.LSTM(2)(x, mask=flags))


@model
def mask_by_keyword_that_is_not_used():
    x, flags = steps(), layers.Input((4,), dtype="bool")
    return Model([x, flags], layers.TimeDistributed(layers.Activation("tanh"))(x, mask=flags, training=False))


@model
def mask_by_keyword_from_a_layer():
    x = steps()
    flags = layers.Lambda(lambda x: K.greater(x[:, :, 0], 0.0))(x)
    return Model(x, layers.LSTM(2)(layers.Masking()(x), mask=flags))


@model
def no_mask_by_keyword():
    x = steps()
    return Model(x, layers.LSTM(2)(layers.Masking()(x), mask=None))


@model
def initial_state():
    x, a, b = steps(), layers.Input((2,)), layers.Input((2,))
    y = layers.LSTM(2, return_state=True)(x, initial_state=[a, b])
    return Model([x, a, b], y)


@model
def initial_state_in_a_list():
    x, a = steps(), layers.Input((2,))
    return Model([x, a], layers.GRU(2)([x, a]))


@model
def initial_state_of_both_directions():
    x, a, b = steps(), layers.Input((2,)), layers.Input((2,))
    y = layers.Bidirectional(layers.GRU(2))(layers.Masking()(x), initial_state=[a, b])
    return Model([x, a, b], y)


@model
def constants_of_a_cell():
    x, c = steps(), layers.Input((2,))
    return Model([x, c], layers.RNN(Cell(2))(x, constants=c))


@model
def encoder_and_decoder():
    x, z = steps(), steps()
    _, h, c = layers.LSTM(2, return_state=True)(layers.Masking()(x))
    return Model([x, z], layers.LSTM(2, return_sequences=True)(z, initial_state=[h, c]))


@model
def stacked_cells():
    x = steps()
    return Model(x, layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)], return_sequences=True)(x))


@model
def wrappers_around_custom_layers():
    x = steps()
    y = layers.TimeDistributed(Scale(3.0))(x)
    y = layers.TimeDistributed(layers.Lambda(lambda x: x + SCALE))(y)
    y = layers.TimeDistributed(Holder(layers.Dense(2, activation=lambda x: x * SCALE)))(y)
    return Model(x, layers.Bidirectional(layers.LSTM(2), merge_mode=None)(y))


@model
def wrapper_around_a_model():
    a = layers.Input((3,))
    inner = Model(a, layers.Dense(2)(layers.Lambda(lambda x: x * SCALE)(a)))
    x = steps()
    built_late = Sequential([layers.Dense(2), layers.Dense(1)], name="late")
    return Model(x, layers.TimeDistributed(built_late)(layers.TimeDistributed(inner)(x)))


@model
def layer_also_in_a_wrapper():
    dense = layers.Dense(2)
    x, y = layers.Input((4, 3)), layers.Input((3,))
    return Model([x, y], [layers.TimeDistributed(dense)(x), dense(y)])


@model
def functions_of_no_name():
    x = layers.Input((3,))
    double = lambda x: x * 2.0  # noqa: E731

    def regular(weight):
        return K.sum(weight) * 0.5

    y = layers.Dense(2, activation=lambda x: x + 1.0, kernel_regularizer=regular, bias_initializer="ones")(x)
    return Model(x, layers.Activation(double)(y))


@model
def layers_with_losses():
    x = layers.Input((3,))
    y = layers.Dense(2, kernel_regularizer="l2", activity_regularizer=keras.regularizers.l1(0.1))(x)
    late = layers.Activation("relu")
    late.activity_regularizer = keras.regularizers.l2(0.3)
    return Model(x, layers.ActivityRegularization(l1=0.2)(late(y)))


@model
def called_in_another_order_than_its_depth():
    dense = layers.Dense(3)
    x = layers.Input((3,))
    first = dense(x)
    second = dense(layers.Lambda(lambda x: x + 1.0)(x))
    third = dense(layers.Lambda(lambda x: x + 2.0)(layers.Lambda(lambda x: x + 3.0)(first)))
    return Model(x, [second, third, first])


@model
def called_outside_too():
    dense = layers.Dense(3)
    dense(layers.Input((3,)))
    x = layers.Input((3,))
    return Model(x, dense(dense(x)))


@model
def frozen_parts():
    x = layers.Input((3,))
    frozen = layers.Dense(3)
    y = frozen(x)
    frozen.trainable = False
    inner = Sequential([layers.Dense(2, input_shape=(3,)), layers.BatchNormalization()])
    y = inner(y)
    inner.layers[0].trainable = False
    inner.trainable = False
    result = Model(x, y)
    result.trainable = False
    return result


@model
def frozen_direction():
    x = steps()
    layer = layers.Bidirectional(layers.LSTM(2))
    y = layer(x)
    layer.forward_layer.trainable = False
    return Model(x, y)


@model
def masking_supported_later():
    x = steps()
    late = Scale()
    late.supports_masking = True
    return Model(x, layers.LSTM(2)(late(layers.Masking()(x))))


@model
def sequential():
    return Sequential(
        [
            layers.Embedding(5, 3, mask_zero=True, input_length=4),
            layers.Lambda(lambda x: x * SCALE, mask=lambda x, m=None: m),
            layers.LSTM(2),
        ],
        name="chain",
    )


@model
def sequential_with_a_shared_layer():
    dense = layers.Dense(3, input_shape=(3,))
    return Sequential([dense, layers.Activation("relu"), dense])


@model
def sequential_built_late():
    result = Sequential([layers.Dense(2), layers.Dense(1)])
    result.build((None, 3))
    return result


@model
def sequential_with_an_input_layer():
    return Sequential([layers.InputLayer((3,), name="front"), layers.Dense(2)])


@model
def sequential_of_models():
    inner = Sequential([layers.Dense(2, input_shape=(3,))])
    a = layers.Input((2,))
    return Sequential([inner, Model(a, layers.Dense(2)(a))])


@model
def model_called_twice():
    a = layers.Input((3,))
    inner = Model(a, layers.Lambda(lambda x: [x, x + 1.0])(layers.Dense(2)(a)), name="inner")
    x, y = layers.Input((3,)), layers.Input((3,))
    return Model([x, y], layers.Concatenate()(inner(x) + inner(y)))


@model
def model_called_twice_on_one_tensor():
    a = layers.Input((3,))
    inner = Model(a, layers.Dense(2)(a), name="inner")
    after = layers.Dense(2)
    x = layers.Input((3,))
    first = after(inner(x))
    second = after(inner(x))
    return Model(x, [second, first])


@model
def layer_shared_with_a_model_inside():
    dense = layers.Dense(3)
    a = layers.Input((3,))
    inner = Model(a, dense(a), name="inner")
    b = layers.Input((3,))
    middle = Model(b, dense(inner(b)), name="middle")
    x = layers.Input((3,))
    return Model(x, [dense(middle(x)), inner(x)])


@model
def model_that_masks():
    a = steps()
    inner = Model(a, layers.Masking()(a), name="inner")
    x = steps()
    return Model(x, layers.LSTM(2)(inner(x)))


@model
def output_twice_and_an_input_as_output():
    x, unused = layers.Input((3,)), layers.Input((2,))
    y = layers.Dense(2)(x)
    return Model([x, unused], [y, x, y])


@model
def inputs_of_all_sorts():
    a = layers.Input(batch_shape=(2, 3), name="fixed")
    b = layers.Input((3,), dtype="int32", name="whole")
    c = layers.Input((3,), sparse=True, name="sparse")
    b_ = layers.Lambda(lambda x: K.cast(x, "float32"))(b)
    c_ = layers.Lambda(lambda x: K.dot(x, K.ones((3, 3))), output_shape=(3,))(c)
    return Model([c, a, b], layers.Add()([a, b_, c_]))


@model
def state_is_kept():
    x = layers.Input(batch_shape=(2, 4, 3))
    return Model(x, layers.LSTM(2, stateful=True)(x))


@model
def list_of_one():
    x = layers.Input((3,))
    y = layers.Lambda(lambda x: x[0] * 2.0, output_shape=(3,))([x])
    return Model(x, y)


@model
def seeded_initializers():
    x = layers.Input((3,))
    y = layers.Dense(2, kernel_initializer=keras.initializers.RandomNormal(seed=3))(x)
    return Model(x, layers.Dense(2, kernel_initializer=keras.initializers.Orthogonal(seed=3))(y))


@model
def identity_of_a_cell():
    x = steps()
    return Model(x, layers.LSTM(2, recurrent_initializer="identity" if keras.__version__ >= "2.2.5" else "zeros")(x))


@model
def convolutions():
    x = layers.Input((4, 4, 2))
    y = layers.Conv2D(2, 2, padding="same", kernel_constraint="max_norm")(x)
    y = layers.BatchNormalization()(y)
    return Model(x, layers.Dense(1)(layers.Flatten()(layers.SeparableConv2D(2, 2)(y))))


@model
def compiled_with_metrics():
    x = layers.Input((3,))
    found = Model(x, layers.Dense(2)(x))
    found.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mae"])
    found.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    return found
