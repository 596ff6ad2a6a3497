"""Functions and objects in each form: which arguments take them, how they are read, and what a file can hold."""

from __future__ import annotations

import pytest

from clonediff.strategies.graph import Call, Form, Graph, Input, Layer, Ref, Value, from_json, to_json
from clonediff.strategies.instructions import Digits, _application
from clonediff.strategies.kinds import LEFT_OUT, Kind
from clonediff.strategies.kinds.forms import FORMS, OF_LAYERS, SHARED, forms_of, sort_of

DENSE = Kind(
    "Dense",
    options={"units": (4,), "activation": (LEFT_OUT, "relu")},
    more={"kernel_initializer": ("ones",), "bias_initializer": ("ones",)},
)


def read(option: int, further: int = 0, value: int = 0, *, feature: str = "forms of values") -> dict[str, Value]:
    """What digits say of the arguments of a `DENSE`."""
    digits = Digits(0, 0, 0, 0, 0, (0, option, 0, 0, 0), ((further, value), (0, 0)))
    apply = _application(DENSE, (feature,))(digits)
    return dict((*apply.options, *apply.more))


@pytest.mark.parametrize(
    ("argument", "sort"),
    [
        ("activation", "activation"),
        ("recurrent_activation", "activation"),
        ("kernel_initializer", "initializer"),
        ("initializer", "initializer"),
        ("bias_regularizer", "regularizer"),
        ("depthwise_constraint", "constraint"),
        ("units", ""),
        ("reactivation", ""),
        ("loss", ""),
    ],
)
def test_an_argument_tells_by_its_name_what_it_takes(argument: str, sort: str) -> None:
    assert sort_of(argument) == sort
    assert forms_of(argument) == tuple(Form(sort, form) for form in FORMS.get(sort, ()))


def test_one_digit_in_four_stands_for_a_form_and_each_form_for_one() -> None:
    drawn = [read(option)["activation"] for option in range(256)]
    forms = [each for each in drawn if isinstance(each, Form)]
    assert len(forms) == 64
    assert set(forms) == set(forms_of("activation"))
    assert set(drawn) - set(forms) == {LEFT_OUT, "relu"}


def test_without_the_feature_there_are_none() -> None:
    assert {read(option, feature="names")["activation"] for option in range(256)} == {LEFT_OUT, "relu"}


def test_what_is_left_out_has_no_form() -> None:
    kind = Kind("Dense", options={"units": (4,), "activation": (LEFT_OUT,)})
    apply = _application(kind, ("forms of values",))(Digits(0, 0, 0, 0, 0, (0, 255, 0, 0, 0), ((0, 0), (0, 0))))
    assert dict(apply.options)["activation"] == LEFT_OUT


def test_an_object_that_is_shared_is_given_for_another_argument_of_its_sort() -> None:
    first = 192 + [each.form for each in forms_of("kernel_initializer")].index("shared")
    said = read(0, 192, first)
    assert said["kernel_initializer"] == said["bias_initializer"] == Form("initializer", "shared")
    assert "bias_initializer" not in read(0, 192, 192)


def test_each_form_is_read_back_from_a_file() -> None:
    for argument in OF_LAYERS:
        for form in forms_of(argument):
            layer = Layer("Dense", (("units", 4), (argument, form)))
            graph = Graph((Input((4,)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
            assert from_json(to_json(graph)) == graph


def test_what_several_owners_have_is_a_form_of_some_sort() -> None:
    assert all(any(form in forms for forms in FORMS.values()) for form in SHARED)
