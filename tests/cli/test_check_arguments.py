"""`clonediff check --way`: somebody's own call of clone_model, tried on their own model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import Command

Here = Callable[..., tuple[int, str, str]]

MODELS = """
import keras
from keras import layers, ops


def tower():
    x = inputs = keras.Input((8, 8, 3), name="image")
    shared = layers.Dense(4, activation="relu", name="shared")
    x = layers.GlobalAveragePooling2D()(shared(layers.Dense(4, name="first")(x)))
    return keras.Model(inputs, layers.Dense(2, name="out")(shared(x)))


def operations():
    x = keras.Input((4,))
    return keras.Model(x, ops.relu(layers.Dense(3)(x)))


def masked():
    x = keras.Input((5,), dtype="int32")
    return keras.Model(x, layers.LSTM(2)(layers.Embedding(9, 3, mask_zero=True)(x)))


def changed(set_, value):
    def clone_function(layer):
        config = layer.get_config()
        if set_ in config:
            config[set_] = value
        return layer.__class__.from_config(config)

    return {"clone_function": clone_function}


def tanh(model):
    return changed("activation", "tanh")


def nested():
    x = keras.Input((8, 8, 3), name="image")
    return keras.Model(x, tower()(x))


def negated(model):
    return {"call_function": lambda layer, *args, **kwargs: -layer(*args, **kwargs)}


def wide(model):
    return {"input_tensors": keras.Input((16, 16, 3))}


def fails(model):
    def clone_function(layer):
        raise RuntimeError(f"{layer.name}: not today")

    return {"clone_function": clone_function}
"""


@pytest.fixture
def check(clonediff: Command, warm_commands: None, tmp_path: Path) -> Here:
    (tmp_path / "own_towers.py").write_text(MODELS)
    return lambda *arguments: clonediff("check", *arguments, "--no-costly", cwd=tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [("new-inputs",), ("remade",), ("plain-calls",), ("recursive", "remade"), ("new-inputs", "plain-calls")],
    ids=" and ".join,
)
def test_arguments_that_ask_for_a_model_like_it(arguments: tuple[str, ...], check: Here) -> None:
    code, out, err = check("own_towers.py:tower", *(f"--way={each}" for each in arguments))
    assert (code, err) == (0, ""), out
    assert f"  --way {' '.join(arguments)}\n    held against the model itself" in out
    assert out.count(": faithful in what was compared\n") == 2


@pytest.mark.parametrize(
    "clone_arguments",
    [
        *("own_towers.py:tanh", "own_towers.py:wide", "input_tensors=keras.Input((12, 12, 3))"),
        *("clone_function=lambda layer: layer", "input_tensors=model.input"),
    ],
)
def test_users_arguments_are_held_to_what_is_documented(clone_arguments: str, check: Here) -> None:
    code, out, _ = check("own_towers.py:tower", f"--way={clone_arguments}")
    assert code == 0, out
    assert "nobody knows which model your arguments ask for" in out
    assert out.count("what the clone computes was held against the model's own graph") == 2


def test_what_a_call_function_or_a_model_within_makes_unknown_is_said(check: Here) -> None:
    code, out, _ = check("own_towers.py:tower", "--way=own_towers.py:negated")
    assert code == 0, out
    assert out.count("it cannot be told (a call_function may call anything)") == 2
    code, out, _ = check("own_towers.py:nested", "--way=own_towers.py:tanh", "--way=recursive")
    assert code == 0, out
    assert out.count("it cannot be told (layers of a model within it are others, too)") == 2


def test_masks_make_it_hard_to_know_what_is_computed_and_that_is_said(check: Here) -> None:
    code, out, _ = check("own_towers.py:masked", "--way=own_towers.py:tanh", "--allow-known")
    assert code == 0, out
    assert out.count("is held against nothing: of the model's own graph it cannot be told (it hands on masks)") == 2


def test_a_clone_function_that_is_asked_for_what_is_no_layer(check: Here) -> None:
    code, out, _ = check("own_towers.py:operations", "--way=own_towers.py:tanh")
    assert code == 1
    assert "A clone function is called on an operation that is not a layer (known: clone-function-operations)" in out
    assert "  fixed: faithful" in out


def test_an_exception_of_one_s_own_arrives(check: Here) -> None:
    code, out, _ = check("own_towers.py:tower", "--way=own_towers.py:fails")
    assert code == 0, out
    assert "your function raises an exception, which arrives" in out
    assert out.count("raised RuntimeError, which arrived, and there is no clone: first: not today") == 2


def test_what_does_not_go_together(check: Here) -> None:
    code, _, err = check("own_towers.py:tower", "--way=remade", "--cloner=deepcopy")
    assert code == 2
    assert "the cloner deepcopy takes a model and nothing else" in err
    code, _, err = check("own_towers.py:tower", "--way=remake")
    assert code == 2
    assert "expected new-inputs, remade" in err
