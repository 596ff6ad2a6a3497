"""What Keras 3 alone has: operations, functions, optional inputs, quantized layers, models that are compiled."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops

from . import MODELS, TRAINED, around, model
from .eager_options import ReplacedAlone
from .options import MINE


@model()
def operators_and_slices(x):
    y = (x[:, 0:2] * 2.0 - 1.0) / ops.expand_dims(x[:, 1], -1)
    y = ops.concatenate([y, x[..., ::-1], ops.where(x > 0, x, -x)], axis=-1)
    return ops.clip(ops.reshape(y, (-1, 2, 4)), -1.0, np.float32(1.0))


@model()
def operations_with_arrays_and_functions(x):
    y = ops.add(np.arange(3, dtype="float32"), x)
    y = ops.matmul(y, ops.convert_to_tensor(np.eye(3, dtype="float32")))
    y = ops.vectorized_map(lambda row: row * 2.0, y)
    return ops.einsum("ab,ac->abc", y, x)


@model()
def a_nested_function_of_operations(x):
    i = keras.KerasTensor((None, 3))
    function = keras.Function(i, ops.sigmoid(i) * 2.0, name="twice")
    return function(layers.Dense(3)(function(x)))


@model()
def weights_tied_to_a_later_layer():
    dense = layers.Dense(3)
    dense.build((None, 3))
    return around(lambda x: dense(ops.matmul(x, dense.kernel)))


@model(differs=["own"])  # its value is copied, as the cloner says
def a_variable_as_a_constant():
    variable = keras.Variable([1.0, 2.0, 3.0], name="free")
    return around(lambda x: ops.add(ops.multiply(x, variable), variable))


@model(inputs=lambda: [np.ones((2, 3), "float32"), None])
def an_optional_input():
    class AddOptional(layers.Layer):
        def call(self, x, y=None):
            return x if y is None else x + y

        def compute_output_shape(self, x_shape):
            return x_shape

    x, y = keras.Input((3,)), keras.Input((3,), optional=True)
    return keras.Model([x, y], AddOptional()(x, y))


@model()
def a_sequential_with_an_optional_input():
    return keras.Sequential([keras.Input((3,), optional=True), layers.Dense(2)])


@model()
def an_input_of_whole_numbers_of_unknown_size():
    x = keras.Input(batch_shape=(2, None), dtype="int32")
    return keras.Model(x, ops.cast(x, "float16") * 2)


def sparse():
    import tensorflow as tf

    return tf.sparse.from_dense(np.eye(3, dtype="float32"))


@model(inputs=sparse)
def a_sparse_input():
    x = keras.Input((3,), sparse=True)
    return keras.Model(x, layers.Dense(2)(x))


@model(inputs=lambda: False)
def a_ragged_input():
    x = keras.Input((None,), ragged=True)
    return keras.Model(x, ops.relu(x))


@model()
def a_mask_of_a_tensor_that_is_cast():
    narrow = layers.Lambda(lambda x: x * 2.0, mask=lambda x, mask=None: x[..., 0] > 0.0, dtype="mixed_bfloat16")
    return around(lambda x: layers.SimpleRNN(1)(layers.Masking()(narrow(x))), (3, 2))


@model(computes=True, differs=["structure"])
def a_policy_that_was_set_after_the_call():
    it = around(layers.Dense(2, name="later"))
    it.get_layer("later").dtype_policy = keras.DTypePolicy("mixed_bfloat16")
    return it


@model(inputs=lambda: [np.ones((2, 3), "float32")] * 2, differs=["not built"])
def a_layer_of_several_inputs_in_a_sequential():
    built = keras.Sequential([layers.Add(), layers.Dense(2)])
    built([np.ones((2, 3), "float32")] * 2)
    return built


@model()
def a_model_twice_in_a_sequential():
    inner = around(layers.Dense(3))
    return keras.Sequential([inner, keras.Sequential([layers.Dense(3)]), inner])


@model(shapes=[(4, 3)])
def a_mask_given_by_operations(x):
    mask = ops.any(ops.not_equal(x, 0.0), axis=-1)
    return layers.GRU(2)(layers.LSTM(2, return_sequences=True)(x, mask=mask))


def policy_map(*default, **options):
    return keras.dtype_policies.DTypePolicyMap(*default, **options)


class AutoConfig(layers.Layer):
    """Has no `get_config`: Keras keeps what it was given, as long as that is plain data."""

    def __init__(self, units, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units)
        self.factor = factor

    def call(self, x):
        return self.dense(x) * self.factor


class AttendsToItself(layers.Layer):
    """Unnamed sublayers, made by its constructor: their names count up."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.dense = layers.MultiHeadAttention(2, 3), layers.Dense(3)
        self.supports_masking = True

    def build(self, input_shape):
        self.attention.build(input_shape, input_shape)
        self.dense.build(input_shape)

    def call(self, x, mask=None):
        return self.dense(self.attention(x, x))


