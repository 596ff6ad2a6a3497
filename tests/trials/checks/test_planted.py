"""From end to end: every planted fault is caught by the check that it names, and the fixed cloner passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clonediff.harness.inside.cloners.planted import PLANTED
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.case import COSTLY
from clonediff.harness.trials.checks import CHECKS
from clonediff.harness.trials.triage import Verdict, title
from clonediff.harness.trials.trial import CloneTrial, Trial, run
from clonediff.reports.records import Blame
from tests.example_counts import everything
from tests.waiting import PATIENCE

from .planted_models import MODELS, case

# The check that must catch a fault, as its first line says; "aborts" leaves nothing to check.
CAUGHT_BY = {
    name: (fault.__doc__ or "").split(":", 1)[0]
    for name, fault in PLANTED.items()
    if name != "aborts"
    and not name.startswith(
        ("argument_", "prepared_")
    )  # see `tests/trials/test_clone_arguments.py`, `test_preparations.py`
}


@pytest.fixture(
    scope="module",
    params=[
        "keras",
        pytest.param(
            "tf_keras", marks=pytest.mark.slow(reason="a hundred clones for minutes; the checks are those of Keras 3")
        ),
    ],
)
def trials(request: pytest.FixtureRequest, warm: Callable[[str], SubjectProcess]) -> dict[str, Trial]:
    """Each model through upstream, fixed and the planted faults that no model before it caught, in one process.

    At night every model goes through all of them.
    """
    process, found, left = warm(request.param), {}, dict(CAUGHT_BY)
    for name in MODELS:
        tried = case(name, request.param)
        often = [f"planted/{fault}" for fault, check in left.items() if check == "often"]  # which takes the longest
        costly = [f"planted/{fault}" for fault, check in left.items() if CHECKS[check].part and check != "often"]
        cheap = [f"planted/{fault}" for fault, check in left.items() if not CHECKS[check].part]
        most = [part for part in COSTLY if part != "often"]
        first = run(tried, process, cheap, timeout=PATIENCE)
        second = run(tried, process, costly, most, timeout=PATIENCE)
        full = run(tried, process, ["upstream", "fixed", *often], COSTLY if often else most, timeout=PATIENCE)
        found[name] = replace(full, clones={**first.clones, **second.clones, **full.clones})
        if not everything():
            left = {fault: check for fault, check in left.items() if check not in _checks(found[name], fault)}
    return found


def test_fixed_is_faithful_on_every_model(trials: dict[str, Trial]) -> None:
    for name, trial in trials.items():
        assert trial.built, (name, trial.refused, trial.lost)
        assert trial.clones["fixed"].differences == (), name
        assert trial.clones["fixed"].verdict is Verdict.FAITHFUL


@pytest.mark.parametrize("fault", CAUGHT_BY)
def test_a_planted_fault_is_caught_by_its_check(trials: dict[str, Trial], fault: str) -> None:
    if fault in ("seed_shared", "state_shared_between_clones") and _generation(trials) == "tf_keras":
        pytest.skip(reason="no layer of tf_keras holds a seed as a variable")
    caught = {name: _checks(trial, fault) for name, trial in trials.items() if f"planted/{fault}" in trial.clones}
    assert any(CAUGHT_BY[fault] in checks for checks in caught.values()), caught


@pytest.mark.parametrize("fault", CAUGHT_BY)
def test_a_planted_fault_has_few_causes(trials: dict[str, Trial], fault: str) -> None:
    for name, trial in trials.items():
        if f"planted/{fault}" not in trial.clones:
            continue
        found = _of(trial, fault)
        causes = [cause.fingerprint for cause in found.causes]
        assert len(causes) <= 5, (name, causes)
        assert sum(len(cause.differences) for cause in found.causes) == len(found.differences)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("initial_state_dropped", "The initial_state of a call is lost in the clone"),
        ("mask_of_another_call", "The mask of a call is another tensor in the clone"),
    ],
)
def test_a_cause_says_what_was_lost(trials: dict[str, Trial], fault: str, said: str) -> None:
    told = [_of(trial, fault).causes for trial in trials.values() if f"planted/{fault}" in trial.clones]
    titles = [[title(cause) for cause in causes] for causes in told if causes]
    assert titles and all(each == [said] for each in titles), titles


def test_every_check_has_a_planted_fault() -> None:
    of_arguments = {
        (fault.__doc__ or "").split(":", 1)[0] for name, fault in PLANTED.items() if name.startswith("argument_")
    }
    assert set(CAUGHT_BY.values()) | of_arguments == set(CHECKS)


def test_what_upstream_breaks_and_fixed_holds_is_an_upstream_bug(trials: dict[str, Trial]) -> None:
    blames = {each.blame for trial in trials.values() for each in trial.clones["upstream"].causes}
    assert blames == {Blame.UPSTREAM}


def test_numbers_come_with_values_that_differ(trials: dict[str, Trial]) -> None:
    differing = [
        one
        for trial in trials.values()
        if "planted/arguments_forgotten" in trial.clones
        for one in _of(trial, "arguments_forgotten").differences
        if one.check == "outputs" and one.aspect == "value"
    ]
    assert differing
    for one in differing:
        assert one.numbers is not None
        assert 0 < one.numbers.differing <= one.numbers.total


def _generation(trials: dict[str, Trial]) -> str:
    kinds = {layer.kind for trial in trials.values() if trial.original for layer in trial.original.shape.layers}
    return "tf_keras" if "TFOpLambda" in kinds else "keras"


def _of(trial: Trial, fault: str) -> CloneTrial:
    return trial.clones[f"planted/{fault}"]


def _checks(trial: Trial, fault: str) -> set[str]:
    return {one.check for one in _of(trial, fault).differences}
