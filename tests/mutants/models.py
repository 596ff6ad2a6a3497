"""Sources of small models that between them hold what a clone can get wrong, for both generations of Keras."""

from __future__ import annotations

from tests.example_graphs import example
from tests.inside.models import RICH
from tests.inside.models import case as case_of_rich
from tests.planted.models import MODELS as PLANTED
from tests.planted.models import case as planted

_HEAD = """
import collections, dataclasses, functools, types
import numpy as np
import tensorflow as tf
import GENERATION as keras
layers = keras.layers
LIMIT, TABLE = 2.0, {"by": 3.0}

def around(function, shape=(3,), **options):
    x = keras.Input(shape, **options)
    return keras.Model(x, function(x))

def scaled(x, by=3.0, *, plus=1.0):
    return x * by * TABLE["by"] + plus * LIMIT

def shift(amount, rows):
    def shifted(x):
        return x * amount + len(rows)
    return shifted
"""

_BOTH = {
    "lambdas": """
class Scaler:
    def __init__(self, by):
        self.by, self._table = by, np.arange(3.0, dtype="float32")

    def apply(self, x):
        return x * self.by + self._table

x = keras.Input((4, 3))
y = layers.Lambda(lambda t, by=3.0: t * by, output_shape=(4, 3))(layers.Masking()(x))
y = layers.Lambda(scaled, arguments={"by": 5.0, "plus": np.ones(3, "float32")})(y)
y = layers.Lambda(Scaler(2.0).apply)(layers.Lambda(shift(2.0, [1, 2]))(y))
y = layers.Lambda(functools.partial(scaled, by=7.0), mask=lambda t, mask=None: t[..., 0] > 0.5)(y)
model = keras.Model(x, layers.Dense(2, activation=lambda t: t * 2.0)(layers.SimpleRNN(2)(y)))
""",
    "parts": """
class Parts(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.heads = [layers.Dense(3, name=f"head_{n}") for n in range(3)]
        self.named = {"left": layers.Dense(3), "right": layers.Dense(3)}
        self.order, self.last, self._main = ["right", "left"], self.heads[2], self.heads[0]

    def call(self, x):
        for part in [*self.heads, *(self.named[name] for name in self.order), self._main]:
            x = part(x)
        return self.last(x)

model = around(lambda x: Parts()(x))
""",
    "values": """
Pair = collections.namedtuple("Pair", "left right")

class Values(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self._gain, self._mode, self._strict, self.mode = 2.0, "sum", True, "a"
        self.sizes, self.pair, self.ordered = (1, 2, 3), Pair(2.0, [3.0]), collections.OrderedDict(b=1.0, a=2.0)
        self.queue, self.tags, self.fixed = collections.deque([1, 2]), {"x", "y"}, frozenset(["z", "w"])
        self.deep = {"one": [{"two": (1, [2, {"three": {"four": [5.0, {"five": [6.0]}]}}])}]}

    @property
    def gain(self):
        return self._gain * 2.0

    def call(self, x):
        total = x * self.gain * self.pair.left + self.sizes[1] + len(self.tags) + self.deep["one"][0]["two"][0]
        return total * 2.0 if self._strict and self._mode == "sum" else total

model = around(lambda x: layers.Dense(2)(Values(name="a")(Values(name="b")(x))))
""",
    "constants": """
class Constants(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.table, self.rows = np.arange(6.0, dtype="float32").reshape(2, 3), np.array([1, 0])
        self.shift, self.scale = tf.constant([1.0, 2.0, 3.0]), tf.constant([3.0, 2.0, 1.0])
        self._factors = {"a": np.array([0.5, 1.5], "float32"), "b": [tf.constant(2.0), 0.25]}

    def call(self, x):
        x = x + self.table[int(self.rows[0])] + self.shift * self.scale
        return x * self._factors["a"][0] * self._factors["b"][0]

model = around(lambda x: layers.Dense(3)(Constants()(x)))
""",
    "records": """
class Point:
    __slots__ = ("x", "_label")

    def __init__(self, x):
        self.x, self._label = x, "corner"

@dataclasses.dataclass
class Options:
    rate: float = 0.5
    point: Point = dataclasses.field(default_factory=lambda: Point(1.0))
    names: list = dataclasses.field(default_factory=lambda: ["low", "high"])

@dataclasses.dataclass(slots=True)
class Limits:
    low: float = -1.0
    strict: bool = False

class Holder(layers.Layer):
    def __init__(self, options, other, **settings):
        super().__init__(**settings)
        self.options, self.other, self.best, self._limits = options, other, other, Limits(0.5)
        self.state, self.limits = types.SimpleNamespace(owner=self, step=1), [Limits(), Limits(2.0)]

    def call(self, x):
        low = self.limits[0].low + self._limits.low + self.state.step
        return x * self.options.rate + self.options.point.x * self.other.point.x + low

options, other = Options(), Options(0.7)
model = around(lambda x: Holder(options, other)(layers.Dense(2)(Holder(options, Options(0.9))(x))))
""",
    "functions": """
class Applies(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.steps, self._hidden, self.dense = [scaled, shift(2.0, [1])], shift(3.0, [1, 2]), layers.Dense(3)
        self.after = {"first": functools.partial(scaled, by=1.0), "then": self.end}
        self.finish = lambda x: self.dense(x) + 1.0

    def end(self, x):
        return x + 1.0

    def call(self, x):
        for step in [*self.steps, *self.after.values(), self._hidden, self.finish]:
            x = step(x)
        return x

model = around(lambda x: Applies()(x))
""",
    "weights": """
class Weights(layers.Layer):
    def build(self, shape):
        own = dict(shape=(3, 3), regularizer=keras.regularizers.L1(0.1))
        self._kernel = self.add_weight(name="kernel", initializer="glorot_uniform", **own)
        self.other = self.add_weight(name="other", initializer="random_normal", **own)
        self.limit = self.add_weight(name="limit", shape=(3,), initializer="ones", constraint="non_neg")
        self.count = self.add_weight(name="count", shape=(), initializer="zeros", trainable=False)
        self.main = self.other

    def call(self, x):
        return x @ self._kernel * self.limit + x @ self.main + self.count

model = around(lambda x: layers.Dense(3)(Weights()(Weights()(x))))
""",
    "settings": """
class Swish:
    def __init__(self, beta):
        self.beta, self._shift = beta, 0.5

    def __call__(self, x):
        return x * keras.activations.sigmoid(self.beta * x) + self._shift

class Small(keras.regularizers.Regularizer):
    def __init__(self):
        self.rate, self._power = 0.1, 2

    def __call__(self, weight):
        return self.rate * tf.reduce_sum(weight ** self._power)

    def get_config(self):
        return {}

def passes(x):
    y = layers.Dense(3, kernel_initializer=keras.initializers.GlorotUniform(seed=3), kernel_regularizer=Small())(x)
    y = layers.GaussianNoise(0.2, seed=5)(layers.Dropout(0.4, noise_shape=(None, 3), seed=4)(y))
    return layers.Dense(2, activation=Swish(1.5), bias_constraint="non_neg", activity_regularizer=Small())(y)

model = around(passes)
""",
    "trained": """
class Weighted(keras.losses.Loss):
    def __init__(self):
        super().__init__()
        self.factor, self._points, self.mode = 2.0, [1.0, 2.0], "plain"

    def call(self, y_true, y_pred):
        return tf.reduce_mean(tf.square(y_true - y_pred), -1) * self.factor * self._points[1]

class Scaled(keras.metrics.Mean):
    def __init__(self, layer=None, name="scaled"):
        super().__init__(name=name)
        self.by, self.layer, self._names = 3.0, layer, {"a": 1.0}

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_pred * self.by * self._names["a"])

@keras.saving.register_keras_serializable()
class Steps(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self):
        self.after = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9, staircase=True)
        self.first, self._rates = 0.1, np.array([1.0, 0.5], "float32")

    def __call__(self, step):
        return self.first * self.after(step) * self._rates[0]

    def get_config(self):
        return {}

class Slow(keras.optimizers.SGD):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.slowness, self._history, self.layer = 2.0, [0.5], None

    def apply_gradients(self, grads_and_vars, *args, **options):
        slow = [(gradient / self.slowness, variable) for gradient, variable in grads_and_vars]
        return super().apply_gradients(slow, *args, **options)

x = keras.Input((3,))
model = keras.Model(x, [layers.Dense(2, name="one")(x), layers.Dense(2, name="two")(x)])
optimizer = Slow(Steps(), momentum=0.9, nesterov=True)
optimizer.layer = model.layers[1]
losses, metrics = [Weighted(), keras.losses.Huber(0.7)], [["mse"], [Scaled(model.layers[2])]]
model.compile(optimizer, losses, loss_weights=[1.0, 0.5], metrics=metrics)
""",
    "standard": """
def distance(y_true, y_pred):
    return tf.reduce_mean(tf.abs(y_true - y_pred), -1) * LIMIT

model = around(lambda x: layers.Dense(2)(layers.BatchNormalization()(x)))
rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
metrics = [keras.metrics.MeanAbsoluteError(name="m"), distance]
model.compile(keras.optimizers.Adam(rate, beta_1=0.8, clipnorm=1.0), distance, metrics=metrics)
""",
}