class HoldsAVariable(layers.Layer):
    def build(self, shape):
        self.held = keras.Variable(np.ones(shape[-1], "float32"), trainable=False)

    def call(self, x):
        return x * self.held


def half():
    """A policy of its own for each model: in a map without a default, `get_config` takes its name away."""
    return keras.DTypePolicy("float16")


LAYERS = {
    "a config that Keras keeps": lambda: AutoConfig(4),
    "an object as activation": lambda: layers.Dense(4, activation=layers.LeakyReLU(0.3)),
    "a spectral normalization": lambda: layers.SpectralNormalization(layers.Dense(4, activation=lambda x: x + x)),
    "a map of policies": lambda: layers.Dense(4, dtype=policy_map("mixed_bfloat16", {"other": half()})),
    "a map of policies without a default": lambda: layers.Dense(4, dtype=policy_map(policy_map={"other": half()})),
    "a map of a policy": lambda: layers.Dense(4, dtype=policy_map(keras.DTypePolicy("mixed_bfloat16"))),
    "low rank": lambda: layers.Dense(4, lora_rank=2, lora_alpha=7.0),
    "a normalization": lambda: layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 2.0, 4.0]),
    "a rescaling": lambda: layers.Rescaling([1.0, 2.0, 3.0], offset=1.0),
    "a pipeline": lambda: layers.Pipeline([layers.Rescaling(2.0), layers.Lambda(lambda x: x * 2.0)]),
    "no cuDNN": lambda: layers.LSTM(2, use_cudnn=False),
    "attention within": AttendsToItself,
    "a causal convolution": lambda: layers.Conv1D(2, 3, padding="causal", activation=lambda x: x + x),
    "a variable that is no weight of a name": HoldsAVariable,
}
for what, make in LAYERS.items():
    model(name=what)(lambda make=make: around(lambda x: make()(layers.Masking()(x)), (4, 3)))


DTYPES = {
    "none": dict,
    "a name": lambda: {"dtype": "float16"},
    "a policy": lambda: {"dtype": half()},
    "a map": lambda: {"dtype": policy_map(default_policy="float16")},
}
for what, dtype in DTYPES.items():
    model(name=f"a factor that its constructor refuses as a range, of the dtype {what}", shapes=[(4, 4, 3)])(
        lambda x, dtype=dtype: layers.RandomShear(y_factor=0.5, **dtype())(x)
    )
    model(name=f"a seed that no config tells, of the dtype {what}", shapes=[(4, 4, 3)])(
        lambda x, dtype=dtype: layers.RandomGrayscale(seed=7, **dtype())(x)
    )
    model(name=f"a value that no config tells, of the dtype {what}", shapes=[(4, 4, 3)], inputs=lambda: False)(
        lambda x, dtype=dtype: layers.MaxNumBoundingBoxes(2, fill_value=0, **dtype())(x)
    )
for what, more in (("a seed", {}), ("a seed beside an initializer", {"kernel_initializer": "ones"})):
    model(name=f"{what} that only a cell tells", shapes=[(3, 4)])(
        lambda x, more=more: layers.SimpleRNN(2, seed=7, **more)(x)
    )


@model(differs=["own", "structure"])  # as a constant
def a_variable_as_an_argument_of_a_lambda():
    return around(layers.Lambda(lambda x, by: x * by, arguments={"by": keras.Variable(2.0, name="by")}))


@model()
def a_tensor_as_an_argument_of_a_lambda():
    return around(layers.Lambda(lambda x, by: x * by, arguments={"by": ops.convert_to_tensor([1.0, 2.0, 3.0])}))


@model()
def shapes_of_several_outputs_of_a_lambda(x):
    return layers.Lambda(lambda x: [x, x[:, :2]], output_shape=[(3,), (2,)])(x)


class Silent(layers.Layer):
    """Is given a function, so that Keras keeps no config of it, and makes something of its other option."""

    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(**kwargs)
        self.by, self.function = factor * 10 + 1, function

    def call(self, x):
        return self.function(x) * self.by


class SilentWithAWeight(ReplacedAlone):
    def __init__(self, factor=2.0, function=None, **kwargs):
        super().__init__(factor, **kwargs)
        self.function = function


class Less(layers.Layer):
    def __init__(self, units, function, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, activation=function)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return {"name": self.name}


for kind, option in ((Silent, "factor"), (SilentWithAWeight, "factor"), (Less, "units")):
    model(name=f"an option of {kind.__name__}", refused=MINE.format(kind.__name__, option))(
        lambda kind=kind: around(kind(3, ops.abs, name="mine"))
    )


