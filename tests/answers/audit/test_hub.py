"""What the models of keras_hub are made with: by the names of arguments, and what an exception says."""

from __future__ import annotations

import ast

import pytest

from clonediff.harness.answers.audit.hub import CALLS, UnknownArgumentError, small
from clonediff.harness.inside.catalogue import ModelClass

CLASSES = {
    each.name: each
    for each in (
        ModelClass("BertBackbone", ("vocabulary_size", "num_layers", "dropout"), ("vocabulary_size", "num_layers")),
        ModelClass("BertClassifier", ("backbone", "num_classes", "preprocessor"), ("backbone",), "BertBackbone"),
        ModelClass("StrangeBackbone", ("vocabulary_size", "moons"), ("vocabulary_size", "moons")),
        ModelClass("MiTBackbone", ("layerwise_depths", "num_layers"), ("layerwise_depths", "num_layers")),
        ModelClass("SegFormerBackbone", ("image_encoder",), ("image_encoder",)),
    )
}


def test_the_rule_goes_by_the_names_of_arguments_and_leaves_defaults_alone() -> None:
    text = str(small("BertBackbone", CLASSES))
    assert text == "keras_hub.models.BertBackbone(vocabulary_size=32, num_layers=2)"
    assert str(small("BertClassifier", CLASSES)) == f"keras_hub.models.BertClassifier(backbone={text}, num_classes=2)"


def test_an_exception_may_be_made_of_another_model() -> None:
    text = str(small("SegFormerBackbone", CLASSES))
    depths = CALLS["MiTBackbone"].arguments["layerwise_depths"]
    assert f"image_encoder=keras_hub.models.MiTBackbone(layerwise_depths={depths}, " in text
    ast.parse(text)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("StrangeBackbone", "nobody says what StrangeBackbone is to get as `moons`"),
        ("GPTBackbone", "keras_hub.models has no GPTBackbone"),
    ],
)
def test_what_no_rule_knows_is_told(name: str, said: str) -> None:
    with pytest.raises(UnknownArgumentError, match=said):
        small(name, CLASSES)
