"""`--way`: what it says, and what it cannot mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.answers.checked_model.models import ModelError
from clonediff.harness.answers.checked_model.user_arguments import NAMED, user_arguments
from clonediff.harness.subjects import Subject

KERAS, TF_KERAS = Subject.parse("keras"), Subject.parse("tf_keras")


def test_none_is_given() -> None:
    assert user_arguments(()) is None


@pytest.mark.parametrize("name", NAMED)
def test_what_has_a_name_asks_for_a_model_like_the_one_that_is_cloned(name: str) -> None:
    clone_arguments = user_arguments([name])
    assert clone_arguments is not None
    assert clone_arguments.like_the_model
    for subject in (KERAS, TF_KERAS):
        assert list(clone_arguments.on(subject)) == [NAMED[name][0]]
        for text in clone_arguments.on(subject).values():
            compile(text, "way", "eval")


def test_several_are_one_call(tmp_path: Path) -> None:
    file = tmp_path / "my_ways.py"
    file.write_text("def tanh(model): return {}\n")
    clone_arguments = user_arguments(["recursive", "input_tensors=keras.Input((3,))", f"{file}:tanh"])
    assert clone_arguments is not None
    assert not clone_arguments.like_the_model
    assert clone_arguments.on(KERAS) == {
        "recursive": "True",
        "input_tensors": "keras.Input((3,))",
        "**": "way.tanh(model)",
    }
    assert "import my_ways as way" in clone_arguments.lines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new-input"], "expected new-inputs, remade"),
        (["inputs=keras.Input((3,))"], "expected new-inputs"),
        (["input_tensors=keras.Input((3,)"], "is no expression"),
        (["input_tensors="], "is no expression"),
        (["none.py:function"], "no such file"),
        (["remade", "clone_function=print"], "clone_function is given twice"),
        (["clone_function=print", "remade"], "clone_function is given twice"),
    ],
)
def test_what_is_no_argument(words: list[str], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        user_arguments(words)
