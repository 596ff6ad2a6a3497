"""Functions and objects as text: defined once above the model, changed after it, and nothing that a file could add."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.source import DIALECTS, write_source
from clonediff.harness.source.writer import write_question
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.strategies import Graph, MalformedGraph
from clonediff.strategies.asking import Question
from clonediff.strategies.graph import (
    Call,
    Form,
    Function,
    Input,
    Items,
    Layer,
    Made,
    Named,
    Preparation,
    Ref,
    Seq,
    Value,
)
from clonediff.strategies.kinds import Spec
from clonediff.strategies.kinds.arguments import TOUCHED
from clonediff.strategies.kinds.forms import FORMS, OF_LAYERS, can_be_set
from tests.trials.trying import fixed_is_faithful, tried

ARGUMENTS = {sort: f"kernel_{sort}" if sort != "activation" else sort for sort in OF_LAYERS}
EACH = [pytest.param(sort, form, id=f"{sort}-{form}") for sort in OF_LAYERS for form in FORMS[sort]]
COMPILED = [pytest.param(sort, form, id=f"{sort}-{form}") for sort in ("loss", "metric") for form in FORMS[sort]]
COMPILED += [pytest.param("optimizer", form, id=f"optimizer-{form}") for form in FORMS["optimizer"]]
COMPILED += [pytest.param("schedule", form, id=f"schedule-{form}") for form in FORMS["schedule"]]
WITHIN = {
    "TimeDistributed": Made(Layer("Dense", (("units", 3), ("kernel_initializer", Form("initializer", "partial"))))),
    "Bidirectional": Made(
        Layer("GRU", (("units", 2), ("recurrent_regularizer", Form("regularizer", "registered class"))))
    ),
    "RNN": Seq((Made(Layer("GRUCell", (("units", 2), ("kernel_constraint", Form("constraint", "callable"))))),)),
}
"""Layers within others, with one argument in a form."""


def two(sort: str, form: str) -> Graph:
    """Two layers that are given the same."""
    layer = Layer("Dense", (("units", 4), (ARGUMENTS[sort], Form(sort, form))))
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    return Graph((Input((4,), name="x"),), (layer, layer), calls, Ref(0), Ref(2), generation="keras")


@pytest.mark.parametrize(("sort", "form"), EACH)
@pytest.mark.parametrize("dialect", ["keras", "tf_keras"])
def test_each_form_is_written_and_its_definition_once(sort: str, form: str, dialect: str) -> None:
    tree = ast.parse(write_source(structs.replace(two(sort, form), generation=None), dialect))
    defined = [each.name for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))]
    assert len(defined) == len(set(defined)) <= 1, defined
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and each.keywords]
    given = [ast.dump(word.value) for each in calls for word in each.keywords if word.arg == ARGUMENTS[sort]]
    assert len(given) == 2
    assert given[0] == given[1]


def test_a_shared_object_is_a_variable() -> None:
    assert write_source(two("constraint", "shared"), "keras") == (
        "import keras\nfrom keras import layers\n\n"
        "shared_constraint = keras.constraints.MaxNorm(0.5)\n\n"
        'inputs = keras.Input(shape=(4,), name="x")\n'
        "dense = layers.Dense(4, kernel_constraint=shared_constraint)(inputs)\n"
        "dense_2 = layers.Dense(4, kernel_constraint=shared_constraint)(dense)\n"
        "model = keras.Model(inputs, dense_2)\n"
    )


def test_a_changed_object_is_changed_when_the_model_is_made() -> None:
    lines = write_source(two("regularizer", "changed"), "keras").splitlines()
    assert "changed_regularizer = Magnitude(2.0)" in lines
    assert lines[-2:] == ["model = keras.Model(inputs, dense_2)", "changed_regularizer.by = 3.0"]


def test_two_forms_of_one_name_have_two() -> None:
    layers = tuple(
        Layer("Dense", (("units", 4), ("activation", Form("activation", form)))) for form in ("named", "keyword")
    )
    source = write_source(structs.replace(two("activation", "named"), layers=layers), "keras")
    assert "activation=double)" in source
    assert "activation=double_2)" in source


@pytest.mark.parametrize("value", [Form("activation", "seed generator"), Form("loss of mine", "named"), Form("", "")])
def test_a_form_that_is_in_no_table_is_refused(value: Form) -> None:
    graph = two("activation", "named")
    layer = Layer("Dense", (("units", 4), ("activation", value)))
    with pytest.raises(MalformedGraph, match="there is no form"):
        write_source(structs.replace(graph, layers=(layer, layer)), "keras")


@pytest.mark.parametrize("sort", OF_LAYERS)
def test_keras_takes_each_form_and_the_fixed_cloner_is_faithful(sort: str, keras: SubjectProcess) -> None:
    for form in FORMS[sort]:
        if form != "array":  # which has the shape of a bias
            fixed_is_faithful(two(sort, form), keras)


def test_a_function_of_the_operations_is_another_in_the_clone_of_keras(keras: SubjectProcess) -> None:
    found = tried(two("activation", "of ops, other default"), keras, "upstream")["upstream"].differences
    assert {"structure", "outputs"} <= {each.check for each in found}


def compiled_with(sort: str, value: Value) -> Graph:
    """A model that is compiled with a value of a sort."""
    args: dict[str, Value] = {"optimizer": "sgd", "loss": "mse"}
    if sort == "schedule":
        args["optimizer"] = Named("optimizers.SGD", (("learning_rate", value),))
    else:
        args["metrics" if sort == "metric" else sort] = Seq((value,)) if sort == "metric" else value
    plain = two("activation", "registered")
    return structs.replace(plain, preparations=(Preparation("compile", None, tuple(args.items())),))


@pytest.mark.parametrize(("sort", "form"), COMPILED)
def test_a_model_is_compiled_with_each_form_and_cloned_faithfully(sort: str, form: str, keras: SubjectProcess) -> None:
    fixed_is_faithful(compiled_with(sort, Form(sort, form)), keras)


def test_what_is_compiled_with_a_changed_object_is_changed_then() -> None:
    lines = write_source(compiled_with("loss", Form("loss", "changed")), "keras").splitlines()
    compiled = next(number for number, line in enumerate(lines) if line.startswith("model.compile("))
    assert lines.index("changed_loss.by = 3.0") > compiled


def test_a_class_of_a_release_is_written_by_its_path_and_no_other() -> None:
    source = write_source(compiled_with("loss", Named("losses.Tversky", (("alpha", 0.25),))), "keras")
    assert "loss=keras.losses.Tversky(alpha=0.25)" in source
    for path in ("losses.get", "losses.Loss.from_config", "saving.load_model", "utils.get_file", "losses.X; import os"):
        with pytest.raises(MalformedGraph, match="is nothing of Keras"):
            write_source(compiled_with("loss", Named(path, ())), "keras")


@pytest.mark.parametrize("sort", OF_LAYERS)
def test_what_is_set_before_a_layer_is_built_is_kept_by_the_fixed_cloner(sort: str, keras: SubjectProcess) -> None:
    for form in FORMS[sort]:
        graph = two(sort, form)
        marked = tuple(structs.replace(layer, marks=("attributes",)) for layer in graph.layers)
        if can_be_set(ARGUMENTS[sort], Form(sort, form)):
            fixed_is_faithful(structs.replace(graph, layers=marked), keras)


def test_an_attribute_is_set_before_the_call() -> None:
    graph = two("constraint", "of ops")
    layer = structs.replace(graph.layers[0], marks=("attributes",))
    lines = write_source(structs.replace(graph, layers=(layer, layer)), "keras").splitlines()
    at = lines.index("dense_layer = layers.Dense(4)")
    assert lines[at + 1 : at + 3] == ["dense_layer.kernel_constraint = ops.abs", "dense = dense_layer(inputs)"]


def test_a_question_asks_whether_there_is_the_attribute_that_is_to_be_set() -> None:
    layer = Layer("Dense", (("units", 4), ("kernel_initializer", Form("initializer", "named"))), marks=("attributes",))
    text = write_question(Question(layer, (Spec((4,)),), (Call(0, (Ref(0),)),)), DIALECTS["keras"])
    assert "\ndense_layer.kernel_initializer\ndense_layer.kernel_initializer = halves\n" in text


@pytest.mark.parametrize("kind", WITHIN)
def test_a_layer_within_another_has_its_arguments_in_forms(kind: str, keras: SubjectProcess) -> None:
    layer = Layer(kind, (("cell" if kind == "RNN" else "layer", WITHIN[kind]),))
    graph = Graph((Input((3, 4)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    fixed_is_faithful(graph, keras)


@pytest.mark.parametrize("kind", ["ReLU", "Offset"])  # the second has no `get_config` of its own
@pytest.mark.parametrize("form", FORMS["regularizer"])
def test_an_activity_regularizer_in_each_form_is_kept_by_the_fixed_cloner(
    form: str, kind: str, keras: SubjectProcess
) -> None:
    layer = Layer(kind, (("activity_regularizer", Form("regularizer", form)),))
    fixed_is_faithful(structs.replace(two("activation", "named"), layers=(layer, layer)), keras)


def with_policy(dtype: str | Named | Items | Form) -> Graph:
    """Two layers of one policy."""
    layer = Layer("Dense", (("units", 4),), dtype=dtype)
    return structs.replace(two("activation", "named"), layers=(layer, layer))


@pytest.mark.parametrize("value", [*TOUCHED["policy"][1], *(Form("policy", form) for form in FORMS["policy"])], ids=str)
def test_a_policy_in_each_form_is_kept_by_the_fixed_cloner(value: Named | Items | Form, keras: SubjectProcess) -> None:
    fixed_is_faithful(with_policy(value), keras)


def test_a_policy_is_written_as_a_config_and_as_one_object_of_two_layers() -> None:
    lines = write_source(with_policy(Form("policy", "shared")), "keras").splitlines()
    assert lines.index('shared_policy = keras.DTypePolicy("mixed_bfloat16")') < lines.index(
        "dense = layers.Dense(4, dtype=shared_policy)(inputs)"
    )
    config = Items((("class_name", "DTypePolicy"), ("config", Items((("name", "float64"),)))))
    text = 'dtype={"class_name": "DTypePolicy", "config": {"name": "float64"}})'
    assert text in write_source(with_policy(config), "keras")


@pytest.mark.parametrize("form", ["keeps a list", "callable", "shared"])
def test_a_lambda_has_an_activity_regularizer_of_its_own(form: str, keras: SubjectProcess) -> None:
    doubles = Function("named", ("x * 2.0",))
    layer = Layer("Lambda", (("function", doubles), ("activity_regularizer", Form("regularizer", form))))
    fixed_is_faithful(structs.replace(two("activation", "named"), layers=(layer, layer)), keras)


def test_an_initializer_whose_config_leaves_out_an_option_keeps_it(keras: SubjectProcess) -> None:
    identity = Named("initializers.Identity", (("gain", 0.5),))
    layer = Layer("Dense", (("units", 4), ("kernel_initializer", identity)))
    within = Layer("TimeDistributed", (("layer", Made(layer)),))
    for each, shape in ((layer, (4,)), (within, (3, 4))):
        graph = Graph((Input(shape),), (each,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
        fixed_is_faithful(graph, keras)


def test_a_layer_whose_config_has_no_policy_keeps_one_of_ones_own_class(keras: SubjectProcess) -> None:
    layer = Layer("Discretization", (("bin_boundaries", Seq((0.0, 1.0))),), dtype=Form("policy", "registered class"))
    graph = Graph((Input((4,)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    fixed_is_faithful(graph, keras)


def test_an_activity_regularizer_of_tf_keras_shares_no_list(warm: Callable[[str], SubjectProcess]) -> None:
    layer = Layer("ReLU", (("activity_regularizer", Form("regularizer", "keeps a list")),))
    graph = structs.replace(two("activation", "named"), layers=(layer, layer), generation="tf_keras")
    fixed_is_faithful(graph, warm("tf_keras"))
