"""What weights begin with: a constant is another where it is, and nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.trial import CloneTrial, run
from clonediff.reports.records import Difference
from tests.waiting import PATIENCE

from .making import altered, chain, faithful

GENERATIONS = ("keras", "tf_keras")
ORIGINAL = altered(chain("Dense", "LSTM"), ("begins", ["drawn", "zeros", "", "ones"]))
CLONE = altered(faithful(ORIGINAL), ("observation.begins", ["x", "zeros", "y", "ones"]))

HEAD = """
import numpy as np
import {keras} as keras
from {keras} import layers

inputs = keras.Input(shape=(4,), name="inputs")
"""
OTHERS = {
    "trained": """
model = keras.Model(inputs, layers.Dense(2)(inputs))
model.compile(loss="mse", optimizer="sgd")
model.train_on_batch(np.ones((3, 4)), np.ones((3, 2)))
""",
    "set": """
model = keras.Model(inputs, layers.Dense(2)(layers.BatchNormalization()(inputs)))
model.set_weights([np.full(each.shape, 2.0) for each in model.get_weights()])
""",
    "one number, of either sign": """
model = keras.Model(inputs, layers.Dense(1, kernel_initializer="orthogonal")(layers.Dense(1)(inputs)))
""",
    "a seed of its own": """
draw = keras.initializers.RandomUniform(seed=5)
model = keras.Model(inputs, layers.Dense(1, kernel_initializer=draw)(inputs))
""",
    "drawn by one of its own": """
class Drawn(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **more):
        return np.random.randint(0, 2, shape).astype("float32")

keras.utils.get_custom_objects()["Drawn"] = Drawn
model = keras.Model(inputs, layers.Dense(3, kernel_initializer=Drawn())(inputs))
""",
    "set while it is built": """
class Grid(layers.Layer):
    grid_initializer = keras.initializers.Zeros()

    def build(self, input_shape):
        self.grid = self.add_weight(shape=(4,), initializer=self.grid_initializer, name="grid")
        self.set_weights([np.array([0.5, 1.0, 1.5, 2.0])])
        super().build(input_shape)

    def call(self, x):
        return x * self.grid

class Drawn(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **more):
        return np.random.randint(0, 2, shape).astype("float32")

keras.utils.get_custom_objects().update(Grid=Grid, Drawn=Drawn)
model = keras.Model(inputs, layers.Dense(3, kernel_initializer=Drawn())(Grid()(inputs)))
""",
    "a table": """
table = keras.initializers.Constant(0.25)
model = keras.Model(inputs, layers.Dense(2, kernel_initializer=table, bias_initializer="ones")(inputs))
""",
}
TABLE = "np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5], [6.5, 7.5]])"
CONSTANTS = {
    "an object": ("", f"layers.Dense(2, use_bias=False, kernel_initializer=keras.initializers.Constant({TABLE}))"),
    "a config": (
        "",
        "layers.Dense(2, use_bias=False, kernel_initializer="
        f"keras.initializers.serialize(keras.initializers.Constant({TABLE}.tolist())))",
    ),
    "a class of its own": (
        f"""
class Table(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **more):
        return keras.backend.constant({TABLE}, dtype) if hasattr(keras.backend, "constant") else {TABLE}
keras.utils.get_custom_objects()["Table"] = Table
""",
        "layers.Dense(2, use_bias=False, kernel_initializer=Table())",
    ),
    "a function": (
        f"""
def table(shape, dtype=None, **more):
    return keras.backend.constant({TABLE}, dtype) if hasattr(keras.backend, "constant") else {TABLE}
keras.utils.get_custom_objects()["table"] = table
""",
        "layers.Dense(2, use_bias=False, kernel_initializer=table)",
    ),
    "a fixed seed": (
        "",
        "layers.Dense(2, use_bias=False, kernel_initializer=keras.initializers.RandomUniform(seed=5))",
    ),
    "given to add_weight": (
        f"""
