"""The answers of `clonediff check` about users' models, with the real Keras."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import Command, run_clonediff

MASKS = ("encoder_padding_mask_1: int32 (2, 40), 0 and 1", "attentionMask: int32 (2, 40), 0 and 1")
IDS = "token_ids: int32 (2, 12), whole numbers below 7"
CHOSEN_INPUTS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "several.keras": (None, ("ids: int32 (2, 32), whole numbers below 5", "rest: float32 (2, 3)")),
    "dict.keras": (None, ("a: float32 (2, 2)", "b: float32 (2, 3)")),
    "user.py:masked": (None, (IDS, "padding_mask: int32 (2, 12), 0 and 1")),
    "user.py:vocabularies": (
        "wrapped-weight-path",
        tuple(
            f"{name}: float32 ({shape}), whole numbers below 5"
            for name, shape in (("two", "2, 4"), ("inner", "2, 4"), ("wrapped", "2, 2, 4"), ("reshaped", "2, 4"))
        ),
    ),
    "user.py:sizes": (None, ("b: float32 (4, 5)", "a: float32 (4, 32)")),
    "user.py:masks": (None, (*MASKS, "unmask: int32 (2, 40), whole numbers below 10")),
    "user.py:of_tf_keras": ("tf-compile-lost", ()),
    "tf.keras": ("tf-compile-lost", ()),
}
"""By model: the known issue that upstream shows on it, and the inputs that `check` chooses."""


@pytest.mark.parametrize("model", CHOSEN_INPUTS)
def test_check_chooses_inputs_that_suit_the_model(model: str, model_files: Path, clonediff: Command) -> None:
    known, inputs = CHOSEN_INPUTS[model]
    code, out, _ = clonediff("check", model, "--json", cwd=model_files)
    checked = json.loads(out)
    shown = {name: [cause["known"] for cause in causes] for name, causes in checked["clones"].items()}
    assert shown == {"upstream": [known] if known else [], "fixed": []}
    assert code == (known == "tf-compile-lost")
    assert not inputs or tuple(checked["inputs"]) == inputs
    assert ("tf_keras" in checked["versions"]) == ("tf" in model)


def test_an_unfaithful_upstream_clone_fails_the_check_unless_ignored(model_files: Path, clonediff: Command) -> None:
    code, out, _ = clonediff("check", "sequential.keras", cwd=model_files)
    assert code == 0, "only names differ"
    assert "except for names; nothing to do" in out and "conv2d/kernel is sequential/conv2d/kernel" in out
    code, out, _ = clonediff("check", "user.py:escapes", "--ignore", "lambda-refused", cwd=model_files)
    assert code == 0
    assert "accepted by --ignore" in out.partition("\n")[0] and "(a bug of Keras: lambda-refused)" in out
    assert "\\x1b[31mred" in out and not {"\x1b", "\x07"} & {*out}, "control characters in names are escaped"


@pytest.mark.parametrize(
    ("model", "text"),
    [
        pytest.param("legacy.h5", "expected FILE.keras or FILE.py:FUNCTION", id="another format"),
        pytest.param("user.py", "expected FILE.keras or FILE.py:FUNCTION", id="no function"),
        pytest.param("user.py:absent", "has no attribute 'absent'", id="another function"),
        pytest.param("user.py:nothing", "found NoneType", id="nothing"),
        pytest.param("user.py:unbuilt", "is not built", id="unbuilt"),
        pytest.param("user.py:needs_many", "it cannot be called on the inputs", id="no size"),
        pytest.param("junk.keras", "it is damaged", id="junk"),
        pytest.param("cut.keras", "it is damaged", id="cut"),
        pytest.param("custom.keras", "FILE.py:FUNCTION", id="a custom class"),
        pytest.param("lambda.keras", "Requested the deserialization of a `Lambda`", id="a lambda"),
    ],
)
def test_the_error_says_why_a_model_is_refused(model: str, text: str, model_files: Path, clonediff: Command) -> None:
    code, out, err = clonediff("check", model, cwd=model_files)
    assert (code, out) == (2, "")
    assert text in err


BREAKING_LINES = {
    "return model": "The clone holds ... uses variables of the original",
    "refuse() if again('once') else None": "A second clone cannot be made: RuntimeError: no: a second clone cannot be",
    "Y.name = 'z' if again('second') else 'y'": "Dense `y` has another name in a second clone: y in the model, z",
    "clone = clone_model(model, clone_function=wider)": "Dense `y`: `units` is 2 in the model, 3 in the clone",
    "DROP.call = lambda x, training=False: refuse() if training else x": "Dropout `drop`: `call` ... in training mode",
    "Y.call = refuse": "Dense `y`: `call` is missing in the model, the function `refuse` in the clone: the",
    "RNN.states[0].assign(model.get_layer('rnn').states[0])": "A state ... starts with a different state",
    "clone = keras.Model([clone.input], clone.output, name='whole')": "The inputs ... gives wrong outputs",
    "clone = keras.Model(clone.input, clone.output, name='whole')": "A state ... the clone is not compiled",
    "model.get_layer('y').trainable = False": "Cloning changes the original: a trainable Dense `y` is frozen",
}
"""By the line of a cloner that breaks a clone: the beginning of the answer."""
CLONERS = """
import keras
from clonediff import clone_model

cloned = set()


def again(name):
    return name in cloned or cloned.add(name)


def refuse(*args, **options):
    raise RuntimeError("no")


def wider(layer):
    config = layer.get_config()
    return type(layer).from_config({**config, **({"units": 3} if "units" in config else {})})
"""


def test_the_answer_describes_what_is_wrong_with_a_clone(model_files: Path, clonediff: Command) -> None:
    text, cloners = CLONERS, []
    for number, line in enumerate(BREAKING_LINES):
        line = re.sub(r"\b(Y|DROP|RNN)\b", lambda name: f"clone.get_layer('{name[0].lower()}')", line)
        text += f"\n\ndef clone{number}(model):\n    clone = clone_model(model)\n    {line}\n    return clone\n"
        cloners += ["--cloner", f"breaks_one_thing.py:clone{number}"]
    (model_files / "breaks_one_thing.py").write_text(text)
    clones = {}
    for options in (cloners[:-2], cloners[-2:]):  # the last two change the model, so they are tried on a new model
        _, out, _ = clonediff("check", "user.py:whole", *options, "--json", cwd=model_files)
        clones.update(json.loads(out)["clones"])
    for causes, expected in zip(clones.values(), BREAKING_LINES.values(), strict=True):
        headlines = ", ".join(cause["sentence"] + ": " + cause["headline"] for cause in causes)
        assert re.match(re.escape(expected).replace(r"\ \.\.\.\ ", ".*"), headlines), (expected, headlines)


def test_check_prints_a_script_that_fails_alone(model_files: Path, tmp_path: Path) -> None:
    result = run_clonediff("check", "user.py:escapes", "--script", cwd=model_files)
    assert result.returncode == 1 and "user.py:escapes: cannot be cloned (keras.models.clone_model)" in result.stderr
    script = tmp_path / "repro.py"
    script.write_text(result.stdout)
    isolated = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False)
    assert "ValueError: Requested the deserialization of a `Lambda`" in isolated.stderr
