"""Scripts that show a difference: what they compare, and what a run of them proves."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable
from unittest.mock import ANY

import pytest
from msgspec import structs

from clonediff.harness.inside.cloners.copies import COPIES
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.reproducer import Script, reproducer, with_versions
from clonediff.harness.subjects import Subject, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import run
from clonediff.reports.records import Difference, Numbers, Place, Raised, Severity
from clonediff.strategies import from_json
from clonediff.strategies.graph import Call, CloneArguments, Graph, Input, Layer, Ref, Seq
from clonediff.strategies.kinds import Generation
from tests.example_graphs import EXAMPLES

SOURCES: dict[Generation, str] = {
    "keras": "import keras\n\ninputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, inputs)\n",
    "tf_keras": "import tf_keras as keras\n\ninputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, inputs)\n",
}


def difference(check: str, path: str, aspect: str = "value", first: Place | None = None) -> Difference:
    return Difference(check, path, aspect, "this", "that", Severity.PROPERTY, first)


INPUT = Place("input_layer", "InputLayer", 0)
ASKED = structs.replace(
    Graph((Input((4,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras"),
    clone_arguments=CloneArguments("fresh"),
)


def test_the_model_that_is_asked_for_is_made_after_the_clone_and_compared_with_it() -> None:
    case = case_of(ASKED, "keras")
    name = difference("structure", "layers['re_lu'].name", "name", Place("re_lu", "ReLU", 1))
    lines = reproducer(case.source, "keras", name, "upstream", case).text.splitlines()
    clone = lines.index("clone = keras.models.clone_model(model, input_tensors=keras.Input(shape=(4,)))")
    asked = len(lines) - 1 - lines[::-1].index("re_lu = layers.ReLU()(inputs)")
    assert (
        clone < asked < next(place for place, line in enumerate(lines) if line.startswith("assert found == expected"))
    )


@pytest.mark.parametrize(("check", "path"), [("made", "clone"), ("own", "weights[0]"), ("untouched", "original.model")])
def test_what_is_said_of_the_model_that_is_cloned_needs_no_other(check: str, path: str) -> None:
    case = case_of(ASKED, "keras")
    text = reproducer(case.source, "keras", difference(check, path), "upstream", case).text
    assert "clone_model(model, input_tensors=keras.Input(shape=(4,)))" in text
    assert "made by hand" not in text


@pytest.mark.parametrize("generation", SOURCES)
@pytest.mark.parametrize(
    ("one", "sure"),
    [
        pytest.param(difference("outputs", "inference.outputs[0]"), False, id="numbers"),
        pytest.param(difference("outputs", "inference.outputs[0].shape", "shape"), True, id="shape"),
        pytest.param(difference("outputs", "inference.structure", "structure type"), True, id="structure"),
        pytest.param(difference("outputs", "inference.steps['a'][0].outputs[0].shape", "shape"), False, id="a step"),
        pytest.param(difference("masks", "training.outputs[0].mask", "mask lost"), True, id="mask"),
        pytest.param(difference("masks", "training.outputs[0].mask", "mask value"), False, id="numbers of a mask"),
        pytest.param(difference("masks", "layers['a'].calls[0].masks[0]", "mask lost"), True, id="symbolic mask"),
        pytest.param(difference("weights", "weights[0].name", "weight name"), True, id="weights"),
        pytest.param(
            difference("structure", "layers['input_layer'].trainable", "trainable", INPUT), True, id="trainable"
        ),
        pytest.param(
            difference("structure", "layers['input_layer'].config.optional", "config.optional", INPUT),
            True,
            id="config",
        ),
        pytest.param(
            difference("untouched", "original.layers['input_layer'].trainable", "trainable", INPUT),
            True,
            id="untouched flag",
        ),
        pytest.param(
            difference("untouched", "original.layers['a'].calls[0].kwargs['mask']", "call.kwargs extra", INPUT),
            True,
            id="untouched arguments",
        ),
        pytest.param(difference("untouched", "original.inference.outputs[0]"), False, id="untouched numbers"),
        pytest.param(difference("own", "layers['input_layer']", "layer shared", INPUT), True, id="a shared layer"),
        pytest.param(difference("own", "weights[0]", "weight shared"), True, id="a shared weight"),
        pytest.param(
            difference("structure", "layers['input_layer'].config.mask", "config.mask", INPUT), False, id="a mask"
        ),
        pytest.param(
            structs.replace(
                difference("structure", "layers['input_layer'].config.function", "config.function", INPUT),
                expected="function f 1",
                found="function f 2",
            ),
            True,
            id="another function",
        ),
    ],
)
def test_a_script_is_python_that_compares_what_differed(one: Difference, sure: bool, generation: Generation) -> None:
    script = reproducer(SOURCES[generation], generation, one)
    ast.parse(script.text)
    assert script.raises == "AssertionError"
    assert script.sure is sure


DRAWN = Graph(
    inputs=(Input((3, 4), fill="steps"), Input((4,))),
    layers=(Layer("Masking"), Layer("Dropout", (("rate", 0.5),)), Layer("BatchNormalization")),
    calls=(Call(0, (Ref(0),)), Call(1, (Ref(2),)), Call(2, (Ref(1),))),
    takes=Seq((Ref(0), Ref(1))),
    gives=Seq((Ref(3), Ref(4))),
)
"""What leaves its mask, draws random numbers, and has weights that are no one's initial ones."""


