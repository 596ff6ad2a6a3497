"""The sentences that causes are called by: each aspect that a check can see has one of its own."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from clonediff.harness.trials.checks import ASPECTS, CHECKS
from clonediff.harness.trials.titles import sentence
from clonediff.harness.trials.triage import signature, title
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity

DENSE = Place("dense", "Dense", 1)
MODEL = Place("functional", "Functional", -1, container=True)

PATHS = {"again": "twice.model", "saved": "saved.run", "untouched": "original.model"}


def seen(check: str, aspect: str, first: Place | None = DENSE, **fields: object) -> Difference:
    raises = aspect == "raises" or aspect.startswith("process ")
    raised = (
        Raised("ValueError", "no", "keras/src/ops/function.py:run")
        if raises and check not in ("device", "backend")
        else None
    )
    given = {"path": PATHS.get(check, "model"), "expected": "true", "found": "false", "raised": raised, **fields}
    return Difference(check=check, aspect=aspect, severity=Severity.CRASHES, first=first, **given)  # type: ignore[arg-type]  # as in the tests below


def called(root: Difference) -> str:
    return title(Cause("x", root))


EXAMPLES = {
    "config.*_regularizer": "config.bias_regularizer",
    "config.*_constraint": "config.bias_constraint",
    "config.*": "config.units",
    "attribute.*": "attribute.seed",
    "compiled.*": "compiled.loss.Huber.delta",
    "process *": "process exit code 3",
}
"""An aspect of each family."""


def declared(check: str) -> list[tuple[str, str]]:
    """Every aspect that a check declares, with a path where it is seen."""
    return [(EXAMPLES.get(each.name, each.name), each.path or PATHS.get(check, "model")) for each in ASPECTS[check]]


@pytest.mark.parametrize("check", ASPECTS)
@pytest.mark.parametrize("first", [None, DENSE, MODEL], ids=["nowhere", "a layer", "the model"])
def test_each_aspect_of_each_check_has_a_sentence(check: str, first: Place | None) -> None:
    for aspect, path in declared(check):
        said = called(seen(check, aspect, first, path=path))
        assert " differs" not in said
        assert said[0].isupper()
        odd = re.search(
            r"[{}_*]|  |, :| ,|\bfunctional\b(?! model)|\bdense\b", said.replace("supports_masking", "flag")
        )
        assert odd is None or aspect.startswith(("config.", "attribute.", "unshared.", "merged.")), said


def test_what_no_check_has_is_told_all_the_same() -> None:
    assert called(seen("structure", "{colour}")) == "A Dense differs in the clone: {colour}"


def test_a_check_can_say_only_what_it_declares() -> None:
    with pytest.raises(KeyError, match="the check made declares no aspect 'colour'"):
        ASPECTS["made"].differs("colour", "clone", "red", "blue", None)


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_costs_what_its_worst_aspect_costs(check: str) -> None:
    assert CHECKS[check].severity == min(each.severity for each in CHECKS[check].aspects)


@pytest.mark.parametrize(
    ("root", "said"),
    [
        pytest.param(
            seen("structure", "call.args type", Place("x", "GetItem", 1), expected='{"tuple": [1]}', found="[1]"),
            "A tuple in the arguments of a call is a list in the clone",
            id="tuple",
        ),
        pytest.param(
            seen("structure", "call.kwargs type", expected='{"array": {}}', found="[1.0]"),
            "An array in the keyword arguments of a call is a list in the clone",
            id="array",
        ),
        pytest.param(
            seen("structure", "output structure type", expected='{"dict": [], "type": "X"}', found='{"dict": []}'),
            "A dict of its own class in the outputs of a model is a dict in the clone",
            id="class",
        ),
        pytest.param(
            seen("structure", "trainable", MODEL, expected="false", found="true"),
            "A frozen model is trainable in the clone",
            id="frozen",
        ),
        pytest.param(seen("structure", "trainable"), "A trainable layer is frozen in the clone", id="thawed"),
        pytest.param(
            seen("structure", "trainable", replace(DENSE, inside="Bidirectional"), expected="false", found="true"),
            "A frozen layer in a Bidirectional is trainable in the clone",
            id="frozen-inside",
        ),
        pytest.param(
            seen("structure", "name", Place("input_layer", "InputLayer", 0)),
            "An input layer has another name in the clone",
            id="input",
        ),
        pytest.param(
            seen("structure", "config.optional", Place("i", "InputLayer", 0), expected="True", found="False"),
            "An input layer that is optional is not optional in the clone",
            id="optional",
        ),
        pytest.param(
            seen("structure", "config.activity_regularizer", Place("l", "Lambda", 0), expected="{}", found="None"),
            "The setting activity_regularizer of a layer is lost in the clone",
            id="setting",
        ),
        pytest.param(
            seen("made", "raises", Place("x", "Add", 2), path="clone",
                 raised=Raised("ValueError", "no", "keras/src/layers/core/lambda_layer.py:from_config")),
            "A Lambda cannot be cloned: ValueError in lambda_layer.py:from_config",
            id="by the frame",
        ),
        pytest.param(
            seen("made", "raises", Place("x", "Add", 2), path="clone"),
            "A model cannot be cloned: ValueError in function.py:run",
            id="by the kind",
        ),
        pytest.param(
            seen("made", "process SIGSEGV", None, path="process", raised=Raised("SIGSEGV", "", "")),
            "Cloning a model, or running the clone, ends its process: SIGSEGV",
            id="killed",
        ),
        pytest.param(
            seen("outputs", "value", path="training.outputs[0]"),
            "The clone computes something else in training mode: first at Dense",
            id="value",
        ),
        pytest.param(
            seen("again", "raises", path="twice"),
            "The clone cannot be cloned: ValueError in function.py:run",
            id="twice",
        ),
        pytest.param(
            seen("again", "call order", path="again.layers['dense'].calls"),
            "The calls of a shared layer come in another order in a second clone",
            id="again",
        ),
        pytest.param(
            seen("untouched", "value", path="original.inference.outputs[0]"),
            "Cloning changes the original: it computes something else: first at Dense",
            id="untouched",
        ),
        pytest.param(
            seen("saved", "raises", path="saved.loading"),
            "The clone cannot be loaded once it is saved: ValueError in function.py:run",
            id="loading",
        ),
        pytest.param(
            seen("backend", "value"), "A model computes something else on another backend: first at Dense", id="apart"
        ),
    ],
)  # fmt: skip
def test_a_maintainer_understands_it(root: Difference, said: str) -> None:
    assert called(root) == said


@pytest.mark.parametrize("check", ASPECTS)
def test_a_cause_is_called_alike_whatever_layer_met_it(check: str) -> None:
    places = [DENSE, Place("dense_7", "Dense", 9, 3), Place("inner/lstm", "LSTM", 4), Place("add", "Add", 2), MODEL]
    for aspect, path in declared(check):
        by_key: dict[tuple[str, ...], set[str]] = {}
        for number, first in enumerate(places):
            root = seen(check, aspect, first, path=path)
            if root.raised is not None:
                root = replace(root, raised=replace(root.raised, message=f"message {number}"))
            by_key.setdefault(signature(root), set()).add(called(root))
        assert len(by_key) < len(places)
        assert all(len(titles) == 1 for titles in by_key.values()), by_key


def test_a_name_in_an_aspect_is_no_placeholder() -> None:
    assert sentence(seen("structure", "config.{0}", expected="1", found="2"), "Dense") == (
        "The setting {0} of a Dense is another in the clone"
    )