class Given(layers.Layer):
    def build(self, input_shape):
        self.held = self.add_weight(shape=(4, 2), initializer=keras.initializers.Constant({TABLE}), name="held")
        super().build(input_shape)

    def call(self, x):
        return x @ self.held
keras.utils.get_custom_objects()["Given"] = Given
""",
        "Given()",
    ),
    "set while it is built": (
        f"""
class Set(layers.Layer):
    def build(self, input_shape):
        self.held = self.add_weight(shape=(4, 2), initializer="zeros", name="held")
        self.held.assign({TABLE})
        super().build(input_shape)

    def call(self, x):
        return x @ self.held
keras.utils.get_custom_objects()["Set"] = Set
""",
        "Set()",
    ),
    "set once it is drawn": (
        """
class Projected(layers.Layer):
    def build(self, input_shape):
        self.held = self.add_weight(shape=(4, 2), initializer="glorot_uniform", name="held")
        self.held.assign(np.random.default_rng(0).normal(size=(4, 2)))
        super().build(input_shape)

    def call(self, x):
        return x @ self.held
keras.utils.get_custom_objects()["Projected"] = Projected
""",
        "Projected()",
    ),
    "an array": ("", f"layers.Dense(2, use_bias=False, kernel_initializer={TABLE})"),
}
GATES = """
x = layers.Reshape((1, 4))(inputs)
model = keras.Model(inputs, layers.LSTM(3, name="lstm")(x))
"""


def _tried(process: SubjectProcess, body: str, cloner: str) -> CloneTrial:
    keras = "tf_keras" if process.subject.generation == "tf_keras" else "keras"
    given = {"shape": [4], "dtype": "float32", "fill": "normal"}
    trial = run(Case(HEAD.format(keras=keras) + body, (given,), seed=5), process, (cloner,), timeout=PATIENCE)
    assert trial.built, (trial.refused, trial.lost)
    return trial.clones[cloner]


def _initial_values(differences: tuple[Difference, ...]) -> list[tuple[str, str]]:
    return [(one.path, one.aspect) for one in differences if one.aspect.startswith("first value")]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        pytest.param([], [], id="the same"),
        pytest.param([("begins.1", "ones")], [("weights[1].value", "first value")], id="another constant"),
        pytest.param([("begins.0", "zeros")], [], id="drawn for all that is known"),
        pytest.param(
            [("begins.0", "zeros"), ("shape.weights.0.value", "zeros")],
            [("weights[0].value", "first value set")],
            id="a constant where the original is drawn",
        ),
        pytest.param([("begins.1", "ones"), ("shape.weights.1.shape", [3])], [], id="of another shape"),
        pytest.param([("begins.1", "ones"), ("fresh.1", False)], [], id="the original's own value"),
        pytest.param([("begins", [])], [], id="not asked"),
    ],
)
def test_only_another_constant_is_told(changes: list[tuple[str, object]], found: list[tuple[str, str]]) -> None:
    clone = altered(CLONE, *((f"observation.{path}", value) for path, value in changes))
    assert _initial_values(tuple(compare(ORIGINAL, clone, ["own"]))) == found


def test_a_single_number_may_have_been_drawn() -> None:
    for size, found in (1, []), (2, [("weights[0].value", "first value set")]):
        original = altered(ORIGINAL, ("shape.weights.0.shape", [size, 1]))
        set_ = ("observation.begins.0", "one"), ("observation.shape.weights.0.value", "one")
        assert _initial_values(tuple(compare(original, altered(faithful(original), *set_), ["own"]))) == found


@pytest.mark.parametrize("subject", GENERATIONS)
@pytest.mark.parametrize("model", OTHERS)
def test_a_faithful_clone_begins_as_the_original_did(
    subject: str, model: str, warm: Callable[[str], SubjectProcess]
) -> None:
    assert _initial_values(_tried(warm(subject), OTHERS[model], "fixed").differences) == []


@pytest.mark.parametrize(
    "layer",
    [
        "layers.Dense(4, kernel_initializer=keras.initializers.TruncatedNormal(seed=7, stddev=0.5))",
        "layers.ReversibleEmbedding(6, output_dim=1)",
    ],
)
def test_what_quantizing_makes_is_nothing_that_a_clone_begins_with(
    layer: str, warm: Callable[[str], SubjectProcess]
) -> None:
    body = f"model = keras.Model(inputs, {layer}(inputs))\nmodel.quantize('int8')\nmodel(model.input)\n"
    assert _initial_values(_tried(warm("keras"), body, "fixed").differences) == []


@pytest.mark.parametrize("subject", GENERATIONS[:2])
def test_what_a_layer_sets_while_it_is_built_is_no_copy(subject: str, warm: Callable[[str], SubjectProcess]) -> None:
    body = """