ALIKE = {
    "outputs": difference("outputs", "training.outputs[0]"),
    "a step": difference("outputs", "training.steps['dropout'][0].outputs[0]"),
    "structure": difference("outputs", "inference.structure", "structure type"),
    "masks": difference("masks", "training.outputs[0].mask", "mask value"),
    "symbolic masks": difference("masks", "layers['dropout'].calls[0].masks[0]", "mask lost"),
    "untouched": difference("untouched", "original.inference.outputs[0]"),
    "untouched arguments": difference(
        "untouched", "original.layers['dropout'].calls[0].kwargs['mask']", "call.kwargs extra", INPUT
    ),
    "untouched weights": difference("untouched", "original.weights[0].value", "weight value"),
    "a layer of its own": difference("own", "layers['dropout']", "layer shared", INPUT),
    "a name inside": difference("structure", "layers['a/b'].name", "name", Place("a/b", "Dense", 1)),
    "a layer inside": difference("own", "layers['a/b']", "layer shared", Place("a/b", "Dense", 1)),
    "weights of its own": difference("own", "weights[0]", "weight shared"),
}


UNNAMED = """
import keras
from keras import layers

inputs = keras.Input(shape=(1, 1))
inner_model = keras.Sequential([keras.Input(shape=(1, 1)), layers.Masking(), layers.SimpleRNN(1)])
model = keras.Model(inputs, inner_model(inputs))
""".lstrip()
RENAMED = Difference(
    "structure",
    "layers['sequential/not_equal'].name",
    "name",
    "not_equal",
    "not_equal_2",
    Severity.NAME,
    first=Place("sequential/not_equal", "NotEqual", 3),
)


@pytest.mark.parametrize(
    "generation",
    ["keras", pytest.param("tf_keras", marks=pytest.mark.slow(reason="the lines of Keras 3, but for its imports"))],
)
def test_a_script_does_not_fail_where_nothing_differs(generation: Generation) -> None:
    case = case_of(DRAWN, generation)
    scripts = {name: reproducer(case.source, generation, one, case=case).text for name, one in ALIKE.items()}
    if generation == "keras":
        # A clone names the inputs anew that had no name: no difference elsewhere is proven by that.
        unnamed = reproducer(UNNAMED, "keras", RENAMED)
        assert not unnamed.sure
        scripts["the inputs' names"] = unnamed.text
    # One process for all, since TensorFlow takes seconds to start; each has variables and names of layers of its own.
    lines = [f"import {generation}"]
    for name, text in scripts.items():
        lines += [f"{generation}.backend.clear_session()", f"exec(compile({text!r}, {name!r}, 'exec'), {{}})"]
    ended = ScriptRunner(Subject.parse(generation)).run("\n".join(lines))
    assert ended.code == 0, ended.stderr


