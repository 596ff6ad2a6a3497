"""Sources of small models, in both generations, with everything that cloning can break."""

from __future__ import annotations

from tests.helpers.example_graphs import graph_of_issue
from tests.planted.models import MODELS as PLANTED
from tests.planted.models import case as planted

_HEAD = """
import collections, dataclasses, functools, types
import numpy as np
import tensorflow as tf
import GENERATION as keras
layers = keras.layers
LIMIT, TABLE = 2.0, {"by": 3.0}

def model_with(function, shape=(3,), **options):
    x = keras.Input(shape, **options)
    return keras.Model(x, function(x))

def scaled(x, by=3.0, *, plus=1.0):
    return x * by * TABLE["by"] + plus * LIMIT

def shift(amount, rows):
    def shifted(x):
        return x * amount + len(rows)
    return shifted
"""

_BODIES = {
    "rich": """
def scaled(x, by=2.0):
    return x * by

first = keras.Input((3, 4), name="first")
second = keras.Input((3, 4), name="second")
shared = layers.Dense(4, name="shared", activity_regularizer="l2")
u = shared(layers.Masking(name="masking")(first))
v = shared(second)
w = shared(u)
v = layers.Lambda(scaled, arguments={"by": 3.0}, output_shape=(3, 4), name="scaled")(v)
frozen = layers.LayerNormalization(name="frozen", trainable=False)
x = frozen(layers.Add(name="add")([u, v, w]))
x = layers.Dropout(0.4, name="drop")(x)
mask = layers.Lambda(lambda t: t[:, :, 0] > 0.0, output_shape=(3,), name="mask")(second)
y = layers.LSTM(4, name="lstm")(v, mask=mask)
z = layers.BatchNormalization(name="norm")(x, training=True)
inner_in = keras.Input((4,), name="inner_in")
inner = keras.Model(inner_in, layers.Dense(2, name="inner_dense")(inner_in), name="inner")
model = keras.Model([first, second], [z, inner(y), z], name="rich")
""",
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
        self.steps, self._hidden = [scaled, shift(2.0, [1])], shift(3.0, [1, 2])
        self.after = {"first": functools.partial(scaled, by=1.0), "then": self.end}
        self.finish = lambda x: self._main(x) + 1.0

    def end(self, x):
        return self.last(x) + 1.0

    def call(self, x):
        for part in [*self.heads, *(self.named[name] for name in self.order), *self.steps, *self.after.values()]:
            x = part(x)
        return self.finish(self._hidden(x))

model = model_with(lambda x: Parts()(x))
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
        self.table, self.rows = np.arange(6.0, dtype="float32").reshape(2, 3), np.array([1, 0])
        self.shift, self.scale = tf.constant([1.0, 2.0, 3.0]), tf.constant([3.0, 2.0, 1.0])
        self._factors = {"a": np.array([0.5, 1.5], "float32"), "b": [tf.constant(2.0), 0.25]}

    def build(self, shape):
        own = dict(shape=(3,), regularizer=keras.regularizers.L1(0.1))
        self._first = self.add_weight(name="first", initializer="random_normal", **own)
        self.second = self.add_weight(name="second", initializer="ones", constraint="non_neg", **own)
        self.main, self._count = self.second, self.add_weight(name="count", shape=(), trainable=False)

    @property
    def gain(self):
        return self._gain * self.pair.left + self._factors["a"][0] * self._factors["b"][1]

    def call(self, x):
        total = x * self.gain * self.main + self.table[int(self.rows[0])] + self.shift * self.scale + self._count
        return total * self._first if self._strict and self._mode == "sum" else total

model = model_with(lambda x: layers.Dense(3)(Values(name="a")(Values(name="b")(x))))
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
model = model_with(lambda x: Holder(options, other)(layers.Dense(2)(Holder(options, Options(0.9))(x))))
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

model = model_with(passes)
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
}

_ISSUES = """
adapted-lookup adapted-normalization compile-auc-weights compile-own-function frozen-attention frozen-conv-lstm
grayscale-seed lora-alpha-dense operation-arguments operation-partial quantized-order random-shear
sequential-trainable spatial-dropout-policy tf-activity-regularizer tf-array-argument tf-backward-layer
tf-batch-normalization-options tf-ellipsis tf-frozen-own-layer tf-nested-weight-name tf-random-seed
tf-thawed-own-layer
"""
"""Known issues whose models add further features."""

MODELS: dict[str, str] = {}
"""The source of each model, by generation and name."""
for generation in ("keras", "tf_keras"):
    MODELS |= {f"{generation}/{name}": planted(name, generation).source for name in PLANTED if name != "given"}
    MODELS |= {f"{generation}/{name}": _HEAD.replace("GENERATION", generation) + body for name, body in _BODIES.items()}
for name in _ISSUES.split():
    MODELS[f"{graph_of_issue(name).generation}/{name}"] = graph_of_issue(name).source
