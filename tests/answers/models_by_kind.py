"""Models that Keras does not clone faithfully. Each docstring is a part of the expected answer."""

import functools

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

registered = keras.saving.register_keras_serializable("kinds")


def net(layer, shape=(4,), name="net"):
    x = keras.Input(shape, name="x")
    return keras.Model(x, layer(x), name=name)


def compiled_model(**options):
    model = net(layers.Dense(2, name="dense"))
    model.compile(**{"optimizer": "sgd", "loss": "mse", **options})
    return model


# functions


def multiplier(factor):
    @registered
    def multiply(x):
        return x * factor

    return multiply


def functions_under_one_name():
    """`activation` is the function `multiply`"""
    first, _ = multiplier(2.0), multiplier(3.0)
    return net(layers.Dense(2, activation=first, name="dense"))


inner = layers.Dense(4, name="inner")


def function_that_reads_a_global():
    """Lambda `caller` cannot be cloned"""
    return net(layers.Lambda(lambda t: inner(t), name="caller"))


def partial_function():
    """functools.partial"""
    return net(layers.Dense(2, activation=functools.partial(ops.elu, alpha=0.5), name="dense"))


# compile arguments


@registered
class Weighted(keras.losses.Loss):
    def __init__(self, factors, name="weighted", **kwargs):
        super().__init__(name=name, **kwargs)
        self.factors = factors

    def call(self, y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred), axis=-1) * self.factors

    def get_config(self):
        return {**super().get_config(), "factors": self.factors}


def loss_with_an_array():
    """write `Weighted.from_config`"""
    return compiled_model(loss=Weighted(np.array([2.0, 3.0], "float32")))


@registered
class Decay(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, first):
        self.first = first

    def __call__(self, step):
        return self.first / (step + 1.0)

    def get_config(self):
        return {}


def schedule_without_its_argument():
    """cannot compile the clone: TypeError: Decay"""
    return compiled_model(optimizer=keras.optimizers.SGD(Decay(0.5)))


def metric_of_two_outputs():
    """passed to `compile` twice"""
    x, shared = keras.Input((4,), name="x"), keras.metrics.MeanAbsoluteError(name="error")
    model = keras.Model(x, [layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)], name="net")
    model.compile("sgd", "mse", metrics=[[shared], [shared]])
    return model


# attributes set after construction


def attribute_of_a_model():
    """`temperature` is 0.5 in the model"""
    model = net(layers.Dense(2, name="dense"))
    model.temperature = 0.5
    return model


def activation_removed():
    """`activation` was set to None"""
    model = net(layers.Dense(2, activation="softmax", name="dense"))
    model.get_layer("dense").activation = None
    return model


def weight_frozen():
    """frozen weight of Dense `dense`"""
    model = net(layers.Dense(2, name="dense"))
    model.get_layer("dense").kernel.trainable = False
    return model


# operands


def variable_as_operand():
    """an operand of an operation"""
    x = keras.Input((4,), name="x")
    return keras.Model(x, x * keras.Variable(np.full(4, 2.0, "float32")), name="net")


# adapted and changed layers


def vocabulary_adapted():
    """IntegerLookup `lookup`: `vocabulary`"""
    lookup = layers.IntegerLookup(name="lookup")
    lookup.adapt(np.array([[3], [5], [5]]))
    x = keras.Input((1,), dtype="int64", name="x")
    return keras.Model(x, lookup(x), name="net")


def lora_enabled():
    """`lora_alpha` is 8 in the model, 2 in the clone"""
    model = net(layers.Dense(4, name="dense"))
    model.get_layer("dense").enable_lora(2, lora_alpha=8)
    return model


def built_under_another_policy():
    """setting that changed after the model was created"""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    x = keras.Input((4,), name="x")
    model = keras.Model(x, ops.multiply(layers.Dense(2, name="dense")(x), 2.0), name="net")
    keras.config.set_dtype_policy(before)
    return model


# custom classes


@registered
class Sizes(layers.Layer):
    def __init__(self, *sizes, **kwargs):
        super().__init__(**kwargs)
        self.sizes = sizes

    def call(self, x):
        return x * float(len(self.sizes))

    def get_config(self):
        return {**super().get_config(), "sizes": self.sizes}


def constructor_with_positional_arguments():
    """let `__init__` accept"""
    return net(Sizes(1, 2, name="sizes"))


@registered
class TableLayer(layers.Layer):
    class Table(tf.Module):
        def __init__(self):
            super().__init__()
            self.values = tf.Variable([1.0, 2.0, 3.0, 4.0])

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.table = self.Table()

    def call(self, x):
        return x * self.table.values


def trained_tensorflow_module():
    """computes something else: TableLayer `table`"""
    layer = TableLayer(name="table")
    layer.table.values.assign([5.0, 6.0, 7.0, 8.0])
    return net(layer)
