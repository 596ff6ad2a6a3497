"""Small models that between them have everything a planted fault can break."""

from __future__ import annotations

from clonediff.harness.subjects import Case

HEAD = "import {keras} as keras\nfrom {keras} import layers\n"

MODELS = {
    "several": """
def split(x, factor=3.0):
    return [x * factor, x + 1.0]

a = keras.Input((3,), name="a")
one, two = layers.Lambda(split, arguments={{"factor": 5.0}}, name="split")(a)
shared = layers.Dense(2, name="shared")
left, right = shared(one), shared(two)
out = layers.Dense(2, name="out")(left)
other = layers.Dense(2, activity_regularizer="l2", name="other")(right)
model = keras.Model(a, [out, other, out], name="several")
""",
    "noise": """
a = keras.Input((6,), name="a")
frozen = layers.Dense(4, name="frozen")
frozen.trainable = False
x = layers.LeakyReLU(0.25, name="leaky")(frozen(a))
x = layers.Dropout(0.5, name="drop")(x, training=None)
x = layers.GaussianNoise(0.3, name="noise")(x, training=True)
x = layers.BatchNormalization(name="norm")(x)
y = layers.Dense(2, name="y")(x)
model = keras.Model(a, {{"y": y, "x": x}}, name="noise")
""",
    "nested": """
class Joined(layers.Layer):
    def call(self, tensors, scale=1.0):
        first = tensors[0] * scale
        return first + tensors[1] if isinstance(tensors, tuple) else first - tensors[1]

    def compute_output_shape(self, shapes):
        return shapes[0]

a = keras.Input((4,), name="a")
shared = layers.Dense(4, name="shared")
b = keras.Input((4,), name="b")
inner = keras.Model(b, layers.Dense(4, name="within")(shared(b)), name="inner")
x = Joined(name="joined")((inner(a), shared(a)), scale=2.0)
y = layers.Dense(1, name="y")(x)
z = layers.Dense(1, name="z")(x)
model = keras.Model(a, [y, z], name="nested")
""",
    "named": """
first = keras.Input((4,), name="first")
second = keras.Input((4,), name="second")
inner = keras.Model([first, second], layers.Subtract(name="less")([first, second]), name="inner")
a = keras.Input((4,), name="a")
x = layers.Dense(4, name="x")(a)
model = keras.Model(a, inner({{"first": a, "second": x}}), name="named")
""",
    "own": """
class OwnModel(keras.Model):
    def __init__(self, factor=1.0, **kwargs):
        a = keras.Input((4,), name="a")
        super().__init__(a, layers.Dense(2, name="x")(a), **kwargs)
        self.factor = factor

    def get_config(self):
        return {{"name": self.name, "factor": self.factor}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)

model = OwnModel(2.0, name="own")
""",
    "held": """
class Louder(layers.Layer):
    def __init__(self, depth=1, **kwargs):
        super().__init__(**kwargs)
        self.depth = depth
        self._register_call_context_args("gain")
        self.inner = Louder(depth - 1, name="inner") if depth else None

    def call(self, x, gain=None):
        x = x * 1.0 if gain is None else x * gain
        return x if self.inner is None else self.inner(x)

class Tied(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.encode = layers.Dense(4, name="encode")
        self.width = None

    def build(self, input_shape):
        self.encode.build(input_shape)
        self.built = True

    def call(self, x):
        self.width = float(x.shape[-1])
        return self.encode(x) @ self.encode.kernel

a = keras.Input((4,), name="a")
model = keras.Model(a, Tied(name="tied")(Louder(name="louder")(a, gain=2.0)), name="held")
""",
    "ragged": """
words = keras.Input((None,), dtype="int32", ragged=True, name="words")
x = layers.Embedding(9, 4, name="embed")(words)
model = keras.Model(words, [x, layers.GlobalAveragePooling1D(name="mean")(x)], name="ragged")
""",
    "states": """
words = keras.Input((2,), dtype="int32", name="words")
x = layers.Embedding(9, 4, mask_zero=True, name="embed")(words)
begin = layers.Dense(3, name="begin")(layers.Flatten(name="flat")(x))
rnn = layers.SimpleRNN(3, name="rnn")(x, initial_state=[begin], mask=words > 3)
mean = layers.GlobalAveragePooling1D(name="mean")(x, mask=words < 7)
model = keras.Model(words, [rnn, mean], name="states")
""",
    "masks": """
words = keras.Input((5,), dtype="int32", name="words")
x = layers.Embedding(9, 4, mask_zero=True, name="embed")(words)
mask = words > 3
x = layers.Lambda(lambda x: x * 2.0, mask=lambda inputs, mask: mask, name="double")(x)
x = layers.SimpleRNN(3, return_sequences=True, name="rnn")(x)
y = layers.SimpleRNN(2, name="last")(x, mask=mask)
model = keras.Model(words, y, name="masks")
""",
}
"""Those with recurrent layers last: by day they go through the faults that no other model shows."""

INPUTS = {
    "masks": {"shape": [5], "dtype": "int32", "fill": "ids", "high": 9},
    "states": {"shape": [2], "dtype": "int32", "fill": "ids", "high": 9},
    "several": {"shape": [3], "dtype": "float32", "fill": "normal"},
    "noise": {"shape": [6], "dtype": "float32", "fill": "normal"},
    "nested": {"shape": [4], "dtype": "float32", "fill": "normal"},
    "named": {"shape": [4], "dtype": "float32", "fill": "normal"},
    "ragged": {"shape": [None], "dtype": "int32", "fill": "ids", "high": 9},
    "own": {"shape": [4], "dtype": "float32", "fill": "normal"},
    "held": {"shape": [4], "dtype": "float32", "fill": "normal"},
}


def case(name: str, generation: str) -> Case:
    """A model in the words of a generation."""
    return Case((HEAD + MODELS[name]).format(keras=generation), (INPUTS[name],), seed=5)
