"""What a downstream project uses: `check_clone` and `clone_model`, in its own process."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from typing import Any

import pytest

from clonediff import UnfaithfulClone, check_clone, clone_model
from clonediff.reports.records import Severity
from clonediff.strategies import Graph
from clonediff.strategies.graph import Call, Function, Input, Layer, Ref, Seq
from tests.waiting import PATIENCE

TWO_OUTPUTS = Graph(
    inputs=(Input((1,)),),
    layers=(Layer("Lambda", (("function", Function("lambda", ("x", "x"), "list")),)), Layer("Add")),
    calls=(Call(0, (Ref(0),), outputs=2), Call(1, (Seq((Ref(1, 0), Ref(1, 1))),))),
    takes=Ref(0),
    gives=Ref(2),
)


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
@pytest.mark.parametrize("costly", [False, True], ids=["quick", "costly"])
def test_the_reported_model_is_cloned_faithfully(generation: Any, costly: bool) -> None:
    check_clone(TWO_OUTPUTS, clone_model, generation=generation, costly=costly)


def test_a_model_is_checked_in_a_session_that_was_cleared() -> None:
    tf_keras: Any = pytest.importorskip("tf_keras")
    backend = importlib.import_module("tf_keras.src.backend")
    phases = backend._GRAPH_LEARNING_PHASES
    try:
        tf_keras.backend.clear_session()
        cleared = backend._GRAPH_LEARNING_PHASES
        assert type(cleared) is dict
        check_clone(TWO_OUTPUTS, clone_model, generation="tf_keras", costly=False)
        assert backend._GRAPH_LEARNING_PHASES is cleared
    finally:
        backend._GRAPH_LEARNING_PHASES = phases


def test_a_model_that_warns_is_checked_where_warnings_are_errors() -> None:
    keras: Any = pytest.importorskip("keras")
    made = keras.layers.Dense.__init__

    def warns(self: Any, *args: Any, **options: Any) -> None:
        warnings.warn("a dense layer", UserWarning, stacklevel=1)
        made(self, *args, **options)

    dense = Graph((Input((3,)),), (Layer("Dense", (("units", 2),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(keras.layers.Dense, "__init__", warns)
        warnings.simplefilter("error")
        check_clone(dense, clone_model, costly=True)


def test_a_cloner_that_hands_back_the_model_is_caught() -> None:
    with pytest.raises(UnfaithfulClone, match="own: ") as caught:
        check_clone(TWO_OUTPUTS, lambda model: model)
    assert {cause.root.check for cause in caught.value.causes} == {"own"}
    assert "layers.Lambda(lambda x: [x, x])" in str(caught.value)


def test_a_cloner_that_raises_is_caught() -> None:
    def refuses(model: Any) -> Any:
        raise NotImplementedError("no clones today")

    with pytest.raises(UnfaithfulClone, match="no clones today") as caught:
        check_clone(TWO_OUTPUTS, refuses)
    assert caught.value.causes[0].root.check == "made"


def test_a_cause_can_be_ignored() -> None:
    check_clone(TWO_OUTPUTS, lambda model: model, ignore=lambda cause: cause.root.check == "own")


def test_what_costs_less_than_is_asked_for_is_left_out() -> None:
    def another_name(model: Any) -> Any:
        clone = clone_model(model)
        clone.layers[-1].name = "other"
        return clone

    with pytest.raises(UnfaithfulClone) as caught:
        check_clone(TWO_OUTPUTS, another_name)
    assert {cause.severity for cause in caught.value.causes} == {Severity.NAME}
    assert "left out" not in str(caught.value)
    check_clone(TWO_OUTPUTS, another_name, at_least="property")


def test_how_many_causes_were_left_out_is_in_the_message() -> None:
    def frozen(model: Any) -> Any:
        clone = clone_model(model)
        clone.layers[-1].name = "other"
        clone.layers[-1].trainable = False
        return clone

    dense = Graph((Input((3,)),), (Layer("Dense", (("units", 2),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    with pytest.raises(UnfaithfulClone, match=r"(?m)^left out, by at_least='trains': 1 cause$") as caught:
        check_clone(dense, frozen, at_least="trains")
    assert {cause.severity for cause in caught.value.causes} == {Severity.TRAINS}


def test_an_unknown_severity_is_named() -> None:
    with pytest.raises(ValueError, match="at_least: 'speed' is not one of crashes, computes, trains, property, name"):
        check_clone(TWO_OUTPUTS, clone_model, at_least="speed")


def test_an_unknown_check_is_named() -> None:
    with pytest.raises(ValueError, match="'colour' is not one of"):
        check_clone(TWO_OUTPUTS, clone_model, checks=["colour"])


def test_a_check_that_would_look_at_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="'functions' is of a `clone_function`, .*; leave it out"):
        check_clone(TWO_OUTPUTS, clone_model, checks=["outputs", "functions"])


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="a model or layer of Keras"):
        clone_model(3)


def test_importing_imports_no_keras() -> None:
    code = "import clonediff, sys; print([n for n in ('keras', 'tensorflow') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.strip() == "[]"
