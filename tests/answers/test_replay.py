"""What a user points at, and what a replay says of it, of trials as they may come out."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from clonediff.harness.answers.replay import ReplayRow, answer_to, needs_costly
from clonediff.harness.answers.targets import Target, targets
from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.cli.replay import replay_exit_code
from clonediff.harness.scripts.alone import ReplayAnswer
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Failure, ModelRun, Observation, Shape
from clonediff.harness.subjects.outcomes import Lost
from clonediff.harness.trials.triage import fingerprint
from clonediff.harness.trials.trial import CloneTrial, Hit, Trial
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity, write
from clonediff.strategies.program import to_json
from tests.example_graphs import of_layer
from tests.reports.making import TWO, finding

BREAKS, GONE, OTHER, UNKNOWN = ReplayAnswer
ORIGINAL = Observation(Shape("Functional", "model", True, None, None, (), (), (), (), ()))
BUILT = Trial({"upstream": CloneTrial()}, original=ORIGINAL)
REFUSED = Trial(refused=Failure("ValueError", "no such layer"))
SIGSEGV = Trial(lost=Lost(how="SIGSEGV"))

LSTM = Place("lstm", "LSTM", 6)
VALUE = Difference("outputs", "inference.outputs[0]", "value", "a", "b", Severity.COMPUTES, LSTM)
NAME = Difference("structure", "layers['a'].name", "name", "a", "b", Severity.NAME, Place("a", "InputLayer", 0))
CRASH = Difference(
    "made", "clone", "raises", "a clone", "no", Severity.CRASHES, LSTM, Raised("ValueError", "no", "keras/src/a.py:f")
)
ELSEWHERE = replace(CRASH, raised=Raised("ValueError", "no", "keras/src/b.py:g"))
RUNS_NOT = replace(CRASH, check="outputs", path="inference")
TRAINS_NOT = replace(RUNS_NOT, path="training")
IN_TRAINING = replace(VALUE, path="training.outputs[0]")
AGAIN = replace(VALUE, check="again", path="twice.inference.outputs[0]")
TRAINED = Difference("training", "trained.loss", "loss", "a", "b", Severity.TRAINS, LSTM)
ISSUE = KnownIssue("it", "keras", "t", "b", Severity.PROPERTY, "", (Pattern(check="structure"),))
PROCESS_LOST = finding(0, id="process-lost-sigsegv", differences=(), detail="SIGSEGV: no", cloner="")


def showing(root: Difference, *followers: Difference, known: bool = False) -> Trial:
    cause = Cause(fingerprint(root), root, followers, root.severity)
    hit = Hit(cause.fingerprint, "upstream", "t", Case("", ()), TWO, cause, known=ISSUE if known else None)
    return replace(BUILT, hits=(hit,))


def failing(**parts: ModelRun | None) -> Trial:
    return replace(BUILT, original=replace(ORIGINAL, **parts))


@pytest.mark.parametrize(
    ("root", "trial", "answer"),
    [
        pytest.param(VALUE, showing(VALUE), BREAKS, id="it shows"),
        pytest.param(VALUE, showing(VALUE, known=True), BREAKS, id="it is known by now"),
        pytest.param(VALUE, BUILT, GONE, id="faithful"),
        pytest.param(VALUE, showing(NAME, known=True), GONE, id="a known issue remains"),
        pytest.param(VALUE, showing(TRAINS_NOT, known=True), GONE, id="no run in training only"),
        pytest.param(NAME, showing(RUNS_NOT, known=True), GONE, id="no run, but a structure"),
        pytest.param(VALUE, showing(NAME), OTHER, id="another shows"),
        pytest.param(VALUE, showing(CRASH, known=True), OTHER, id="no clone"),
        pytest.param(VALUE, showing(RUNS_NOT, known=True), OTHER, id="no run"),
        pytest.param(IN_TRAINING, showing(TRAINS_NOT, known=True), OTHER, id="no such run"),
        pytest.param(VALUE, showing(NAME, VALUE, known=True), OTHER, id="it follows"),
        pytest.param(CRASH, showing(ELSEWHERE), OTHER, id="raised elsewhere"),
        pytest.param(VALUE, REFUSED, UNKNOWN, id="not built"),
        pytest.param(VALUE, SIGSEGV, UNKNOWN, id="process lost"),
        pytest.param(VALUE, Trial(not_tried="why"), UNKNOWN, id="not tried"),
        pytest.param(
            VALUE, failing(inference=ModelRun(failure=Failure("ValueError", "no"))), UNKNOWN, id="the original fails"
        ),
        pytest.param(TRAINED, failing(trained=None), UNKNOWN, id="the original cannot be trained"),
        pytest.param(None, BUILT, GONE, id="a bare graph is faithful"),
        pytest.param(None, showing(NAME, known=True), BREAKS, id="a bare graph breaks"),
        pytest.param(None, REFUSED, UNKNOWN, id="a bare graph is not built"),
    ],
)
def test_the_answer(root: Difference | None, trial: Trial, answer: ReplayAnswer) -> None:
    assert answer_to(None if root is None else finding(0, differences=(root,)), trial)[0] is answer


@pytest.mark.parametrize(
    ("trial", "answer"),
    [
        pytest.param(REFUSED, UNKNOWN, id="not built"),
        pytest.param(SIGSEGV, BREAKS, id="as before"),
        pytest.param(Trial(lost=Lost(how="SIGABRT")), OTHER, id="by another signal"),
        pytest.param(BUILT, GONE, id="built"),
    ],
)
def test_an_original_that_ended_its_process(trial: Trial, answer: ReplayAnswer) -> None:
    assert answer_to(PROCESS_LOST, trial)[0] is answer


@pytest.mark.parametrize(("root", "costly"), [(AGAIN, True), (VALUE, False), (CRASH, False)])
def test_the_costly_checks_are_run_where_they_are_what_saw_it(root: Difference, costly: bool) -> None:
    assert needs_costly(finding(0, differences=(VALUE, root))) is costly
    assert needs_costly(PROCESS_LOST)


@pytest.mark.parametrize(
    ("answers", "interrupted", "code", "bisect"),
    [
        pytest.param([], False, 0, 0, id="nothing"),
        pytest.param([GONE, GONE], False, 0, 0, id="gone"),
        pytest.param([GONE, BREAKS], False, 1, 1, id="breaks"),
        pytest.param([OTHER, GONE], False, 1, 125, id="other"),
        pytest.param([UNKNOWN], False, 2, 125, id="cannot tell"),
        pytest.param([BREAKS, UNKNOWN], False, 2, 1, id="breaks, cannot tell"),
        pytest.param([UNKNOWN], True, 130, 130, id="interrupted"),
    ],
)
def test_the_exit_code(answers: list[ReplayAnswer], interrupted: bool, code: int, bisect: int) -> None:
    rows = [ReplayRow("w", "t", "i", "keras", "upstream", answer) for answer in answers]
    assert replay_exit_code(rows, interrupted=interrupted) == code
    assert replay_exit_code(rows, interrupted=interrupted, bisect=True) == bisect


def read(*paths: Path) -> list[Target]:
    found, problems = targets(map(str, paths), KnownIssues())
    assert problems == []
    return found


def test_a_corpus_is_all_its_graphs_as_they_were_found(tmp_path: Path) -> None:
    corpus = NightlyCorpus(tmp_path)
    files = [
        corpus.keep(finding(0, subject="keras==3.14.1", cloner="fixed")),
        corpus.keep(finding(0, of_layer("layers.ReLU()", generation="tf_keras"), generation="tf_keras", subject="")),
    ]
    (tmp_path / "keras" / ".half.json").write_text('{"gra')
    first, second = sorted(read(tmp_path), key=lambda target: target.generation)
    assert [Path(first.where), Path(second.where)] == files
    assert (first.graph, first.finding, first.problem) == (TWO, None, "")
    assert (first.generation, first.subject, first.cloner) == ("keras", "keras==3.14.1", "fixed")
    assert (second.generation, second.subject, second.cloner) == ("tf_keras", "", "upstream")
    assert read(tmp_path / "keras", files[0]) == [first]


def test_a_finding_under_another_name_is_still_one(tmp_path: Path) -> None:
    write(tmp_path / "kept.json", finding(0))
    (tmp_path / "graph.json").write_bytes(to_json(TWO))
    graph, kept = read(tmp_path)
    assert (graph.title, graph.finding, kept.title) == ("graph.json", None, finding(0).title)
    assert kept.finding is not None
    assert kept.finding.root == finding(0).root


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b'{"source": "\xff"}', "can't decode byte 0xff", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "expected the JSON of a finding or of a graph", id="deep"),
        pytest.param(b'{"graph": {"inputs": []}, "about": {}}', "missing required field `program`", id="no graph"),
        pytest.param(b'{"graph": 1, "format": 99}', "format 99 at", id="of another day"),
        pytest.param(b'{"graph": 1, "about": 2}', "`$.about`", id="no corpus"),
    ],
)
def test_a_file_that_is_wrong_is_named_and_the_rest_is_read(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content)
    (tmp_path / "b.json").write_bytes(to_json(TWO))
    wrong, right = read(tmp_path)
    assert reason in wrong.problem
    assert wrong.where == str(tmp_path / "a.json")
    assert (right.graph, right.problem) == (TWO, "")
