"""Scripts that show a difference: what they compare, and that no text of a record is code in them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from msgspec.structs import replace

from clonediff.harness.scripts.alone import ScriptRunner
from clonediff.harness.scripts.comparisons import named
from clonediff.harness.scripts.reproducer import reproducer, script_of
from clonediff.harness.subjects import Case, Subject, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Difference, Place, Raised, Severity

INPUTS = ({"shape": [4], "dtype": "float32", "fill": "normal"},)
PLAIN = "inputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, keras.layers.Dense(2, name='dense')(inputs))\n"


def case(generation: str) -> Case:
    return Case(f"import {generation} as keras\n\n{PLAIN}", INPUTS)


def difference(check: str, path: str, aspect: str = "value", first: Place | None = None) -> Difference:
    return Difference(check, path, aspect, "1.0", "2.0", Severity.PROPERTY, first)


INPUT, DENSE = Place("input_layer", "InputLayer", 0), Place("dense", "Dense", 1)
SHOWN = {
    "numbers": (difference("outputs", "inference.outputs[0]"), False),
    "shape": (difference("outputs", "inference.outputs[0].shape", "shape"), True),
    "structure": (difference("outputs", "inference.structure", "structure type"), True),
    "a step": (difference("outputs", "inference.steps['dense'][0].outputs[0].shape", "shape"), False),
    "mask": (difference("masks", "training.outputs[0].mask", "mask lost"), True),
    "numbers of a mask": (difference("masks", "training.outputs[0].mask", "mask value"), False),
    "symbolic mask": (difference("masks", "layers['dense'].calls[0].masks[0]", "mask lost"), True),
    "weights": (difference("weights", "weights[0].name", "weight name"), True),
    "trainable": (difference("structure", "layers['dense'].trainable", "trainable", DENSE), True),
    "config": (difference("structure", "layers['dense'].config.units", "config.units", DENSE), True),
    "attribute": (difference("structure", "layers['dense'].attribute.units", "attribute.units", DENSE), True),
    "a mask": (difference("structure", "layers['dense'].config.use_bias", "config.use_bias", DENSE), True),
    "a call": (difference("structure", "layers['dense'].calls[0].args", "call.args missing", DENSE), False),
    "compiled": (difference("structure", "model.compiled.loss", "compiled.loss"), False),
    "untouched flag": (difference("untouched", "original.layers['dense'].trainable", "trainable", DENSE), True),
    "untouched weights": (difference("untouched", "original.weights[0].value", "weight value"), True),
    "a shared layer": (difference("own", "layers['dense']", "layer shared", DENSE), True),
    "a shared weight": (difference("own", "weights[0]", "weight shared"), True),
    "a shared object": (
        difference("own", "layers['dense'].attribute.kernel", "object shared", DENSE), True
    ),
}  # fmt: skip
"""What differs, by whether the script fails wherever it does."""


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_a_script_compares_what_differed_and_passes_where_nothing_does(generation: str) -> None:
    scripts = {}
    for name, (one, sure) in SHOWN.items():
        script = reproducer(case(generation), generation, one)
        ast.parse(script.text)
        assert (script.raises, script.sure) == ("AssertionError", sure), name
        scripts[name] = script.text
    # One process for all, since TensorFlow takes seconds to start; each has variables and names of layers of its own.
    lines = [f"import {generation}"]
    for name, text in scripts.items():
        lines += [f"{generation}.backend.clear_session()", f"exec(compile({text!r}, {name!r}, 'exec'), {{}})"]
    code, stderr = ScriptRunner(Subject.parse(generation)).run("\n".join(lines))
    assert code == 0, stderr


BROKEN = {
    "numbers": "clone.set_weights(list(map(np.zeros_like, clone.get_weights())))",
    "trainable": "clone.get_layer('dense').trainable = False",
    "config": "clone.get_layer('dense').units = 3",
    "attribute": "clone.get_layer('dense').units = 3",
    "a shared layer": "clone = model",
    "a shared weight": "clone = model",
    "a shared object": "clone = model",
    "compiled": "clone.compile(loss='mae')",
}
"""What a clone may have gone through for a script to fail."""


def test_a_script_fails_where_it_differs() -> None:
    lines = ["import keras", "import numpy as np", "failed = []"]
    for name, fault in BROKEN.items():
        text = reproducer(case("keras"), "keras", SHOWN[name][0]).text
        text = text.replace("clone_model(model)\n", f"clone_model(model)\nimport numpy as np\n{fault}\n")
        if name == "numbers":  # the weights are copied before they are compared
            text = text.replace("    other.assign(one)", "    other.assign(one * 2)")
        body = f"keras.backend.clear_session()\n    exec(compile({text!r}, 'script', 'exec'), {{}})"
        lines += [f"try:\n    {body}\nexcept AssertionError:\n    failed.append({name!r})"]
    code, stderr = ScriptRunner(Subject.parse("keras")).run(
        "\n".join((*lines, f"assert failed == {list(BROKEN)}, failed"))
    )
    assert code == 0, stderr


def test_a_crash_is_proved_by_its_own_exception_and_what_takes_too_much_is_not_claimed() -> None:
    crash = Difference(
        "made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES, raised=Raised("ValueError", "no")
    )
    assert reproducer(case("keras"), "keras", crash).raises == "ValueError"
    script = reproducer(case("keras"), "keras", difference("again", "twice.inference.outputs[0]"))
    assert (script.raises, script.sure) == ("", False)
    given = replace(case("keras"), arguments={"input_tensors": "inputs"})
    script = reproducer(given, "keras", SHOWN["trainable"][0])
    assert "clone = keras.models.clone_model(model, input_tensors=inputs)" in script.text


CODE = "))for(node)in(PWNED()or[])]for(each)in[0]]+[[((0 missing"
PLACES = (
    "{}",
    "original.{}",
    "layers['{}'].name",
    "layers['{}'].config.{}",
    "layers['dense'].config.{}",
    "layers['dense'].attribute.{}",
    "layers['{}'].calls[0].masks[0]",
    "inference.steps['{}'][0].outputs[0]",
    "original.layers['{}'].calls[0].kwargs",
    "training{}",
    "model.compiled.loss['{}'].Huber.delta",
)
ASPECTS = ("{}", "compiled.loss", "call.{} missing", "object reached.{}", "trainable{}", "state{}", "mask {}",
           "structure {}", "value")  # fmt: skip


@pytest.mark.parametrize("dialect", ["keras", "tf_keras"])
@pytest.mark.parametrize("check", ["made", "outputs", "masks", "weights", "structure", "untouched", "again", CODE])
@pytest.mark.parametrize("quote", ["", "'", '"', "\n", "{"], ids=["bare", "single", "double", "line", "brace"])
def test_no_text_of_a_record_is_code_in_a_script(check: str, dialect: str, quote: str) -> None:
    text = quote + CODE
    for path in PLACES:
        for aspect in ASPECTS:
            for raised in (None, Raised(text, text, text)):
                first = Place(text if "{}" in aspect else "dense", "Dense" if raised else "InputLayer", 1)
                at = path.format(*[text] * 2)
                one = Difference(check, at, aspect.format(text), text, text, Severity.PROPERTY, first, raised)
                tree = ast.parse(reproducer(case(dialect), dialect, one).text)
                assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "PWNED"]


NEGATES = """
import functools

