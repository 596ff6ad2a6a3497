"""What a trial says of models and their clones, on both generations."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from clonediff.harness.subjects.observation import Answer
from clonediff.harness.trials.checks import compare
from tests.planted import planted

from .child import Child, without_idents
from .conftest import LATER
from .models import CHAIN, FLOATS, NAMED, NO_LAMBDA, RICH, STEPS, case


def _answer(
    child: Child, body: str, *inputs: dict[str, Any], cloners: tuple[str, ...] = ("fixed",), costly: bool = False
) -> Any:
    return child.answer(case(body, child.generation, *inputs), list(cloners), costly)


@pytest.mark.parametrize("body", [CHAIN, RICH, NAMED], ids=["chain", "rich", "named"])
def test_a_faithful_clone_is_seen_as_one(child: Child, body: str) -> None:
    inputs = [STEPS, FLOATS] if body is RICH else [STEPS]
    answer = _answer(child, body, *inputs, costly=True)
    original, clone = answer["original"], answer["clones"]["fixed"]
    assert set(clone) == {"observation", "again", "twice"}
    for part in ("inference", "training", "trained", "copied_weights"):
        assert clone["observation"][part] == original[part], part
    assert "failure" not in original["inference"]
    assert without_idents(clone["observation"]["shape"]) == without_idents(original["shape"])
    assert without_idents(clone["again"]["shape"]) == without_idents(original["shape"])
    assert without_idents(clone["twice"]["shape"]) == without_idents(original["shape"])
    assert all(clone["observation"]["fresh"])


@pytest.mark.parametrize("child", ["keras"], indirect=True)  # no optimizer of tf_keras accumulates gradients
def test_a_model_that_accumulates_gradients_can_be_trained(child: Child) -> None:
    body = CHAIN + "\nmodel.compile(keras.optimizers.SGD(gradient_accumulation_steps=2), 'mse')\n"
    answer = _answer(child, body, STEPS, costly=True)
    assert answer["clones"]["fixed"]["observation"]["trained"] == answer["original"]["trained"]


def test_clone_shares_no_object_with_the_original(child: Child) -> None:
    answer = _answer(child, RICH, STEPS, FLOATS)
    seen = [answer["original"]["shape"], answer["clones"]["fixed"]["observation"]["shape"]]
    ours, theirs = (
        {each["ident"] for part in ("layers", "weights", "states") for each in shape[part]} for shape in seen
    )
    assert not ours & theirs


def test_layers_calls_and_roles(child: Child) -> None:
    shape = _answer(child, RICH, STEPS, FLOATS, cloners=())["original"]["shape"]
    layers = {layer["name"]: (number, layer) for number, layer in enumerate(shape["layers"])}
    shared, calls = layers["shared"][0], layers["shared"][1]["calls"]
    assert len(calls) == 3
    assert calls[2]["args"] == [{"tensor": [shared, 0, 0]}]
    inner = layers["inner"][0]
    assert layers["inner_dense"][1]["inside"] == inner
    cell = next(layer for layer in shape["layers"] if layer["role"] == "cell")
    assert cell["inside"] == layers["lstm"][0]
    assert layers["lstm"][1]["calls"][0]["kwargs"] == {"mask": {"tensor": [layers["mask"][0], 0, 0]}}
    assert [end["tensor"] for end in shape["outputs"]] == [
        [layers["norm"][0], 0, 0],
        [inner, 0, 0],
        [layers["norm"][0], 0, 0],
    ]
    assert layers["scaled"][1]["config"]["arguments"].endswith("by: 3.0}")


def test_every_layer_says_what_it_gave(child: Child) -> None:
    original = _answer(child, RICH, STEPS, FLOATS, cloners=())["original"]
    names = [layer["name"] for layer in original["shape"]["layers"]]
    steps = original["inference"]["steps"]
    seen = {names[step["layer"]] for step in steps}
    assert {"masking", "shared", "scaled", "add", "frozen", "drop", "lstm", "norm", "inner", "inner_dense"} <= seen
    assert [step["use"] for step in steps if names[step["layer"]] == "shared"] == [0, 1, 2]
    masked = next(step for step in steps if names[step["layer"]] == "masking")
    assert masked["outputs"][0]["mask"]
    last = original["inference"]["outputs"]
    assert steps[-1]["outputs"][0]["digest"] in {leaf["digest"] for leaf in last}


def test_structure_of_outputs(child: Child) -> None:
    original = _answer(child, NAMED, cloners=())["original"]
    assert original["shape"]["input_structure"] == {"dict": [["x", 0]]}
    run = original["inference"]
    places = dict(run["structure"]["dict"])
    assert run["outputs"][places["a"]]["shape"] == [2, 3, 4]
    assert run["outputs"][places["b"]]["shape"] == [2, 3, 2]


def test_training_differs_from_inference_and_leaves_nothing_behind(child: Child) -> None:
    answer = _answer(child, NO_LAMBDA, cloners=("fixed", "upstream"), costly=True)
    original = answer["original"]
    assert original["inference"]["outputs"] != original["training"]["outputs"]
    for clone in answer["clones"].values():
        for part in ("inference", "training", "trained"):
            assert clone["observation"][part] == original[part]
        assert "original_after" not in clone


def test_every_float_weight_has_numbers_of_its_own(child: Child) -> None:
    original = _answer(child, NO_LAMBDA, cloners=())["original"]
    assert len(set(original["copied_weights"])) == len(original["copied_weights"]) == 6


def test_cloners_that_go_through_configs_and_copies(child: Child) -> None:
    answer = _answer(child, NO_LAMBDA, cloners=("roundtrip", "deepcopy"))
    assert answer["clones"]["roundtrip"]["observation"]["inference"] == answer["original"]["inference"]
    copied = answer["clones"]["deepcopy"]["observation"]
    assert copied["brought"] == answer["original"]["copied_weights"]
    assert copied["fresh"] == [True] * 6, "it is to bring these values"
    assert "brought" not in answer["clones"]["roundtrip"]["observation"]


@pytest.mark.parametrize("fault", ["original_frozen", "original_reset"])
def test_after_a_cloner_that_changes_the_original_no_other_is_called(child: Child, fault: str) -> None:
    answer = _answer(child, NO_LAMBDA, cloners=("fixed", planted(fault), "upstream"))
    assert list(answer["clones"]) == ["fixed", planted(fault)]
    fixed, changed = answer["clones"].values()
    values = {weight.get("value") for weight in changed["original_after"]["weights"]}
    assert ("changed" in values) is (fault == "original_reset")
    assert "original_after" not in fixed
    assert without_idents(fixed["observation"]["shape"]) == without_idents(answer["original"]["shape"])


CALLED = """
class Noted(layers.Layer):
    def call(self, x, training=None):
        self.mode = bool(training)
        return x * 2

    def get_config(self):
        return super().get_config()

