"""The kinds of a release, of a table of signatures that no release has."""

from __future__ import annotations

import pytest

from clonediff.strategies.graph import Ref, Seq
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT
from clonediff.strategies.kinds.arguments import together, values
from clonediff.strategies.kinds.kind import Parameter
from clonediff.strategies.kinds.of_release import UNLISTED, Signature, kinds_of

X = Parameter("x", required=True)
RELEASE = {
    "Dense": Signature(
        (Parameter("units", required=True), Parameter("use_bias", default=True), Parameter("gain", default=2)), (X,)
    ),
    "Fresh": Signature(
        (
            Parameter("hidden_dim", required=True),
            Parameter("rate", default=0.5),
            Parameter("dtype"),
            Parameter("sparse"),
        ),
        (X, Parameter("mask"), Parameter("training"), Parameter("as_list", default=False)),
    ),
    "Crossed": Signature((), (X, Parameter("y", required=True))),
    "Wrapper": Signature((), (X,)),
    "RandomShear": Signature(
        (*(Parameter(name, default=0.0) for name in ("x_factor", "y_factor", "rate", "dropout_rate", "z_factor")),),
        (X,),
    ),
}
KINDS = kinds_of(RELEASE, custom=("Scale",))


def test_it_has_what_the_release_has_in_the_order_of_the_catalogue() -> None:
    assert list(KINDS) == ["Dense", "Scale", "RandomShear", "Fresh", "Crossed"]


def test_what_the_catalogue_says_stands_first_and_what_the_release_lacks_is_gone() -> None:
    dense = KINDS["Dense"]
    assert dict(dense.options) == {key: CATALOGUE["Dense"].options[key] for key in ("units", "use_bias")}
    assert dict(dense.more) == {"gain": (3,)}
    assert (dense.family, dense.weight) == ("core", CATALOGUE["Dense"].weight)


def test_where_no_option_is_said_the_first_arguments_are_options() -> None:
    shear = KINDS["RandomShear"]
    assert list(shear.options) == ["x_factor", "y_factor", "rate", "dropout_rate"]
    assert shear.options["rate"] == (LEFT_OUT, 0.5, 0.25)
    assert list(shear.more) == ["z_factor"]


def test_a_layer_that_nobody_knows_is_made_of_its_signature() -> None:
    fresh = KINDS["Fresh"]
    assert fresh.family == UNLISTED
    assert dict(fresh.options) == {"hidden_dim": values("hidden_dim", needed=True)}
    assert dict(fresh.more) == {"rate": (0.25,)}
    assert fresh.calls == ("mask",)
    assert dict(fresh.call_options) == {
        "training": (LEFT_OUT, LEFT_OUT, True),
        "as_list": (LEFT_OUT, LEFT_OUT, True),
    }


def test_it_is_called_on_one_tensor_first_and_in_any_form() -> None:
    assert KINDS["Fresh"].forms[0] == (1, "one")
    assert {(2, "list"), (2, "each"), (3, "list")} <= set(KINDS["Fresh"].forms)
    assert KINDS["Crossed"].forms == ((2, "each"),)
    both = (Ref(0), Ref(1))
    assert KINDS["Fresh"].packed(both, "list") == (Seq(both),)
    assert KINDS["Fresh"].packed(both, "each") == both


def test_what_a_user_adds_is_tried_too() -> None:
    more = kinds_of(RELEASE, tried={"rate": (0.1,), "units": (7,)})
    assert more["Fresh"].more["rate"] == (0.1,)
    assert more["Dense"].options["units"] == (*CATALOGUE["Dense"].options["units"], 7)


@pytest.mark.parametrize(
    ("name", "default", "tried"),
    [
        ("anything", True, (False,)),
        ("anything", 4, (5, 2)),
        ("anything", 0.5, (0.25,)),
        ("anything", "a text", ()),
        ("anything", None, (2, 0.5, True, -1)),
        ("data_format", "channels_last", ("channels_first",)),
        ("seed", None, (7,)),
        ("name", None, ()),
    ],
)
def test_values_come_from_the_name_or_else_from_the_type_of_the_default(
    name: str, default: object, tried: tuple[object, ...]
) -> None:
    assert values(name, default) == tried


def test_an_argument_brings_what_it_means_nothing_without() -> None:
    assert together([("lora_alpha", 3)]) == {"lora_rank": 2, "lora_alpha": 3}
    assert together([("lora_alpha", 3), ("lora_rank", 1)]) == {"lora_rank": 1, "lora_alpha": 3}
