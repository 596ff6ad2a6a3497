"""What a replay says, of trials as they may come out and of real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from harness.hunting.hunt import Accusation, Hunt
from harness.observation import Failure, Observation, Run, Saved, Shape
from harness.replaying import Expected, Outcome, replayed, still_breaks
from harness.replaying.telling import Progress, exit_code
from harness.replaying.trying import Row
from harness.subjects import Subject, SubjectProcess
from harness.subjects.case import Case
from harness.subjects.place import Place
from harness.triage import Verdict, fingerprint
from harness.trial import CloneTrial, Trial
from reports.known import KnownIssue, KnownIssues, Pattern, load
from reports.records import Cause, Cost, Difference, Raised
from reports.records import Place as Where
from strategies.typing import read_example
from tests.reports.making import finding

KNOWN = load()
GRAPH = read_example(KNOWN["lambda-refused"].example or "", "example")
SHAPE = Shape("Functional", "model", True, None, None, (), (), (), (), ())
BUILT = Trial({"upstream": CloneTrial(Verdict.DIVERGED)}, original=Observation(SHAPE))
REFUSED = Trial(refused=Failure("ValueError", "no such layer"))

LSTM = Where("lstm", "LSTM", 6)
VALUE = Difference("outputs", "inference.outputs[0]", "value", "a", "b", Cost.COMPUTES, LSTM)
NAME = Difference("structure", "layers['a'].name", "name", "a", "b", Cost.NAME, Where("a", "InputLayer", 0))
CRASH = Difference(
    "made", "clone", "raises", "a clone", "no", Cost.CRASHES, LSTM, Raised("ValueError", "no", "keras/src/a.py:f")
)
ELSEWHERE = msgspec.structs.replace(CRASH, raised=Raised("ValueError", "no", "keras/src/b.py:g"))
RUNS_NOT = Difference(
    "outputs", "inference", "raises", "it runs", "no", Cost.CRASHES, LSTM, Raised("TypeError", "no", "keras/src/c.py:h")
)
TRAINS_NOT = msgspec.structs.replace(RUNS_NOT, path="training")
IN_TRAINING = msgspec.structs.replace(VALUE, path="training.outputs[0]")
UNSAVED = Difference("saved", "saved.run.outputs[0]", "value", "a", "b", Cost.COMPUTES, LSTM)
ENDS = msgspec.structs.replace(CRASH, path="process", aspect="process SIGSEGV")
ISSUE = KnownIssue("it", "keras", "t", "b", (Pattern(check="structure"),))


def cause(root: Difference, *followers: Difference) -> Cause:
    return Cause(fingerprint(root), root, followers, root.rank)


def shown(*causes: Cause, known: bool = False) -> list[Accusation]:
    issue = ISSUE if known else None
    return [Accusation(each.fingerprint, "upstream", "t", Case("", ()), GRAPH, each, known=issue) for each in causes]


def expecting(root: Difference) -> Expected:
    return Expected(cause(root))


@pytest.mark.parametrize(
    ("expected", "trial", "accusations", "outcome"),
    [
        pytest.param(expecting(VALUE), BUILT, shown(cause(VALUE)), Outcome.BROKEN, id="it shows"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(VALUE), known=True), Outcome.BROKEN, id="known by now"),
        pytest.param(expecting(VALUE), BUILT, [], Outcome.FIXED, id="faithful"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(NAME), known=True), Outcome.FIXED, id="known remains"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(NAME)), Outcome.CHANGED, id="another shows"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(CRASH), known=True), Outcome.CHANGED, id="no clone"),
        pytest.param(expecting(VALUE), BUILT, shown(cause(RUNS_NOT), known=True), Outcome.CHANGED, id="no run"),
        pytest.param(
            expecting(VALUE), BUILT, shown(cause(TRAINS_NOT), known=True), Outcome.FIXED, id="no run in training only"
        ),
        pytest.param(
            expecting(IN_TRAINING), BUILT, shown(cause(TRAINS_NOT), known=True), Outcome.CHANGED, id="no such run"
        ),
        pytest.param(
            expecting(NAME), BUILT, shown(cause(RUNS_NOT), known=True), Outcome.FIXED, id="no run, but a structure"
        ),
        pytest.param(
            expecting(VALUE),
            BUILT,
            shown(cause(NAME, VALUE), known=True),
            Outcome.CHANGED,
            id="it follows",
        ),
        pytest.param(expecting(CRASH), BUILT, shown(cause(ELSEWHERE)), Outcome.CHANGED, id="raised elsewhere"),
        pytest.param(expecting(VALUE), REFUSED, [], Outcome.ERROR, id="not built"),
        pytest.param(expecting(VALUE), Trial(lost=CRASH), [], Outcome.ERROR, id="process lost"),
        pytest.param(Expected(issue=ISSUE), BUILT, shown(cause(NAME)), Outcome.BROKEN, id="an issue shows"),
        pytest.param(Expected(issue=ISSUE), BUILT, [], Outcome.FIXED, id="an issue is gone"),
        pytest.param(Expected(), BUILT, [], Outcome.HOLDS, id="a bare graph holds"),
        pytest.param(Expected(), BUILT, shown(cause(NAME), known=True), Outcome.BROKEN, id="a bare graph breaks"),
        pytest.param(Expected(), REFUSED, [], Outcome.ERROR, id="a bare graph is not built"),
    ],
)
def test_the_answer(expected: Expected, trial: Trial, accusations: list[Accusation], outcome: Outcome) -> None:
    assert replayed(expected, trial, accusations).outcome is outcome


@pytest.mark.parametrize(
    ("trial", "outcome"),
    [
        pytest.param(REFUSED, Outcome.BROKEN, id="as before"),
        pytest.param(Trial(refused=Failure("TypeError", "no")), Outcome.CHANGED, id="with another exception"),
        pytest.param(Trial(lost=CRASH), Outcome.CHANGED, id="with its process"),
        pytest.param(BUILT, Outcome.FIXED, id="built"),
    ],
)
def test_an_original_that_could_not_be_built(trial: Trial, outcome: Outcome) -> None:
    told = finding(0, id="original-refused-valueerror", differences=(), detail="ValueError: no such layer", cloner="")
    assert replayed(Expected.of(told), trial, []).outcome is outcome


@pytest.mark.parametrize(
    ("root", "original"),
    [
        pytest.param(UNSAVED, {"saved": Saved(saving=Failure("ValueError", "no"))}, id="cannot be saved"),
        pytest.param(UNSAVED, {"saved": None}, id="was not saved"),
        pytest.param(VALUE, {"inference": Run(failure=Failure("ValueError", "no"))}, id="cannot run"),
        pytest.param(
            Difference("training", "trained.loss", "loss", "a", "b", Cost.TRAINS, LSTM),
            {"trained": None},
            id="untrained",
        ),
    ],
)
def test_what_the_original_has_not_is_an_error_and_never_fixed(root: Difference, original: dict[str, object]) -> None:
    assert BUILT.original is not None
    trial = msgspec.structs.replace(BUILT, original=msgspec.structs.replace(BUILT.original, **original))
    answer = replayed(expecting(root), trial, [])
    assert answer.outcome is Outcome.ERROR
    assert answer.because.startswith("the original itself ")


@pytest.mark.parametrize(
    ("root", "costly"),
    [(UNSAVED, True), (VALUE, False), (CRASH, False), (ENDS, True)],
    ids=["saved", "outputs", "made", "process"],
)
def test_the_costly_checks_are_run_where_they_are_what_saw_it(root: Difference, costly: bool) -> None:
    assert expecting(root).costly is costly
    assert expecting(root).of(finding(0, differences=(VALUE, root))).costly is costly


@pytest.mark.parametrize(("id_", "costly"), [("process-lost-sigsegv", True), ("original-refused-valueerror", False)])
def test_an_original_may_end_its_process_in_a_costly_part(id_: str, costly: bool) -> None:
    assert Expected.of(finding(0, id=id_, differences=(), detail="SIGSEGV", cloner="")).costly is costly


@pytest.mark.parametrize(
    ("outcomes", "interrupted", "code"),
    [
        pytest.param([], False, 0, id="nothing"),
        pytest.param([Outcome.FIXED, Outcome.HOLDS], False, 0, id="fixed"),
        pytest.param([Outcome.FIXED, Outcome.BROKEN], False, 1, id="still broken"),
        pytest.param([Outcome.CHANGED], False, 1, id="changed"),
        pytest.param([Outcome.BROKEN, Outcome.ERROR], False, 2, id="an error"),
        pytest.param([Outcome.ERROR], True, 130, id="interrupted"),
    ],
)
def test_the_exit_code(outcomes: list[Outcome], interrupted: bool, code: int) -> None:
    rows = [Row("w", "t", "i", "keras", "upstream", each) for each in outcomes]
    assert exit_code(rows, interrupted=interrupted) == code


def test_where_a_replay_is_is_told_with_what_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("harness.replaying.telling.time.monotonic", lambda: now[0])
    progress = Progress(100)
    for now[0] in (1.0, 20.0, 21.0):
        progress.one(0.5)
    assert capsys.readouterr().err == "replayed 2 of 100, about 49 s left\n", "seldom, and not at once"


@pytest.fixture(scope="module")
def keras() -> Iterator[SubjectProcess]:
    with SubjectProcess(Subject.parse("keras")) as process:
        yield process


ONE_CALL = KNOWN["input-name"].example
CANNOT = KnownIssue("none", "keras", "t", "b", (Pattern(check="sharing"),), example=ONE_CALL)


def test_a_known_issue_is_said_to_break_where_it_does(keras: SubjectProcess) -> None:
    hunt = Hunt(keras, KnownIssues(), cloners=("fixed",), rate=0)
    assert still_breaks(KNOWN["lambda-refused"], hunt) is True
    assert still_breaks(KNOWN["input-name"], hunt) is True
    assert still_breaks(CANNOT, hunt) is False
    assert still_breaks(msgspec.structs.replace(KNOWN["input-name"], cloner="fixed"), hunt) is False
    assert (hunt.tally.trials, hunt.tally.verdicts) == (0, {})


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"example": None}, id="without an example"),
        pytest.param({"generation": "tf_keras"}, id="of another generation"),
        pytest.param({"example": '{"inputs": []}'}, id="whose example is no graph"),
        pytest.param({"cloner": "backend"}, id="of two backends, where there is one"),
        pytest.param({"cloner": "multi_gpu"}, id="of a cloner that the release has not"),
        pytest.param({"example": KNOWN["lambda-refused"].example}, id="behind a crash"),
    ],
)
def test_an_issue_that_cannot_be_tried_is_neither(keras: SubjectProcess, changes: dict[str, object]) -> None:
    assert still_breaks(msgspec.structs.replace(CANNOT, **changes), Hunt(keras, KnownIssues())) is None


def test_an_issue_is_gone_in_a_release_without_it(release_place: Callable[[str], Place]) -> None:
    name = "keras==3.14.1"
    with SubjectProcess(Subject.parse(name), place=release_place(name)) as process:
        assert still_breaks(KNOWN["lambda-refused"], Hunt(process, KNOWN)) is False
