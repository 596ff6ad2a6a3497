"""Optimizers, losses and metrics of a release: drawn with the arguments that their signatures name."""

from __future__ import annotations

import random

import pytest

from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.strategies.asking import asking
from clonediff.strategies.drawn_preparations import DIGITS, preparations_of
from clonediff.strategies.graph import Form, Named, Seq, Value
from clonediff.strategies.kinds.forms import FORMS
from clonediff.strategies.kinds.kind import Parameter
from clonediff.strategies.kinds.objects import MODULES, Objects, drawn_object, is_object
from clonediff.strategies.preparations import within
from tests.strategies.models import GRAPH
from tests.strategies.test_preparations import Refusing

RELEASE: Objects = {
    "optimizers.Fresh": (Parameter("learning_rate", default=0.5), Parameter("nesterov", default=False)),
    "optimizers.schedules.Slow": (Parameter("decay_steps", required=True), Parameter("power", default=1.0)),
    "losses.Fresh": (Parameter("reduction", default="mean"), Parameter("gain", default=2)),
    "metrics.Fresh": (Parameter("thresholds", default=None),),
    "initializers.Fresh": (Parameter("mode", default="fan_in"), Parameter("gain", default=1.0)),
    "regularizers.Fresh": (Parameter("mode", default="rows"), Parameter("l1", default=0.0)),
    "constraints.Fresh": (Parameter("axis", default=0), Parameter("max_value", default=2)),
}


def drawn(sort: str, objects: Objects = RELEASE, count: int = 800) -> list[Value]:
    draw = random.Random(0)
    return [drawn_object(sort, objects, draw) for _ in range(count)]


@pytest.mark.parametrize("sort", MODULES)
def test_every_argument_and_every_form_is_drawn(sort: str) -> None:
    path = next(path for path in RELEASE if path.rpartition(".")[0] == MODULES[sort])
    found = drawn(sort)
    named = [each for each in found if isinstance(each, Named)]
    assert {each.path for each in named} == {path}
    assert {key for each in named for key, _ in each.args or ()} == {each.name for each in RELEASE[path]}
    assert {each.form for each in found if isinstance(each, Form)} == set(FORMS[sort])
    assert len(named) > len(found) / 2


def test_what_is_needed_is_always_given() -> None:
    schedules = [each for each in drawn("schedule") if isinstance(each, Named)]
    assert all("decay_steps" in dict(each.args or ()) for each in schedules)


def test_a_learning_rate_may_be_a_schedule() -> None:
    paths = {leaf.path for each in drawn("optimizer") for leaf in within(each) if isinstance(leaf, Named)}
    assert paths == {"optimizers.Fresh", "optimizers.schedules.Slow"}


def test_an_argument_of_one_name_has_the_values_of_its_sort() -> None:
    modes = {
        sort: {dict(each.args or ()).get("mode") for each in drawn(sort) if isinstance(each, Named)} - {None}
        for sort in ("initializer", "regularizer")
    }
    assert modes == {"initializer": {"fan_avg", "fan_out"}, "regularizer": {"columns"}}


def test_where_a_release_has_none_there_is_none() -> None:
    assert None in drawn("metric", {})


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("losses.Huber", True),
        ("optimizers.schedules.CosineDecay", True),
        ("constraints.MinMaxNorm", True),
        ("losses.get", False),
        ("saving.Model", False),
        ("losses.A.b", False),
        ("losses.A()", False),
    ],
)
def test_a_path_is_that_of_a_class(path: str, there: bool) -> None:
    assert is_object(path) is there


def test_a_model_is_compiled_with_objects_of_the_release() -> None:
    draw, keras = random.Random(0), Refusing()
    with asking(keras):
        every = [
            preparations_of(GRAPH, [draw.randrange(256) for _ in range(DIGITS)], (), objects=RELEASE)
            for _ in range(200)
        ]
    args = [dict(each.args) for done in every for each in done if each.does == "compile"]
    assert any(isinstance(each.get("optimizer"), Named) and each["optimizer"].path in RELEASE for each in args)
    metrics = [each["metrics"] for each in args if isinstance(each.get("metrics"), Seq)]
    assert any(isinstance(item, Named) and item.path == "metrics.Fresh" for each in metrics for item in each.items)


def test_a_release_says_what_its_classes_take(keras: SubjectProcess) -> None:
    objects = asked(keras).capabilities.objects
    assert {"optimizers.Adam", "losses.Huber", "metrics.AUC", "optimizers.schedules.CosineDecay"} <= set(objects)
    assert {"initializers.VarianceScaling", "regularizers.OrthogonalRegularizer", "constraints.MaxNorm"} <= set(objects)
    assert {each.name for each in objects["constraints.MinMaxNorm"]} == {"min_value", "max_value", "rate", "axis"}
    assert "clipnorm" in {each.name for each in objects["optimizers.Adam"]}
    assert all(is_object(path) for path in objects)