def test_numbers_that_differed_differ_in_the_script(warm: Callable[[str], SubjectProcess]) -> None:
    subject = Subject.parse("tf_keras")
    case = case_of(from_json(EXAMPLES["tf-varargs"], "an example"), subject.generation)
    causes = run(case, warm("tf_keras"), ("upstream",)).clones["upstream"].causes
    values = [each for cause in causes for each in cause.differences if each.aspect == "value"]
    step = next(each for each in values if ".steps[" in each.path)
    output = next(each for each in values if ".steps[" not in each.path)
    texts = [reproducer(case.source, subject.generation, one, case=case).text for one in (step, output)]
    # One process for both, since each ends where it fails.
    lines = ["import tf_keras", "failed = []"]
    for text in texts:
        body = f"tf_keras.backend.clear_session()\n    exec(compile({text!r}, 'script', 'exec'), {{}})"
        lines += [f"try:\n    {body}\nexcept AssertionError:\n    failed.append(1)"]
    ended = ScriptRunner(subject).run("\n".join((*lines, "assert len(failed) == 2, failed")))
    assert ended.code == 0, ended.stderr


def test_a_crash_is_proved_by_its_own_exception() -> None:
    crash = Difference(
        "made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES, raised=Raised("ValueError", "no")
    )
    assert reproducer(SOURCES["keras"], "keras", crash).raises == "ValueError"


def test_what_takes_more_than_a_screen_is_not_claimed() -> None:
    script = reproducer(SOURCES["keras"], "keras", difference("again", "twice.inference.outputs[0]"))
    assert (script.raises, script.sure) == ("", False)


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
    "original.layers['dense'].calls[0]",
    "training{}",
    "model.compiled.loss[{}]",
    "model.compiled.loss['{}'].Huber.delta",
    "original.model.compiled.{}",
)
ASPECTS = (
    "{}",
    "compiled.loss",
    "call.{}",
    "call.args {}",
    "call.{} missing",
    "trainable{}",
    "state{}",
    "mask {}",
    "structure {}",
    "value",
)


@pytest.mark.parametrize("dialect", ["keras", "tf_keras"])
@pytest.mark.parametrize("check", ["made", "outputs", "masks", "weights", "structure", "untouched", "again", CODE])
@pytest.mark.parametrize("quote", ["", "'", '"', "\n", "{"], ids=["bare", "single", "double", "line", "brace"])
@pytest.mark.parametrize("code", [CODE, "PWNED()"], ids=["brackets", "call"])
def test_no_text_of_a_record_is_code_in_a_script(check: str, dialect: str, quote: str, code: str) -> None:
    text = quote + code
    for path in PLACES:
        for aspect in ASPECTS:
            for raised in (None, Raised(text, text, text)):
                first = Place(text if "{}" in aspect else "dense", "Dense" if raised else "InputLayer", 1)
                at = path.format(*[text] * 2)
                one = Difference(check, at, aspect.format(text), text, text, Severity.PROPERTY, first, raised)
                tree = ast.parse(reproducer(SOURCES[dialect], dialect, one).text)
                assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "PWNED"]


@pytest.mark.parametrize("encoding", ["coding: utf-7", "coding=raw_unicode_escape", "vim: set fileencoding=utf-7"])
def test_no_comment_says_in_which_encoding_a_script_is(encoding: str) -> None:
    told = with_versions(Script("import keras\n"), {"keras": f"{encoding} +AAo-PWNED \\u000aPWNED"})
    assert tokenize.detect_encoding(io.BytesIO(told.text.encode()).readline) == ("utf-8", ANY)


def test_a_cloner_of_ours_is_not_taken_for_another() -> None:
    script = reproducer(SOURCES["keras"], "keras", difference("outputs", "inference.outputs[0]"), "mine:x")
    assert "clone_model" not in script.text


def test_values_that_differ_are_told_as_numbers() -> None:
    numbers = Numbers(max_abs=0.5, differing=3, total=6, index=(0, 1), expected="1.0", found="1.5")
    difference = Difference(
        "outputs", "inference.outputs[0]", "value", "a digest", "another", Severity.COMPUTES, numbers=numbers
    )
    text = reproducer("import keras\nmodel = 1\n", "keras", difference).text
    assert (
        "#   original: 1.0 at [0, 1]\n#   clone:    1.5 at [0, 1]\n#   3 of 6 numbers differ, by 0.5 at most\n" in text
    )
    assert "digest" not in text