x = keras.Input((4,), name="x")
model = keras.Model(x, layers.Dense(2)(Noted()(x)))
"""


def test_what_a_layer_notes_when_it_is_called_is_no_change_by_a_cloner(child: Child) -> None:
    numbers = {"shape": [4], "dtype": "float32", "fill": "normal"}
    frozen = planted("original_frozen")
    answer = _answer(child, CALLED, numbers, cloners=("upstream", "fixed", frozen), costly=True)
    changed = [name for name, clone in answer["clones"].items() if "original_after" in clone]
    assert changed == [frozen]


COUNTED = """
import itertools

count = itertools.count()

@keras.utils.register_keras_serializable("own")
class Counted(layers.Layer):
    def call(self, x):
        return x + float(next(count))

x = keras.Input((3, 4), name="x")
model = keras.Model(x, Counted(name="counted")(x))
"""


@pytest.mark.parametrize("cloner", ["fixed", planted("layer_renamed")])
def test_of_a_model_that_is_unlike_itself_no_run_is_judged(child: Child, cloner: str) -> None:
    answer = _answer(child, COUNTED, FLOATS, cloners=(cloner,))
    assert _unlike(answer, cloner) <= {"structure", "weights"}


def _unlike(answer: dict[str, Any], cloner: str) -> set[str]:
    typed = msgspec.convert(answer, Answer)
    assert typed.original is not None
    return {each.check for each in compare(typed.original, typed.clones[cloner])}


GRADIENTS = """
import itertools
import tensorflow as tf

