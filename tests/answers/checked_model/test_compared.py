"""What a check says that it has compared, and what it has not. No Keras is started."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.compared import WORDS, compared
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, NotCompared, Status
from clonediff.harness.answers.checked_model.verdicts import RAISED
from clonediff.harness.cli.text.check import checked_text
from clonediff.harness.subjects import Case
from clonediff.harness.subjects.case import COSTLY
from clonediff.harness.subjects.observation import (
    Failure,
    Fitted,
    ModelRun,
    Observation,
    Saved,
    Shape,
    Together,
    Trained,
)
from clonediff.harness.trials.checks import CHECKS
from clonediff.reports.records import Difference, Severity

SHAPE = Shape("Functional", "model", True, None, None, (), (), (), (), ())
OBSERVED = Observation(SHAPE, ModelRun(), ModelRun(), trained=Trained(), saved=Saved(run=ModelRun()), often=True)
CASE = Case("", ())
BOTH = (Cloned("upstream", "faithful"), Cloned("fixed", "faithful"))
NO = Failure("ValueError", "not this one")
CANNOT = CauseShown(
    "id", "Title", "crashes", "upstream", Difference("made", "clone", "raises", "a", "b", Severity.CRASHES), hides=True
)


def test_each_check_has_a_word() -> None:
    assert set(WORDS) == set(CHECKS)


def test_all_is_compared_but_functions_that_nobody_gave() -> None:
    looked_at, left_out = compared(OBSERVED, BOTH, CASE, COSTLY)
    assert looked_at == tuple(word for check, word in WORDS.items() if check != "functions" and check in CHECKS)
    assert left_out == ()


@pytest.mark.parametrize(
    ("changes", "what", "why"),
    [
        (
            {"trained": Trained(failure=NO)},
            {WORDS["training"], WORDS["together"]},
            "the model itself cannot be trained",
        ),
        ({"saved": Saved(saving=NO)}, {"the clone saved and loaded"}, "the model itself cannot be saved"),
        (
            {"saved": Saved(loading=NO)},
            {"the clone saved and loaded"},
            "the model itself cannot be loaded once it is saved",
        ),
        (
            {"saved": Saved(run=ModelRun(failure=NO))},
            {"what the loaded clone gives"},
            "the model itself does not run once it is loaded",
        ),
    ],
    ids=["trained", "saved", "loaded", "loaded-and-run"],
)
def test_what_the_model_itself_cannot_do_is_not_compared(changes: dict[str, Any], what: set[str], why: str) -> None:
    looked_at, left_out = compared(structs.replace(OBSERVED, **changes), BOTH, CASE, COSTLY)
    assert {*left_out} == {NotCompared(each, f"{why}: ValueError: not this one") for each in what}
    assert what.isdisjoint(looked_at)


def test_where_two_builds_cannot_be_trained_in_one_model_no_clone_is_compared_there() -> None:
    looked_at, left_out = compared(structs.replace(OBSERVED, together=Together(failure=NO)), BOTH, CASE, COSTLY)
    why = "the model itself cannot be trained beside another build: ValueError: not this one"
    assert left_out == (NotCompared(WORDS["together"], why),)
    assert WORDS["together"] not in looked_at


def test_what_no_cloner_promises_has_one_reason_for_not_being_compared() -> None:
    mine = Cloned("clones_of_mine:clones[outputs]", "faithful")
    original = structs.replace(OBSERVED, shape=structs.replace(SHAPE, compiled={"loss": "mse"}))
    looked_at, (left_out,) = compared(original, (mine,), CASE, COSTLY)
    assert looked_at == ("whether it can be cloned", "outputs")
    assert left_out.why == "clones_of_mine:clones[outputs] does not promise it"
    assert "many clones" in left_out.what


@pytest.mark.parametrize("name", ["same_layers", "clones_of_mine:clones[together,outputs]"])
def test_who_may_have_weights_of_the_model_takes_no_step_beside_it(name: str) -> None:
    looked_at, left_out = compared(OBSERVED, (Cloned(name, "faithful"),), CASE, COSTLY)
    assert WORDS["together"] not in looked_at
    assert WORDS["together"] in left_out[-1].what


def test_a_model_of_a_process_of_somebody_s_is_not_called_in_another() -> None:
    together = Together(why="it is not to be changed")
    left_out = compared(structs.replace(OBSERVED, together=together), BOTH, CASE, COSTLY)[1]
    assert left_out == (NotCompared(WORDS["together"], "it is not to be changed"),)


def test_a_large_model_is_not_cloned_many_times() -> None:
    (left_out,) = compared(structs.replace(OBSERVED, often=False), BOTH, CASE, COSTLY)[1]
    assert left_out.what == WORDS["often"]


@pytest.mark.parametrize(
    ("case", "checks", "missing"),
    [
        (CASE, (), {WORDS[name] for name in ("again", "training", "saved", "together", "often")}),
        (Case("", (), arguments={"recursive": "True"}), COSTLY, {"a second clone", WORDS["together"]}),
        (
            Case("", (), arguments={"clone_function": "f"}, user_arguments=True),
            (),
            set(WORDS.values()).difference(WORDS[name] for name in ("made", "untouched", "functions")),
        ),
    ],
    ids=["not-asked", "arguments", "users-arguments"],
)
def test_what_was_not_asked_for_is_not_compared(case: Case, checks: tuple[str, ...], missing: set[str]) -> None:
    looked_at, left_out = compared(OBSERVED, BOTH, case, checks)
    assert {each.what for each in left_out} == missing
    assert not missing.intersection(looked_at)


FAILED = "the model itself cannot be trained by `fit`: ValueError: not this one"


@pytest.mark.parametrize(
    ("fitted", "case", "checks", "why"),
    [
        (Fitted({"loss": "1"}), CASE, COSTLY, ""),
        (Fitted(failure=NO), CASE, COSTLY, FAILED),
        (Fitted(why="it has made steps"), CASE, COSTLY, "it has made steps"),
        (None, CASE, COSTLY, "no clone is compiled, nor could be as the model is"),
        (None, Case("", (), arguments={"recursive": "True"}), COSTLY, "it is for clones without arguments"),
        (None, CASE, ("again", "saving"), "not asked for (--no-costly)"),
    ],
    ids=["compared", "raises", "steps", "not-compiled", "arguments", "not-asked"],
)
def test_what_fit_makes_of_a_compiled_model_is_compared_or_not(
    fitted: Fitted | None, case: Case, checks: tuple[str, ...], why: str
) -> None:
    original = structs.replace(OBSERVED, shape=structs.replace(SHAPE, compiled={"loss": "mse"}), fitted=fitted)
    looked_at, left_out = compared(original, BOTH, case, checks)
    assert ("a step by `fit`" in looked_at) is (not why)
    assert [each.why for each in left_out if each.what == "a step by `fit`"] == ([why] if why else [])


@pytest.mark.parametrize(
    "without", [Cloned("upstream", "crashed", "", (CANNOT,)), Cloned("upstream", "faithful", RAISED)], ids=["no", "own"]
)
def test_where_there_is_no_clone_nothing_of_it_was_compared(without: Cloned) -> None:
    looked_at, left_out = compared(OBSERVED, (without,), CASE, COSTLY)
    assert looked_at == ("whether it can be cloned",)
    looked_at, left_out = compared(OBSERVED, (without, BOTH[1]), CASE, COSTLY)
    assert "outputs" in looked_at
    assert left_out == (NotCompared("anything else of upstream", "there is no clone", "upstream"),)


def test_what_chance_decides_takes_nothing_from_a_faithful_clone() -> None:
    left_out = compared(structs.replace(OBSERVED, varying=((".seed",), (".seed", ".b"))), BOTH, CASE, COSTLY)[1]
    told = NotCompared("what layers hold at .seed, .b", "another build of the model does not repeat it", chance=True)
    assert left_out == (told,)
    checked = CheckedModel("model", "keras", Status.CHECKED, clones=BOTH, compared=("outputs",), not_compared=left_out)
    assert not checked.in_part
    assert "  fixed: faithful" in checked_text(checked)


def test_the_text_names_what_was_compared_and_what_was_not() -> None:
    left_out = (NotCompared("a step of training", "no \x1b[31m"), NotCompared("a second clone", "no \x1b[31m"))
    checked = CheckedModel("model", "keras", Status.CHECKED, clones=BOTH, compared=("outputs",), not_compared=left_out)
    assert checked_text(checked)[1:] == [
        "  compared: outputs",
        "  not compared: a step of training, a second clone: no \\x1b[31m",
        "  upstream: faithful in what was compared",
        "  fixed: faithful in what was compared",
    ]
