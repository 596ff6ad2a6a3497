"""The sentences that causes are called by: each aspect that a check can see has one of its own."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from clonediff.harness.trials.checks import ASPECTS, CHECKS
from clonediff.harness.trials.triage import signature, title
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity

DENSE = Place("dense", "Dense", 1)
MODEL = Place("functional", "Functional", -1, container=True)

_NAMING = ("config.", "attribute.", "unshared.", "merged.", "object reached.")
"""How aspects begin that have the name of an attribute or an argument."""
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
        assert odd is None or aspect.startswith(_NAMING), said


def test_a_check_can_say_only_what_it_declares() -> None:
    with pytest.raises(KeyError, match="the check made declares no aspect 'colour'"):
        ASPECTS["made"].differs("colour", "clone", "red", "blue", None)


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_costs_what_its_worst_aspect_costs(check: str) -> None:
    assert CHECKS[check].severity == min(each.severity for each in CHECKS[check].aspects)


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