import clonediff


def clone(model):
    copy = clonediff.clone_model(model)
    call = copy.layers[-1].call
    copy.layers[-1].call = functools.wraps(call)(lambda *args, **options: -call(*args, **options))
    return copy
"""


def test_numbers_are_told_and_no_comment_says_in_which_encoding_a_script_is(
    keras: SubjectProcess, tmp_path: Path
) -> None:
    (tmp_path / "negates.py").write_text(NEGATES)
    trials = GraphTrials(keras, KnownIssues(), cloners=(f"{tmp_path}/negates:clone",))
    (hit,) = trials.try_case(case("keras")).hits
    for encoding in ("coding: utf-7", "coding=raw_unicode_escape", "vim: set fileencoding=utf-7"):
        text = script_of(hit, "keras", {"keras": f"{encoding} +AAo-PWNED \\u000aPWNED"}).text
        assert tokenize.detect_encoding(io.BytesIO(text.encode()).readline) == ("utf-8", ANY)
        assert re.search(
            r"#   original: (\S+) at \[0, 0\]\n#   clone:    -?\S+ at .*\n#   6 of 6 numbers differ, by", text
        )


@pytest.mark.parametrize("cloner", ["roundtrip", "deepcopy", "mine:x", "nobody"])
def test_each_cloner_has_a_script_of_its_own(cloner: str) -> None:
    text = reproducer(case("keras"), "keras", SHOWN["a shared weight"][0], cloner).text
    ast.parse(text)
    assert "clone_model" not in text
    assert ("is not to be had outside clonediff" in text) is (cloner == "nobody")


def test_a_layer_or_an_operation_in_one_of_two_models_is_found() -> None:
    keras: Any = pytest.importorskip("keras")

    def part(name: str, units: int) -> Any:
        x = keras.Input((2,))
        mean = keras.ops.mean(keras.layers.Dense(units, name="dense")(x), axis=units - 3)
        mean._keras_history.operation.name = "mean"
        return keras.Model(x, mean, name=name)

    x = keras.Input((2,))
    model = keras.Model(x, [part("first", 2)(x), part("second", 3)(x)])
    for place, attribute, value in (("first/dense", "units", 2), ("second/mean", "axis", [0])):
        kind = place.partition("/")[2].title()
        expression = named(difference("structure", "", "", Place(place, kind, 1, inside="Functional")), "keras")
        layer = eval(expression.format("model"), {"model": model, "keras": keras})  # noqa: S307 - what a script says
        assert getattr(layer, attribute) == value
