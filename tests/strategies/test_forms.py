"""Functions and objects in each form: which arguments take them, how they are read, and what a file can hold."""

from __future__ import annotations

import pytest

from clonediff.strategies.graph import Call, Form, Graph, Input, Layer, Made, Named, Ref, Seq, Value, from_json, to_json
from clonediff.strategies.instructions import PLAIN, Digits, _application
from clonediff.strategies.kinds import LEFT_OUT, Kind
from clonediff.strategies.kinds.arguments import TOUCHED
from clonediff.strategies.kinds.forms import FORMS, OF_LAYERS, SHARED, forms_of, sort_of
from clonediff.strategies.kinds.given import Given
from clonediff.strategies.kinds.kind import Parameter

DENSE = Kind(
    "Dense",
    options={"units": (4,), "activation": (LEFT_OUT, "relu")},
    more={"kernel_initializer": ("ones",), "bias_initializer": ("ones",)},
)
RELEASE = {"initializers.Fresh": (Parameter("gain", default=1.0), Parameter("value", default=0))}
GIVEN = Given(PLAIN, {"Dense": DENSE})


def read(option: int, further: int = 0, value: int = 0, *, given: Given = GIVEN) -> dict[str, Value]:
    """What digits say of the arguments of a `DENSE`."""
    digits = Digits(0, 0, 0, 0, 0, (0, option, 0, 0, 0), ((further, value), (0, 0)))
    apply = _application(DENSE, given)(digits)
    return dict((*apply.options, *apply.more))


def touched(touch: str, digit: int) -> Value:
    """What a layer is given that is touched so, where another digit has that value."""
    application = _application(DENSE, GIVEN)
    every = [application(Digits(0, 0, 0, 0, each, (0, 0, 0, 0, 0), ((0, 0), (0, digit)))) for each in range(12)]
    more = next(each.more for each in every if each.touch == touch)
    return dict(more)[TOUCHED[touch][0]]


@pytest.mark.parametrize(
    ("argument", "sort"),
    [
        ("activation", "activation"),
        ("recurrent_activation", "activation"),
        ("kernel_initializer", "initializer"),
        ("initializer", "initializer"),
        ("bias_regularizer", "regularizer"),
        ("activity_regularizer", "regularizer"),
        ("dtype", "policy"),
        ("depthwise_constraint", "constraint"),
        ("units", ""),
        ("reactivation", ""),
        ("loss", ""),
    ],
)
def test_an_argument_tells_by_its_name_what_it_takes(argument: str, sort: str) -> None:
    assert sort_of(argument) == sort
    assert forms_of(argument) == tuple(Form(sort, form) for form in FORMS.get(sort, ()))


def test_three_digits_in_eight_stand_for_a_form_and_each_form_for_one() -> None:
    drawn = [read(option)["activation"] for option in range(256)]
    forms = [each for each in drawn if isinstance(each, Form)]
    assert len(forms) == 96
    assert set(forms) == set(forms_of("activation"))
    assert set(drawn) - set(forms) == {LEFT_OUT, "relu"}


def test_without_the_feature_there_are_none() -> None:
    assert {read(option, given=Given())["activation"] for option in range(256)} == {LEFT_OUT, "relu"}


def test_what_is_left_out_has_no_form() -> None:
    kind = Kind("Dense", options={"units": (4,), "activation": (LEFT_OUT,)})
    apply = _application(kind, GIVEN)(Digits(0, 0, 0, 0, 0, (0, 255, 0, 0, 0), ((0, 0), (0, 0))))
    assert dict(apply.options)["activation"] == LEFT_OUT


def test_an_object_that_is_shared_is_given_for_another_argument_of_its_sort() -> None:
    first = PLAIN + 2 * [each.form for each in forms_of("kernel_initializer")].index("shared")
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


def test_beside_its_forms_an_argument_is_given_objects_of_the_release() -> None:
    given = Given(PLAIN, objects=RELEASE)
    drawn = [given.value("Dense", "bias_initializer", ("ones",), digit) for digit in range(256)]
    objects = [each for each in drawn if isinstance(each, Named)]
    assert {each.path for each in objects} == set(RELEASE)
    assert {key for each in objects for key, _ in each.args or ()} == {"gain", "value"}
    assert all(each.args for each in objects)
    assert {each for each in drawn if isinstance(each, Form)} == set(forms_of("bias_initializer"))


def test_a_layer_within_another_is_given_one_argument_in_a_form() -> None:
    inner = Made(Layer("Dense", (("units", 3),)))
    within = Seq((inner, Made(Layer("Flatten")), Made(Layer("Sequential", (("layers", Seq((inner,))),)))))
    plainly, *formed = [GIVEN.value("TimeDistributed", "layer", (within,), digit) for digit in (PLAIN - 1, PLAIN, 255)]
    assert plainly == within
    for value in formed:
        assert isinstance(value, Seq)
        dense, flatten, chain = [each.layer for each in value.items if isinstance(each, Made)]
        assert flatten == Layer("Flatten")
        (units, (argument, form)) = dense.args
        assert units == ("units", 3)
        assert form in forms_of(argument)
        assert chain.arg("layers") == Seq((Made(dense),))


def test_what_is_regularized_is_so_in_any_form() -> None:
    drawn = {touched("regularized", digit) for digit in range(256)}
    assert drawn == {"l2", *forms_of("activity_regularizer")}


def test_a_policy_is_given_in_any_form() -> None:
    drawn = [touched("policy", digit) for digit in range(256)]
    assert {each for each in drawn if isinstance(each, Form)} == set(forms_of("dtype"))
    assert all(each in drawn for each in TOUCHED["policy"][1])