_OF_KERAS_3 = {
    "cell": """
class Cell(layers.Layer):
    def __init__(self, units=2, **options):
        super().__init__(**options)
        self.units, self.state_size, self.output_size, self.decay = units, units, units, 0.5
        self.inside = layers.Dense(units)

    def build(self, shape):
        self.inside.build(shape)

    def call(self, x, states, training=None):
        state = self.inside(x) + states[0] * self.decay
        return state, [state]

x = keras.Input(batch_shape=(2, 4, 3))
y = layers.Bidirectional(layers.GRU(2, return_sequences=True), merge_mode="sum")(layers.Masking()(x))
y = layers.RNN([layers.LSTMCell(3), Cell()], return_sequences=True)(y)
model = keras.Model(x, layers.SimpleRNN(3, stateful=True, go_backwards=True)(y))
""",
    "seeds": """
class Noise(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.generator, self.other = keras.random.SeedGenerator(7), keras.random.SeedGenerator(8)

    def call(self, x):
        return x + keras.random.normal(keras.ops.shape(x), seed=self.generator)

model = around(lambda x: Noise()(keras.ops.clip(x * 2.0, -1.0, 0.5)))
""",
}

_KNOWN = """
adapted-lookup adapted-normalization compile-auc-weights discretization-policy frozen-attention frozen-conv-lstm
hashed-crossing-trainable lora-alpha-dense lora-alpha-embedding operation-arguments policy-of-model quantized-order
random-shear sequential-trainable simple-rnn-seed tf-activity-regularizer tf-batch-normalization-options tf-ellipsis
tf-frozen-attention tf-frozen-lookup tf-kept-calls tf-nested-weight-name tf-random-seed tf-sequential-trainable
"""
"""Known issues whose models hold what the others do not."""

MODELS: dict[str, str] = {}
"""The source of each model, by its generation and name."""
for generation in ("keras", "tf_keras"):
    MODELS[f"{generation}/rich"] = case_of_rich(RICH, generation).source
    MODELS |= {f"{generation}/{name}": planted(name, generation).source for name in PLANTED if name != "given"}
    own = {**_BOTH, **(_OF_KERAS_3 if generation == "keras" else {})}
    MODELS |= {f"{generation}/{name}": _HEAD.replace("GENERATION", generation) + body for name, body in own.items()}
for name in _KNOWN.split():
    MODELS[f"{example(name).generation}/{name}"] = example(name).source