INSIDE = {
    "the flag": (
        "inputs = keras.Input(shape=(1, 1, 1))\n"
        "inner_model = keras.Sequential([keras.Input(shape=(1, 1, 1)), layers.SpatialDropout2D(0.5)])\n"
        "inner_model.trainable = False\nmodel = keras.Model(inputs, inner_model(inputs))\n",
        Difference(
            "structure",
            "layers['sequential/spatial_dropout2d'].trainable",
            "trainable",
            "false",
            "true",
            Severity.TRAINS,
            first=Place("sequential/spatial_dropout2d", "SpatialDropout2D", 3),
        ),
    ),
    "the name": (
        "inputs = keras.Input(shape=(1, 1))\n"
        "attention = layers.GroupQueryAttention(head_dim=2, num_query_heads=2, num_key_value_heads=1)\n"
        "model = keras.Model(inputs, attention(inputs, inputs))\n",
        Difference(
            "structure",
            "layers['grouped_query_attention/softmax'].name",
            "name",
            "softmax",
            "softmax_1",
            Severity.NAME,
            first=Place("grouped_query_attention/softmax", "Softmax", 5, inside="GroupedQueryAttention"),
        ),
    ),
}


@pytest.mark.slow(reason="a Keras of its own; every campaign runs such scripts")
@pytest.mark.parametrize("what", INSIDE)
def test_what_a_layer_inside_another_has_is_compared(what: str) -> None:
    source, difference = INSIDE[what]
    script = reproducer(f"import keras\nfrom keras import layers\n\n{source}", "keras", difference)
    assert ScriptRunner(Subject.parse("keras")).answer(script)[0] is ReplayAnswer.BREAKS


def test_what_a_clone_function_is_asked_is_noted_by_the_script() -> None:
    case = structs.replace(case_of(ASKED, "keras"), arguments={"clone_function": "clone_function"})
    asked = Difference("functions", "layers['relu']", "asked of an operation", "not asked", "asked", Severity.PROPERTY)
    script = reproducer(case.source, "keras", asked, "upstream", case)
    lines = script.text.splitlines()
    clone = "clone = keras.models.clone_model(model"
    note = "clone_function=lambda layer: asked.append(layer) or clone_function(layer)"
    at = next(place for place, line in enumerate(lines) if line.startswith(clone))
    assert note in script.text
    assert lines.index("asked = []") < at
    assert "assert all(isinstance(each, keras.layers.Layer) for each in asked)" in lines[at:]
    assert script.sure


@pytest.mark.parametrize("cloner", COPIES)
def test_each_way_to_copy_is_a_line_of_python(cloner: str) -> None:
    text = reproducer(SOURCES["keras"], "keras", difference("own", "weights[0]"), cloner).text
    ast.parse(text)
    assert "is not to be had outside clonediff" not in text


BROKEN = "\nhonest, kept = keras.models.clone_model, []\nkeras.models.clone_model = broken\n"
WARNS = (
    "\ndef broken(model):\n    import warnings\n\n    warnings.warn('odd, of layer_7')\n    return honest(model)\n\n"
)
WARNS_OTHERWISE = WARNS.replace("odd", "even")


WHILE_CLONES_ARE_MADE = {
    "no warning": ("", False),
    "a warning with another number": (WARNS, True),
    "another warning": (WARNS_OTHERWISE, False),
}
"""What Keras does wrongly in the script, and whether that ends the script."""


def test_what_happens_while_clones_are_made_ends_the_script() -> None:
    lines = ["import keras", "clone_model, failed = keras.models.clone_model, []"]
    warned = Raised("UserWarning", "odd, of layer", "keras/src/models/cloning.py:x")
    told = structs.replace(difference("warned", "warned", "raises"), raised=warned)
    for name, (fault, _) in WHILE_CLONES_ARE_MADE.items():
        script = reproducer(SOURCES["keras"] + (fault + BROKEN if fault else ""), "keras", told)
        assert script.raises == "AssertionError"
        # One process for all, since each ends where it fails.
        body = f"keras.backend.clear_session()\n    exec(compile({script.text!r}, 'script', 'exec'), {{}})"
        lines += [f"try:\n    {body}\nexcept AssertionError:\n    failed.append({name!r})"]
        lines += ["keras.models.clone_model = clone_model"]
    breaks = [name for name, (_, breaks) in WHILE_CLONES_ARE_MADE.items() if breaks]
    done = ScriptRunner(Subject.parse("keras")).run("\n".join((*lines, f"assert failed == {breaks}, failed")))
    assert done.code == 0, done.stderr
