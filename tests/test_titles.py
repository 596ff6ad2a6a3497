"""The sentences that causes are called by: each aspect that a check can see has one of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from clonediff.harness.trials.checks.aspects import ASPECTS, differs
from clonediff.harness.trials.triage import signature, title
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity

DENSE = Place("dense", "Dense", 1)
MODEL = Place("functional", "Functional", -1, container=True)

_NAMING = ("config.", "attribute.", "unshared.", "merged.", "object reached.")
"""How aspects begin that have the name of an attribute or an argument."""
PATHS = {"untouched": "original.model"}


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
    "* scope": "weight scope",
    "* path alone": "weight path alone",
}
"""An aspect of each family."""
MOST = 100
"""How many rows the table may have."""


def declared() -> Iterator[tuple[str, str]]:
    """Every aspect, with a check that finds it."""
    for row in ASPECTS:
        check, _, names = row.pattern.rpartition(": ")
        for name in names.split("|"):
            example = EXAMPLES.get(name, name).replace("call.*", "call.args").replace("*", "x")
            yield check or ("outputs" if "raises" in name else "structure"), example


@pytest.mark.parametrize(("check", "aspect"), declared())
@pytest.mark.parametrize("first", [None, DENSE, MODEL], ids=["nowhere", "a layer", "the model"])
def test_each_aspect_has_a_sentence(check: str, aspect: str, first: Place | None) -> None:
    said = called(seen(check, aspect, first))
    assert " differs" not in said
    assert said[0].isupper()
    odd = re.search(r"[{}_*]|  |, :| ,|\bfunctional\b(?! model)|\bdense\b", said.replace("supports_masking", "flag"))
    assert odd is None or aspect.startswith(_NAMING), said


def test_there_is_one_row_for_each_aspect() -> None:
    assert len(ASPECTS) <= MOST
    for check, aspect in declared():
        differs(check, aspect, "model", "one", "another", None)
    with pytest.raises(KeyError, match="the check made has no aspect 'colour'"):
        differs("made", "colour", "clone", "red", "blue", None)


@pytest.mark.parametrize(("check", "aspect"), declared())
def test_a_cause_is_called_alike_whatever_layer_met_it(check: str, aspect: str) -> None:
    places = [DENSE, Place("dense_7", "Dense", 9, 3), Place("inner/lstm", "LSTM", 4), Place("add", "Add", 2), MODEL]
    by_key: dict[tuple[str, ...], set[str]] = {}
    for number, first in enumerate(places):
        root = seen(check, aspect, first)
        if root.raised is not None:
            root = replace(root, raised=replace(root.raised, message=f"message {number}"))
        by_key.setdefault(signature(root), set()).add(called(root))
    assert len(by_key) < len(places)
    assert all(len(titles) == 1 for titles in by_key.values()), by_key
