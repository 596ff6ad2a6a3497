"""What a trial comes to: a verdict, whose fault it is, where, and what else is told of a cause."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from clonediff.harness.trials.triage import Verdict, alike, causes, fingerprint, verdict, with_blame
from clonediff.reports.records import Blame, Cause, Difference, Place, Raised, Severity

from .checks.making import gives, layer, observed
from .differences import RAISING

RAISED_IN_MAKING = Cause("raised", replace(RAISING, check="made"))


def raising(place: Place | None, calling: str) -> Difference:
    raised = Raised("ValueError", "no", "b.py:inner", calling)
    return Difference("made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES, place, raised)


def test_verdicts() -> None:
    assert verdict([]) is Verdict.FAITHFUL
    assert verdict([replace(RAISING, check="made")]) is Verdict.CRASHED
    assert verdict([RAISING]) is Verdict.DIVERGED
    for aspect, ended in (("process timed out", Verdict.TIMED_OUT), ("process SIGSEGV", Verdict.KILLED)):
        assert verdict([replace(RAISING, check="made", aspect=aspect)]) is ended


def test_blame_goes_three_ways() -> None:
    def cause(check: str, aspect: str = "value", frame: str = "") -> Cause:
        root = Difference(check, "p", aspect, "", "", Severity.COMPUTES, Place("a", "A", 1), Raised("E", "", frame))
        return Cause(fingerprint(root), root)

    upstream, both, ours = cause("outputs"), cause("masks", frame="keras/x.py:f"), cause("weights")
    theirs = cause("masks", frame="fixed/y.py:g")
    assert alike(both, theirs)
    found = with_blame({"upstream": [upstream, both], "fixed": [theirs, ours], "other": [ours]})
    assert {cloner: [each.blame for each in its] for cloner, its in found.items()} == {
        "upstream": [Blame.UPSTREAM, Blame.BOTH],
        "fixed": [Blame.BOTH, Blame.OURS],
        "other": [Blame.ITS_OWN],
    }


def test_what_both_break_is_said_to_be_no_limit() -> None:
    assert all("limit" not in each for each in Blame)


@pytest.mark.parametrize("upstream", [{"upstream": [RAISED_IN_MAKING]}, {}], ids=["made no clone", "was not asked"])
def test_nobody_is_at_fault_for_what_upstream_had_no_chance_to_show(upstream: dict[str, list[Cause]]) -> None:
    ours = Cause("id", replace(RAISING, check="weights"))
    assert [each.blame for each in with_blame({**upstream, "fixed": [ours]})["fixed"]] == [Blame.UNKNOWN]


@pytest.mark.parametrize(
    ("raises_in", "calling", "given"),
    [
        (3, "a.py:call", ("a list of one tensor",)),
        (3, "", ()),  # not in a call: a layer that cannot be made, say
        (1, "a.py:call", ()),
        (-1, "a.py:call", ()),
        (None, "a.py:call", ("a list of one tensor",)),  # no layer is named: it may be any
        (None, "", ()),
    ],
)
@pytest.mark.parametrize("listed", [[{"tensor": [1, 0, 0]}], {"tuple": [{"tensor": [1, 0, 0]}]}], ids=["list", "tuple"])
def test_a_call_that_raises_tells_that_one_before_it_is_on_a_list_of_one(
    listed: Any, raises_in: int | None, calling: str, given: tuple[str, ...]
) -> None:
    first = [layer("input", "InputLayer", 0), layer("d", "Dense", 1, gives([0, 0, 0]))]
    summed = layer("s", "SumList", 2, replace(gives([1, 0, 0]), args=[listed]))
    original = observed([*first, summed, layer("r", "Reshape", 3, gives([2, 0, 0]))], [3])
    place = None if raises_in is None else Place("r", "Reshape", raises_in, container=raises_in < 0)
    fails = raising(place, calling)
    assert [cause.given for cause in causes(original, [fails], ("step",))] == [("step", *given)]


def test_a_list_of_several_is_no_list_of_one() -> None:
    two = replace(gives([0, 0, 0]), args=[[{"tensor": [0, 0, 0]}, {"tensor": [0, 0, 0]}]])
    original = observed([layer("input", "InputLayer", 0), layer("s", "SumList", 1, two)], [1])
    assert [cause.given for cause in causes(original, [raising(Place("s", "SumList", 1), "a.py:call")])] == [()]


@pytest.mark.parametrize(
    ("config", "given"),
    [
        ({"mask": "function mask db8b"}, ("a Lambda with a mask",)),
        ({"mask": "None"}, ()),
        ({}, ()),
    ],
    ids=["a mask", "no mask", "nothing said of it"],
)
@pytest.mark.parametrize(
    "place", [None, Place("d", "Dense", 2), Place("m", "Model", -1)], ids=["none", "layer", "model"]
)
def test_an_exception_tells_that_the_model_has_a_lambda_with_a_mask(
    config: dict[str, str], given: tuple[str, ...], place: Place | None
) -> None:
    first = layer("input", "InputLayer", 0)
    made = replace(layer("l", "Lambda", 1, gives([0, 0, 0])), config=config)
    original = observed([first, made, layer("d", "Dense", 2, gives([1, 0, 0]))], [2])
    assert [cause.given for cause in causes(original, [raising(place, "")])] == [given]


@pytest.mark.parametrize(
    ("expected", "found", "given"),
    [
        ("function gelu 1235eda2", "function gelu 4ccbd530", ("a function of the same name",)),
        ("function gelu 1235eda2", "function linear 4ccbd530", ()),
        ("function gelu 1235eda2", "nothing", ()),
        ("gelu", "gelu", ()),
    ],
    ids=["of its name", "of another", "lost", "no function"],
)
def test_a_function_in_the_place_of_another_tells_that_it_has_its_name(
    expected: str, found: str, given: tuple[str, ...]
) -> None:
    dense = layer("d", "Dense", 1, gives([0, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), dense], [1])
    differs = Difference(
        "structure", "p", "attribute.activation", expected, found, Severity.COMPUTES, Place("d", "Dense", 1)
    )
    assert [cause.given for cause in causes(original, [differs])] == [given]