class Projection(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(4, use_bias=False)

    def build(self, input_shape):
        self.dense.build(input_shape)
        self.dense.kernel.assign(np.eye(4))
        super().build(input_shape)

    def call(self, x):
        return self.dense(x)

    def get_config(self):
        return super().get_config()

model = keras.Model(inputs, Projection()(inputs))
"""
    found = _tried(warm(subject), body, "fixed").differences
    assert [one.aspect for one in found if one.check == "own"] == []


@pytest.mark.parametrize("subject", GENERATIONS)
@pytest.mark.parametrize(
    ("model", "fault", "found"),
    [
        ("a table", "first_values_doubled", ["first value"] * 2),
        ("set", "first_values_changed", ["first value"] * 3),
        ("trained", "first_values_not_drawn", ["first value set"]),
    ],
)
def test_a_clone_that_begins_otherwise_is_told(
    subject: str, model: str, fault: str, found: list[str], warm: Callable[[str], SubjectProcess]
) -> None:
    told = _initial_values(_tried(warm(subject), OTHERS[model], f"planted/{fault}").differences)
    assert [aspect for _, aspect in told] == found


@pytest.mark.parametrize("subject", GENERATIONS[:2])
@pytest.mark.parametrize("way", CONSTANTS)
def test_a_constant_is_compared_however_it_came_in(
    way: str, subject: str, warm: Callable[[str], SubjectProcess]
) -> None:
    if way == "an array" and subject == "tf_keras":
        pytest.skip(reason="tf_keras takes no array for an initializer")
    before, layer = CONSTANTS[way]
    body = f"{before}\nmodel = keras.Model(inputs, {layer}(inputs))\n"
    for cloner, found in ("fixed", []), ("planted/first_values_doubled", [("weights[0].value", "first value")]):
        assert _initial_values(_tried(warm(subject), body, cloner).differences) == found, cloner


@pytest.mark.parametrize("subject", GENERATIONS)
def test_a_constant_of_several_numbers_is_one(subject: str, warm: Callable[[str], SubjectProcess]) -> None:
    told = _initial_values(_tried(warm(subject), GATES, "planted/first_values_doubled").differences)
    assert told == [("weights[2].value", "first value")]  # the bias: zeros, and ones for the gate that forgets


@pytest.mark.parametrize("subject", GENERATIONS[:2])
def test_what_a_fixed_seed_gives_is_a_constant_that_is_lost_with_the_seed(
    subject: str, warm: Callable[[str], SubjectProcess]
) -> None:
    body = """
class Forgetful(layers.Layer):
    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.draw = keras.initializers.RandomUniform(seed=seed)

    def build(self, input_shape):
        self.held = self.add_weight(shape=(4, 2), initializer=self.draw, name="held")
        super().build(input_shape)

    def call(self, x):
        return x @ self.held

    def get_config(self):
        return super().get_config()

model = keras.Model(inputs, Forgetful(seed=5)(inputs))
"""
    told = _initial_values(_tried(warm(subject), body, "upstream").differences)
    assert told == [("weights[0].value", "first value")]