count = itertools.count()

@keras.utils.register_keras_serializable("own")
class Counted(layers.Layer):
    def call(self, x):
        return tf.custom_gradient(lambda x: (x, lambda gradient: gradient + float(next(count))))(x)

x = keras.Input((3,), name="x")
model = keras.Model(x, Counted(name="counted")(layers.Dense(2)(x)))
"""


def test_of_a_model_with_other_gradients_each_time_no_gradient_is_judged(child: Child) -> None:
    answer = _answer(child, GRADIENTS, {"shape": [3], "dtype": "float32"}, cloners=("fixed",), costly=True)
    assert not _unlike(answer, "fixed")


def test_a_clone_that_differs_is_judged_where_the_model_is_like_itself(child: Child) -> None:
    answer = _answer(child, RICH, STEPS, FLOATS, cloners=(planted("arguments_forgotten"),), costly=True)
    original = answer["original"]["inference"]["outputs"]
    assert any(each["observation"]["inference"]["outputs"] != original for each in answer["clones"].values())


DEFAULTS = """
class Apart(layers.Layer):
    def call(self, inputs, mask=None, training=None, by=1.0, flag=False):
        return inputs * by

inputs = keras.Input((4,))
x = Apart()(inputs, mask=None, training=None, by=1.0)
x = Apart()(x, by=2.0, flag=False)
x = Apart()(x, training=True)
x = Apart()(x, training=False)
x = Apart()(x, flag=0)
model = keras.Model(inputs, x)
"""


def test_an_argument_that_a_call_has_by_default_is_left_out(child: Child) -> None:
    shape = _answer(child, DEFAULTS, FLOATS, cloners=())["original"]["shape"]
    calls = [layer["calls"][0] for layer in shape["layers"] if layer["kind"] == "Apart"]
    assert [call["args"][1:] for call in calls] == [[]] * 5
    given: list[dict[str, Any]] = [{}, {"by": 2.0}, {"training": True}, {"training": False}, {"flag": 0}]
    assert [call["kwargs"] for call in calls] == given


@pytest.mark.parametrize("child", [pytest.param("tf_keras", marks=LATER)], indirect=True)
def test_a_default_given_by_its_place_is_left_out_too(child: Child) -> None:
    """Keras 3 takes nothing but tensors by their place."""
    body = DEFAULTS.replace("x = Apart()(x, flag=0)", "x = Apart()(x, None, None, 2.0, False)")
    shape = _answer(child, body, FLOATS, cloners=())["original"]["shape"]
    (call,) = [layer["calls"][0] for layer in shape["layers"] if layer["kind"] == "Apart"][4:]
    assert (call["args"][1:], call["kwargs"]) == ([None, None, 2.0], {})


def test_where_a_mask_comes_in_none_is_told(child: Child) -> None:
    body = """
inputs = keras.Input((3, 4))
masked = layers.Masking()(inputs)
model = keras.Model(inputs, layers.Dropout(0.5)(layers.LSTM(2)(masked, mask=None)))
"""
    shape = _answer(child, body, STEPS, cloners=())["original"]["shape"]
    (lstm,) = (layer for layer in shape["layers"] if layer["kind"] == "LSTM")
    assert lstm["calls"][0]["kwargs"] == {"mask": None}
