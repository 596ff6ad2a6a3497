"""The recipes of real models: what the rule fills in, what an exception says, and which of them are asked for."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from clonediff.harness.answers.real_models import recipes
from clonediff.harness.answers.real_models.recipes import CALLS, Called, Recipe, written
from clonediff.harness.answers.real_models.suites import SUITES, SelectionError, selected, suites
from clonediff.harness.subjects.outcomes import ModelClass

BERT = ModelClass("BertBackbone", ("vocabulary_size", "num_layers", "dropout"), ("vocabulary_size", "num_layers"))
CLASSIFIER = ModelClass(
    "BertTextClassifier", ("backbone", "num_classes", "preprocessor"), ("backbone", "num_classes"), "BertBackbone"
)
STRANGE = ModelClass("StrangeBackbone", ("vocabulary_size", "moons"), ("vocabulary_size", "moons"))
BASE = ModelClass("Backbone", ("dtype",), ())
MIT = ModelClass("MiTBackbone", ("layerwise_depths", "num_layers"), ("layerwise_depths", "num_layers"))
SHIPPED = (
    *recipes.keras_tests("keras_tests", "keras"),
    *recipes.keras_tests("tf_keras_tests", "tf_keras"),
    *recipes.tfmot(),
)
SEGFORMER = ModelClass("SegFormerBackbone", ("image_encoder",), ("image_encoder",))


def _by_name(*classes: ModelClass) -> dict[str, Recipe]:
    return {each.name: each for each in recipes.keras_hub(classes)}


def test_the_rule_goes_by_the_names_of_arguments_and_leaves_defaults_alone() -> None:
    source = _by_name(BERT)["keras_hub:BertBackbone"].source
    assert source.endswith("model = keras_hub.models.BertBackbone(vocabulary_size=32, num_layers=2)\n")


def test_a_task_is_made_of_its_backbone() -> None:
    source = _by_name(CLASSIFIER, BERT)["keras_hub:BertTextClassifier"].source
    assert "backbone=keras_hub.models.BertBackbone(vocabulary_size=32, num_layers=2)" in source
    assert "preprocessor" not in source


def test_an_exception_may_be_made_of_another_model() -> None:
    source = _by_name(SEGFORMER, MIT)["keras_hub:SegFormerBackbone"].source
    depths = CALLS["MiTBackbone"].arguments["layerwise_depths"]
    assert f"image_encoder=keras_hub.models.MiTBackbone(\n        layerwise_depths={depths},\n" in source


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        pytest.param((STRANGE,), "nobody says what StrangeBackbone is to get as `moons`", id="argument"),
        pytest.param((SEGFORMER,), "keras_hub.models has no MiTBackbone", id="part"),
    ],
)
def test_what_no_rule_knows_is_told_and_not_left_out(classes: tuple[ModelClass, ...], said: str) -> None:
    (recipe,) = recipes.keras_hub(classes)
    assert said in recipe.unable
    assert recipe.source == ""


def test_classes_that_others_are_made_of_are_no_models() -> None:
    assert list(_by_name(BASE, BERT)) == ["keras_hub:BertBackbone"]


def test_long_calls_have_an_argument_a_line() -> None:
    call = Called("m.Model", {"inner": Called("m.Inner", {"numbers": tuple(range(40)), "one": (1,)}), "none": None})
    text = written(call)
    assert "\n    inner=m.Inner(\n        numbers=(0, 1," in text
    assert "\n        one=(1,),\n    ),\n    none=None,\n)" in text
    ast.parse(text)


@pytest.mark.parametrize(
    "recipe",
    [*recipes.applications(["ConvNeXtXLarge", "MobileNet", "Xception"]), *SHIPPED],
    ids=lambda recipe: recipe.name,
)
def test_each_recipe_is_python_that_leaves_a_model(recipe: Recipe) -> None:
    names = {node.id for node in ast.walk(ast.parse(recipe.source)) if isinstance(node, ast.Name)}
    assert "model" in names
    assert recipe.name.partition(":")[0] in {each.name for each in SUITES}


@pytest.mark.slow(reason="three models of 300 to 1,000 layers, for a test of three lines")
@pytest.mark.parametrize("name", ["ConvNeXtLarge", "ConvNeXtXLarge", "NASNetLarge"])
def test_keras_takes_what_makes_a_large_application_narrow(name: str) -> None:
    (recipe,) = recipes.applications([name])
    made: dict[str, Any] = {}
    exec(recipe.source, made)
    assert made["model"].name == name.lower()
    assert made["model"].count_params() < 10_000_000


def test_no_name_is_given_twice() -> None:
    names = [each.name for each in SHIPPED]
    assert len(names) == len(set(names))


def test_selections_are_patterns_of_names() -> None:
    there = [Recipe(f"keras_hub:{name}", "keras") for name in ("BertBackbone", "BertMaskedLM", "GPT2Backbone")]
    assert [each.name for each in selected(there, ["keras_hub:Bert*"])] == [
        "keras_hub:BertBackbone",
        "keras_hub:BertMaskedLM",
    ]
    assert selected(there, []) == there
    with pytest.raises(SelectionError, match="selects no model"):
        selected(there, ["keras_hub:Bert*", "keras_hub:Nobody*"])


def test_a_selection_asks_only_for_the_suites_that_it_names() -> None:
    assert [each.name for each in suites(["applications:*", "tf_keras_tests:lstm"])] == [
        "applications",
        "tf_keras_tests",
    ]
    with pytest.raises(SelectionError, match="one of applications, keras_hub"):
        suites(["Bert*"])


def test_a_suite_says_what_it_lacks() -> None:
    assert replace(SUITES[0], needs=("no_such_package_anywhere", "click")).lacking() == ["no_such_package_anywhere"]
