"""What a replay says, of trials as they may come out and of real ones."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from clonediff.harness.answers.causes import causes_shown
from clonediff.harness.answers.expected import Expected, ReplayOutcome
from clonediff.harness.answers.replay import ReplayRow, with_answer
from clonediff.harness.cli.text.replay import exit_code
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Failure, ModelRun, Observation, Shape
from clonediff.harness.subjects.outcomes import Lost
from clonediff.harness.trials.triage import fingerprint
from clonediff.harness.trials.trial import CloneTrial, Hit, Trial
from clonediff.reports.known import KnownIssue, Pattern
from clonediff.reports.records import Cause, Difference, Raised, Severity
from clonediff.reports.records import Place as Where
from clonediff.strategies import from_json
from tests.example_graphs import EXAMPLES
from tests.reports.making import finding

GRAPH = from_json(EXAMPLES["lambda-refused"], "example")
SHAPE = Shape("Functional", "model", True, None, None, (), (), (), (), ())
BUILT = Trial({"upstream": CloneTrial()}, original=Observation(SHAPE))
REFUSED = Trial(refused=Failure("ValueError", "no such layer"))

LSTM = Where("lstm", "LSTM", 6)
VALUE = Difference("outputs", "inference.outputs[0]", "value", "a", "b", Severity.COMPUTES, LSTM)
NAME = Difference("structure", "layers['a'].name", "name", "a", "b", Severity.NAME, Where("a", "InputLayer", 0))
CRASH = Difference(
    "made", "clone", "raises", "a clone", "no", Severity.CRASHES, LSTM, Raised("ValueError", "no", "keras/src/a.py:f")
)
ELSEWHERE = msgspec.structs.replace(CRASH, raised=Raised("ValueError", "no", "keras/src/b.py:g"))
RUNS_NOT = Difference(
    "outputs",
    "inference",
    "raises",
    "it runs",
    "no",
    Severity.CRASHES,
    LSTM,
    Raised("TypeError", "no", "keras/src/c.py:h"),
)
TRAINS_NOT = msgspec.structs.replace(RUNS_NOT, path="training")
IN_TRAINING = msgspec.structs.replace(VALUE, path="training.outputs[0]")
AGAIN = Difference("again", "twice.inference.outputs[0]", "value", "a", "b", Severity.COMPUTES, LSTM)
ENDS = msgspec.structs.replace(CRASH, path="process", aspect="process SIGSEGV")
ISSUE = KnownIssue("it", "keras", "t", "b", Severity.PROPERTY, "", (Pattern(check="structure"),))


def cause(root: Difference, *followers: Difference) -> Cause:
    return Cause(fingerprint(root), root, followers, root.severity)


def shown(*causes: Cause, known: bool = False) -> list[Hit]:
    issue = ISSUE if known else None
    return [Hit(each.fingerprint, "upstream", "t", Case("", ()), GRAPH, each, known=issue) for each in causes]


def replayed(expected: Expected, tried: Trial) -> ReplayRow:
    return with_answer(ReplayRow("w", "t", "i", "keras", "upstream"), expected, tried)


def expecting(root: Difference) -> Expected:
    return Expected(cause(root))


@pytest.mark.parametrize(
    ("expected", "trial", "hits", "outcome"),
    [
        pytest.param(expecting(VALUE), BUILT, shown(cause(VALUE)), ReplayOutcome.BROKEN, id="it shows"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(VALUE), known=True), ReplayOutcome.BROKEN, id="known by now"),
        pytest.param(expecting(VALUE), BUILT, [], ReplayOutcome.FIXED, id="faithful"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(NAME), known=True), ReplayOutcome.FIXED, id="known remains"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(NAME)), ReplayOutcome.CHANGED, id="another shows"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(CRASH), known=True), ReplayOutcome.CHANGED, id="no clone"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(RUNS_NOT), known=True), ReplayOutcome.CHANGED, id="no run"),
        pytest.param(
            expecting(VALUE),
            BUILT,
            shown(cause(TRAINS_NOT), known=True),
            ReplayOutcome.FIXED,
            id="no run in training only",
        ),
        pytest.param(
            expecting(IN_TRAINING), BUILT, shown(cause(TRAINS_NOT), known=True), ReplayOutcome.CHANGED, id="no such run"
        ),
        pytest.param(
            expecting(NAME),
            BUILT,
            shown(cause(RUNS_NOT), known=True),
            ReplayOutcome.FIXED,
            id="no run, but a structure",
        ),
        pytest.param(
            expecting(VALUE),
            BUILT,
            shown(cause(NAME, VALUE), known=True),
            ReplayOutcome.CHANGED,
            id="it follows",
        ),
        pytest.param(expecting(CRASH), BUILT, shown(cause(ELSEWHERE)), ReplayOutcome.CHANGED, id="raised elsewhere"),
        pytest.param(expecting(VALUE), REFUSED, [], ReplayOutcome.ERROR, id="not built"),
        pytest.param(expecting(VALUE), Trial(lost=Lost(how="SIGSEGV")), [], ReplayOutcome.ERROR, id="process lost"),
        pytest.param(Expected(), BUILT, [], ReplayOutcome.HOLDS, id="a bare graph holds"),
        pytest.param(Expected(), BUILT, shown(cause(NAME), known=True), ReplayOutcome.BROKEN, id="a bare graph breaks"),
        pytest.param(Expected(), REFUSED, [], ReplayOutcome.ERROR, id="a bare graph is not built"),
    ],
)
def test_the_answer(expected: Expected, trial: Trial, hits: list[Hit], outcome: ReplayOutcome) -> None:
    assert replayed(expected, replace(trial, hits=tuple(hits))).outcome is outcome


def test_every_answer_keeps_the_keys_that_it_has_for_a_cause() -> None:
    (told,) = causes_shown(replace(BUILT, hits=tuple(shown(cause(CRASH), known=True))))
    keys = msgspec.to_builtins(told)
    assert (keys["id"], keys["known"]) == (fingerprint(CRASH), "it")
    assert {"title", "severity", "blame", "root", "happens", "headline", "follows", "followers"} <= keys.keys()
    assert {"because", "link", "documented", "script"} <= keys.keys()


def test_what_could_not_be_tried_is_an_error() -> None:
    answer = replayed(expecting(VALUE), Trial(not_tried="why"))
    assert (answer.outcome, answer.because, answer.shown) == (ReplayOutcome.ERROR, "why", ())


@pytest.mark.parametrize(
    ("trial", "outcome"),
    [
        pytest.param(REFUSED, ReplayOutcome.ERROR, id="not built"),
        pytest.param(Trial(lost=Lost(how="SIGSEGV")), ReplayOutcome.BROKEN, id="as before"),
        pytest.param(Trial(lost=Lost(how="SIGABRT")), ReplayOutcome.CHANGED, id="by another signal"),
        pytest.param(BUILT, ReplayOutcome.FIXED, id="built"),
    ],
)
def test_an_original_that_ended_its_process(trial: Trial, outcome: ReplayOutcome) -> None:
    told = finding(0, id="process-lost-sigsegv", differences=(), detail="SIGSEGV: no", cloner="")
    assert replayed(Expected.of(told), trial).outcome is outcome


@pytest.mark.parametrize(
    ("root", "original"),
    [
        pytest.param(VALUE, {"inference": ModelRun(failure=Failure("ValueError", "no"))}, id="cannot run"),
        pytest.param(
            Difference("training", "trained.loss", "loss", "a", "b", Severity.TRAINS, LSTM),
            {"trained": None},
            id="untrained",
        ),
    ],
)
def test_what_the_original_has_not_is_an_error_and_never_fixed(root: Difference, original: dict[str, object]) -> None:
    assert BUILT.original is not None
    trial = msgspec.structs.replace(BUILT, original=msgspec.structs.replace(BUILT.original, **original))
    answer = replayed(expecting(root), trial)
    assert answer.outcome is ReplayOutcome.ERROR
    assert answer.because.startswith("the original itself ")


@pytest.mark.parametrize(
    ("root", "costly"),
    [(AGAIN, True), (VALUE, False), (CRASH, False), (ENDS, True)],
    ids=["again", "outputs", "made", "process"],
)
def test_the_costly_checks_are_run_where_they_are_what_saw_it(root: Difference, costly: bool) -> None:
    assert expecting(root).costly is costly
    assert expecting(root).of(finding(0, differences=(VALUE, root))).costly is costly


def test_an_original_may_end_its_process_in_a_costly_part() -> None:
    assert Expected.of(finding(0, id="process-lost-sigsegv", differences=(), detail="SIGSEGV", cloner="")).costly


@pytest.mark.parametrize(
    ("outcomes", "interrupted", "code"),
    [
        pytest.param([], False, 0, id="nothing"),
        pytest.param([ReplayOutcome.FIXED, ReplayOutcome.HOLDS], False, 0, id="fixed"),
        pytest.param([ReplayOutcome.FIXED, ReplayOutcome.BROKEN], False, 1, id="still broken"),
        pytest.param([ReplayOutcome.CHANGED], False, 1, id="changed"),
        pytest.param([ReplayOutcome.BROKEN, ReplayOutcome.ERROR], False, 2, id="an error"),
        pytest.param([ReplayOutcome.ERROR], True, 130, id="interrupted"),
    ],
)
def test_the_exit_code(outcomes: list[ReplayOutcome], interrupted: bool, code: int) -> None:
    rows = [ReplayRow("w", "t", "i", "keras", "upstream", each) for each in outcomes]
    assert exit_code(rows, interrupted=interrupted) == code
