"""What a trial comes to: a verdict, whose fault it is, where, and what else is told of a cause."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Observation
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


INPUT = layer("input", "InputLayer", 0)
ON_INPUT = {"tensor": [0, 0, 0]}


def called(args: list[Any]) -> Observation:
    return observed([INPUT, layer("s", "SumList", 1, replace(gives([0, 0, 0]), args=args))], [1])


def with_lambda(config: dict[str, str]) -> Observation:
    return observed([INPUT, replace(layer("l", "Lambda", 1, gives([0, 0, 0])), config=config)], [1])


@pytest.mark.parametrize(
    ("original", "calling", "given"),
    [
        pytest.param(called([[ON_INPUT]]), "a.py:call", ("a list of one tensor",), id="a call on a list of one"),
        pytest.param(called([{"tuple": [ON_INPUT]}]), "a.py:call", ("a list of one tensor",), id="a tuple of one"),
        pytest.param(called([[ON_INPUT]]), "", (), id="not raised in a call"),
        pytest.param(called([[ON_INPUT, ON_INPUT]]), "a.py:call", (), id="a list of two"),
        pytest.param(with_lambda({"mask": "function mask db8b"}), "", ("a Lambda with a mask",), id="a mask"),
        pytest.param(with_lambda({"mask": "None"}), "", (), id="no mask"),
        pytest.param(with_lambda({}), "", (), id="nothing said of a mask"),
    ],
)
def test_an_exception_tells_what_of_the_model_may_be_behind_it(
    original: Observation, calling: str, given: tuple[str, ...]
) -> None:
    assert [cause.given for cause in causes(original, [raising(None, calling)], ("step",))] == [("step", *given)]


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