@model()
def a_seed_generator_as_an_argument_of_a_lambda():
    def noisy(x, seed):
        return x + keras.random.normal((3,), seed=seed)

    return around(layers.Lambda(noisy, output_shape=(3,), arguments={"seed": keras.random.SeedGenerator(3)}))


@model()
def a_cell_that_is_not_registered_in_both_directions():
    from .single_layers import Cell

    with keras.saving.custom_object_scope({"Cell": Cell}):
        wrapper = layers.Bidirectional(layers.RNN(Cell(2), return_sequences=True))
    return around(lambda x: wrapper(layers.Masking()(x)), (4, 3))


@model()
def a_layer_whose_config_its_constructor_refuses():
    return around(layers.RandomShear(0.2, 0.2, bounding_box_format="xyxy", seed=1), (8, 8, 3))


for mode in ("int8", "float8"):

    @model(name="a model quantized to " + mode)
    def quantized(mode=mode):
        it = around(layers.Dense(8), (4,))
        it.quantize(mode)
        return it


class Told(keras.Model):
    """Builds a graph of layers and operations, and tells its dtype as keras_hub's models do."""

    def __init__(self, units, dtype=None, **kwargs):
        inputs = keras.Input((3,), name="x")
        x = layers.Dense(units, dtype=dtype, name="dense")(inputs)
        x = AutoConfig(units, 3.0, dtype=dtype, name="scaled")(x)
        super().__init__(inputs, ops.exp(x[:, :1]) + x, dtype=dtype, **kwargs)
        self.units = units

    def get_config(self):
        return {"name": self.name, "units": self.units, "dtype": keras.dtype_policies.serialize(self.dtype_policy)}

    @classmethod
    def from_config(cls, config):
        config["dtype"] = keras.dtype_policies.deserialize(config["dtype"])
        return cls(**config)


@model(again=True)
def operations_of_a_model_that_is_made_from_its_config():
    return Told(4)


@model()
def low_rank_that_was_enabled_later():
    it = around(layers.Dense(4))
    it.layers[1].enable_lora(2, lora_alpha=9.0)
    return it


@model(inputs=lambda: False)
def a_recurrent_layer_in_a_scope():
    with keras.name_scope("outer"):
        x = keras.Input(batch_shape=(2, 5, 3))
        return keras.Model(x, layers.SimpleRNN(1, stateful=True, name="carries")(x))


class BuiltWith(layers.Layer):
    """Built by its user with an option that a call does not give."""

    def build(self, shape, units=2):
        self.units = units
        self.kernel = self.add_weight(shape=(shape[-1], units), name="kernel")

    def call(self, x):
        return keras.ops.matmul(x, self.kernel)

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.units)

    def get_build_config(self):
        return {"shape": (None, 3), "units": self.units}

    def build_from_config(self, config):
        self.build(config["shape"], config["units"])


@model()
def a_layer_with_a_build_config_of_its_own():
    layer = BuiltWith()
    layer.build((None, 3), units=5)
    x = keras.Input((3,))
    return keras.Model(x, layer(x))


def loss(y_true, y_pred):
    return keras.ops.mean(y_pred)


class Counter(keras.metrics.MeanMetricWrapper):
    def __init__(self, factor, **kwargs):
        super().__init__(lambda y_true, y_pred: y_pred * factor, name="counter", **kwargs)
        self.factor = factor

    def get_config(self):
        return {"factor": self.factor}


COMPILED = {
    "names": lambda: {"optimizer": "sgd", "loss": "mse", "metrics": ["mae"]},
    "objects": lambda: {
        "optimizer": keras.optimizers.Adam(1e-3, clipnorm=1.0),
        "loss": keras.losses.Huber(0.3),
        "metrics": [keras.metrics.MeanAbsoluteError(name="mine")],
        "weighted_metrics": [],
    },
    "functions": lambda: {"optimizer": "adam", "loss": loss, "metrics": [loss]},
    "a lambda": lambda: {"optimizer": "adam", "loss": lambda y_true, y_pred: keras.ops.mean(y_pred)},
    "a metric of one's own": lambda: {"optimizer": "adam", "loss": "mse", "metrics": [Counter(3.0)]},
    "a metric of a lambda": lambda: {
        "loss": "mse",
        "metrics": [keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: y_pred, name="m")],
    },
    "a schedule": lambda: {
        "optimizer": keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)),
        "loss": "mse",
    },
    "accumulated gradients": lambda: {"optimizer": keras.optimizers.SGD(gradient_accumulation_steps=2), "loss": "mse"},
    "options": lambda: {"loss": "mse", "run_eagerly": True, "steps_per_execution": 1},
}
for what, options in COMPILED.items():

    @model(name="compiled with " + what)
    def compiled(options=options):
        it = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
        it.compile(**options())
        return it


TRAINED.update((name, builder) for name, builder in MODELS.items() if name.startswith("compiled with"))
