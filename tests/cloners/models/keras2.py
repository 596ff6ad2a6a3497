"""What is tried on Keras 2.2 and 2.3 alone."""

# ruff: noqa: UP031

from __future__ import annotations

import keras
import numpy as np
from keras import backend as K
from keras import layers

from . import model
from .single_layers import Scale

SCALE = 3.0


class Holder(layers.Layer):
    """A custom layer that holds another."""

    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape):
        self.layer.build(input_shape)
        self._trainable_weights = self.layer._trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        return self.layer.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        return dict(super().get_config(), layer=keras.layers.serialize(self.layer))

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        return cls(keras.layers.deserialize(config.pop("layer")), **config)


def steps(name=None):
    return keras.Input((4, 3), name=name)


@model()
def layers_as_activations(x):
    shared = layers.PReLU(name="prelu")
    y = shared(layers.Dense(3, activation=shared)(x))
    return layers.Dense(3, activation=layers.ELU())(y)


@model(shapes=[(3, 4)])
def formats_that_no_config_tells(x):
    y = layers.LocallyConnected1D(2, 2, data_format="channels_first")(x)
    z = layers.Reshape((3, 4, 1))(x)
    return [y, layers.SpatialDropout2D(0.5, seed=1, data_format="channels_first")(z)]


@model(shapes=[(4, 3)])
def several_outputs_under_a_mask(x):
    masked = layers.Masking()(x)
    return layers.Lambda(lambda x: [x, x * 2.0], mask=lambda x, m: [m, m])(masked)


@model(shapes=[(4, 3)])
def mask_function(x):
    chosen = layers.Lambda(lambda x: x * 1.0, mask=lambda x, m=None: K.greater(x[:, :, 0], 0.0))(x)
    return layers.LSTM(2)(chosen)


@model(shapes=[(4, 3)])
def lambda_with_everything(x):
    shift = np.float32(2.0)
    y = layers.Lambda(
        lambda x, by, many: x * by + many[0] + shift * SCALE,
        output_shape=lambda shape: shape,
        arguments={"by": 3.0, "many": [1.0, 2.0]},
    )(x)
    return layers.Lambda(K.sum, arguments={"axis": 1}, output_shape=(3,))(y)


@model(shapes=[(4, 3)])
def call_arguments(x):
    y = layers.LSTM(2, return_sequences=True)(x, training=False)
    return layers.Add()([Scale()(y, by=3.0), y])


@model(shapes=[(4, 3)])
def wrappers_around_custom_layers(x):
    y = layers.TimeDistributed(Scale(3.0))(x)
    y = layers.TimeDistributed(layers.Lambda(lambda x: x + SCALE))(y)
    y = layers.TimeDistributed(Holder(layers.Dense(2, activation=lambda x: x * SCALE)))(y)
    return layers.Bidirectional(layers.LSTM(2), merge_mode=None)(y)


@model()
def floats_of_another_session():
    """The initializer casts to the floats of the session, and its dot product takes no others."""
    K.set_floatx("float64")
    try:
        x = keras.Input((3,))
        y = layers.Dense(3, kernel_initializer="orthogonal")(x)
        return keras.Model(x, layers.ThresholdedReLU(0.3)(layers.Dense(2)(y)))
    finally:
        K.set_floatx("float32")


@model()
def floats_that_no_weight_tells():
    """Its noise, of no deviation, is in the floats of the session, and is added to those of the input."""
    K.set_floatx("float64")
    try:
        x = keras.Input((3,))
        return keras.Model(x, layers.GaussianNoise(0.0)(x))
    finally:
        K.set_floatx("float32")


class Table(layers.Layer):
    """Holds numbers of other floats than the session's, and casts them to these."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.table = np.linspace(0.0, 1.0, 3)

    def call(self, inputs):
        return inputs + K.constant(self.table)


@model(shapes=[(3,)])
def numbers_of_other_floats(x):
    return layers.GaussianNoise(np.float64(0.0))(Table()(x))


@model()
def floats_that_a_function_casts_to():
    """All that the model gives is float64, and what it computes between is rounded to the floats of the session."""
    x = keras.Input((3,), dtype="float64")
    cast = layers.Lambda(lambda x: K.cast(K.cast(x, K.floatx()) * K.cast_to_floatx(1.1), "float64"))
    return keras.Model(x, cast(x))


@model()
def a_layer_set_on_an_inner_model_and_called_around_it():
    later = Scale()
    x = keras.Input((3,))
    inner = keras.Model(x, layers.Dense(3)(x))
    inner.extra = later
    y = keras.Input((3,))
    return keras.Model(y, later(inner(y)))


@model()
def layers_hung_on_a_model():
    x = keras.Input((3,))
    made = keras.Model(x, layers.Dense(2)(x))
    made.extra, made.unbuilt = layers.Dense(4), layers.Dense(5)
    made.extra.build((None, 3))
    return made


@model()
def functions_of_no_name(x):
    double = lambda x: x * 2.0  # noqa: E731

    def regular(weight):
        return K.sum(weight) * 0.5

    y = layers.Dense(2, activation=lambda x: x + 1.0, kernel_regularizer=regular, bias_initializer="ones")(x)
    return layers.Activation(double)(y)


@model()
def layers_with_losses(x):
    y = layers.Dense(2, kernel_regularizer="l2", activity_regularizer=keras.regularizers.l1(0.1))(x)
    late = layers.Activation("relu")
    late.activity_regularizer = keras.regularizers.l2(0.3)
    return layers.ActivityRegularization(l1=0.2)(late(y))


@model()
def inputs_of_all_sorts():
    a = keras.Input(batch_shape=(2, 3), name="fixed")
    b = keras.Input((3,), dtype="int32", name="whole")
    c = keras.Input((3,), sparse=True, name="sparse")
    b_ = layers.Lambda(lambda x: K.cast(x, "float32"))(b)
    c_ = layers.Lambda(lambda x: K.dot(x, K.ones((3, 3))), output_shape=(3,))(c)
    return keras.Model([c, a, b], layers.Add()([a, b_, c_]))


@model()
def list_of_one(x):
    return layers.Lambda(lambda x: x[0] * 2.0, output_shape=(3,))([x])


@model()
def identity_of_a_cell():
    x = steps()
    return keras.Model(
        x, layers.LSTM(2, recurrent_initializer="identity" if keras.__version__ >= "2.2.5" else "zeros")(x)
    )


@model()
def compiled_with_metrics():
    x = keras.Input((3,))
    found = keras.Model(x, layers.Dense(2)(x))
    found.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mae"])
    found.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    return found
