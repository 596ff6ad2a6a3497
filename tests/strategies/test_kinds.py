"""The kinds of a release: what its signatures say becomes values to try."""

from __future__ import annotations

from typing import Any

import pytest

from clonediff.strategies.functions import DEFINITIONS, FORMS, sort_of
from clonediff.strategies.kind import Kind, arguments
from clonediff.strategies.layers import CATALOGUE
from clonediff.strategies.of_release import kinds_of
from clonediff.strategies.operations import expression, operations_of
from clonediff.strategies.values import values


def signature(call: str = "inputs", **parameters: Any) -> dict[str, Any]:
    """A layer's signature: a parameter without a default is required."""
    constructor = [
        {"name": name, "required": True} if default is ... else {"name": name, "default": default}
        for name, default in parameters.items()
    ]
    return {"constructor": constructor, "call": [{"name": each, "required": True} for each in call.split()]}


def of_layer(kind: str, **parameters: Any) -> Kind:
    return kinds_of({kind: signature(**parameters)}, {}, "keras")[kind]


@pytest.mark.parametrize(
    ("name", "default", "expected"),
    [
        ("use_bias", True, ("False",)),
        ("rate", None, ("0.5", "0.25")),
        ("kernel_initializer", "glorot_uniform", None),
        ("max_things", None, ("4", "2")),
        ("never_heard_of", 3, ("4", "2")),
        ("never_heard_of", 0.5, ("0.5", "0.25")),
        ("units", 4, ("1", "2")),
        ("trainable_flag", "word", ()),
    ],
)
def test_values_follow_from_the_name_or_the_default(name: str, default: Any, expected: tuple[str, ...] | None) -> None:
    found = values(name, default)
    assert found if expected is None else set(found) == {each for each in expected if each != repr(default)}


def test_a_layer_that_nobody_knows_gets_what_it_needs_and_options_by_name() -> None:
    kind = of_layer("Unheard", units=..., knob=..., use_it=False, name=None, stateful=False)
    assert all({"units", "knob"} == {name for name, _ in base} for base in kind.bases)
    assert kind.more == {"use_it": ("True",)}
    assert kind.packed == "any"


def test_a_known_layer_keeps_what_the_release_has() -> None:
    kind = of_layer("Dense", units=..., activation=None)
    assert kind.bases == ((("units", "4"),), (("units", "1"),), (("units", "3"),)), "no base with use_bias"
    assert set(kind.more) == {"units", "activation"} - {"units"}


def test_a_layer_whose_call_needs_two_tensors_takes_them_one_by_one() -> None:
    kind = kinds_of({"Pair": signature("query value")}, {}, "keras")["Pair"]
    assert (kind.takes, kind.packed) == ((2, 2), "each")


def test_layers_of_ones_own_are_a_third_of_all() -> None:
    found = kinds_of({"Dense": signature(units=...)}, {}, "keras", own={"mine.py:Mine": signature()})
    own = found["mine.py:Mine"].weight
    assert 0.3 < own / sum(kind.weight for kind in found.values()) < 0.4


def test_an_operation_gets_its_required_arguments_and_is_written_with_their_names() -> None:
    parameters = [{"name": "x", "required": True}, {"name": "axis", "default": None}, {"name": "name", "default": None}]
    kind = operations_of({"ops.mean": parameters}, "keras")["ops.mean"]
    assert kind.bases[0] == (("axis", "-1"),)
    assert expression("ops.mean", kind.bases[0], ["inputs"], "each") == "ops.mean(inputs, axis=-1)"
    assert "ops.unheard" not in operations_of(
        {"ops.unheard": [*parameters[:1], {"name": "k9", "required": True}]}, "keras"
    )


def test_every_word_in_angle_brackets_has_a_definition() -> None:
    words = set()
    for text in (*(value for forms in FORMS.values() for value in forms.values()), *DEFINITIONS.values()):
        words |= {each.partition(">")[0] for each in text.split("<")[1:] if each.partition(">")[0].isidentifier()}
    assert words <= DEFINITIONS.keys()


def test_arguments_are_read_as_python_has_them() -> None:
    assert arguments("4, axis=[1, 2], by=<0>.shape") == (("", "4"), ("axis", "[1, 2]"), ("by", "<0>.shape"))
    assert sort_of("kernel_initializer") == "initializer"
    assert all(kind.bases for kind in CATALOGUE.values())
