"""What is asked about, and what a release says to it: findings, graphs, known issues, and verdicts on trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clonediff.harness.answers.history.one_release import with_answer
from clonediff.harness.answers.history.question import HistoryQuestion, QuestionError, question_of
from clonediff.harness.answers.history.record import ReleaseRow, ReleaseVerdict
from clonediff.harness.campaign.corpus import About, NightlyCorpus
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Failure, ModelRun, Observation, Saved, Shape, Trained
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.expected import Expected
from clonediff.harness.trials.expressible import missing_layer, unsupported_graph
from clonediff.harness.trials.triage import causes, fingerprint
from clonediff.harness.trials.trial import CloneTrial, Hit, Trial
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern, load
from clonediff.reports.records import Cause, Difference, Finding, Place, Raised, Severity, write
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref, to_json

DENSE = Graph(
    (Input((4,), name="x"),),
    (Layer("Dense", (("units", 3),)),),
    (Call(0, (Ref(0),)),),
    Ref(0),
    Ref(1),
    generation="keras",
)
SHAPE = Shape("Functional", "model", True, None, None, (), (), (), (), ())


def made(exception: str = "ValueError", frame: str = "keras/src/a.py:f", kind: str = "Dense") -> Difference:
    at = Place("dense", kind, 0)
    return Difference("made", "made", "raises", "a clone", "no", Severity.CRASHES, at, Raised(exception, "said", frame))


def renamed() -> Difference:
    return Difference("structure", "layers['x'].name", "name", "x", "y", Severity.NAME, Place("x", "InputLayer", 0))


SAVED = Difference("saved", "saved.run.outputs[0]", "value", "1", "2", Severity.COMPUTES)
UNTOUCHED = Difference("untouched", "original.inference.outputs[0]", "value", "1", "2", Severity.COMPUTES)
VALUE = Difference("outputs", "inference.outputs[0]", "value", "1", "2", Severity.COMPUTES)
IN_TRAINING = msgspec.structs.replace(VALUE, path="training.outputs[0]")
GRADIENT = Difference("training", "trained.gradients[0]", "gradient value", "1", "2", Severity.TRAINS)
TWICE = Difference("again", "twice.inference.outputs[0]", "value", "1", "2", Severity.COMPUTES)
FROZEN = Difference("structure", "layers['x'].trainable", "trainable", "true", "false", Severity.TRAINS)
RUNS_NOT = Difference(
    "outputs", "inference", "raises", "it runs", "no", Severity.CRASHES, raised=Raised("TypeError", "no")
)


def finding(*differences: Difference, cloner: str = "upstream") -> Finding:
    return Finding("an-id", "A title", "keras", cloner, msgspec.Raw(to_json(DENSE)), differences, "source")


def trial(*differences: Difference, cloner: str = "upstream") -> Trial:
    return Trial({cloner: CloneTrial(tuple(causes(None, differences)))})


def row(question: HistoryQuestion, trial: Trial, known: KnownIssues) -> ReleaseRow:
    """What a history says of a trial."""
    hits = [
        Hit(each.fingerprint, cloner, "t", Case("", ()), DENSE, each, known=known.of(each))
        for cloner, clone in trial.clones.items()
        for each in clone.causes
    ]
    return with_answer(
        ReleaseRow("keras==3.12.0", "keras", "3.12.0", ReleaseVerdict.NOT_TRIED),
        question,
        msgspec.structs.replace(trial, hits=tuple(hits)),
    )


def asked(tmp_path: Path, *differences: Difference) -> HistoryQuestion:
    write(tmp_path / "finding.json", finding(*differences))
    return question_of(str(tmp_path))


def test_a_finding_is_asked_about_by_its_folder_and_by_its_file(tmp_path: Path) -> None:
    by_folder = asked(tmp_path, made())
    assert by_folder.file == tmp_path / "finding.json"
    assert by_folder == question_of(str(tmp_path / "finding.json"))
    assert (by_folder.graph, by_folder.cloner, by_folder.sought) == (DENSE, "upstream", True)
    assert question_of(str(tmp_path), "fixed").cloner == "fixed"


def test_a_graph_is_asked_about_without_a_cause(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_bytes(to_json(DENSE))
    question = question_of(str(tmp_path / "graph.json"))
    assert (question.graph, question.cloner, question.sought) == (DENSE, "upstream", False)
    assert question.expected.costly
    assert question.file is None


def test_a_file_of_a_corpus_is_asked_about_as_a_graph(tmp_path: Path) -> None:
    file = NightlyCorpus(tmp_path).keep("keras", DENSE, About(("an-id",), "A title", "keras==3.12.0", "fixed"))
    question = question_of(str(file))
    assert (question.graph, question.cloner, question.sought) == (DENSE, "fixed", False)
    assert question_of(str(file), "upstream").cloner == "upstream"
    assert question.file is None


@pytest.mark.parametrize("issue", [each for each in load().issues if each.example], ids=lambda each: each.id)
def test_a_known_issue_is_asked_about_by_its_id(issue: KnownIssue) -> None:
    question = question_of(issue.id)
    assert question.sought
    assert question.expected.issue is not None
    assert all(
        pattern.frame is None or not (pattern.check or pattern.aspect) for pattern in question.expected.issue.match
    )


@pytest.mark.parametrize(
    ("root", "costly"),
    [
        pytest.param(made(), False, id="no clone"),
        pytest.param(SAVED, True, id="saved"),
        pytest.param(UNTOUCHED, True, id="the original runs otherwise afterwards"),
        pytest.param(msgspec.structs.replace(made(), path="process"), True, id="a process that ends, in whatever part"),
    ],
)
def test_costly_parts_are_asked_for_only_where_the_cause_shows_in_them(
    root: Difference, costly: bool, tmp_path: Path
) -> None:
    assert asked(tmp_path, root).expected.costly is costly


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "expected the JSON of a finding or of a graph"),
        ("[1]", "not a graph of version 1"),
        ('"\udcff"', "can't decode byte 0xff"),
        ('{"graph": 1, "id": "x"}', "`title`"),
        ('{"graph": {"name": "\udcff"}}', "can't decode byte 0xff"),
        ('{"graph": 1}', "file.json: graph: not a graph"),
        ('{"graph": 1, "about": 2}', "`$.about`"),
        ('{"graph": 1, "format": 99}', "format 99"),
        ('{"inputs": []}', "not a graph"),
        (msgspec.json.encode(finding(Difference("backend", "p", "value", "", "", Severity.COMPUTES))).decode(),
         "two backends that differ"),
        (msgspec.json.encode(msgspec.structs.replace(finding(), graph=msgspec.Raw(b"{}"))).decode(),
         "file.json: `$.graph`: not a graph"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_named_with_the_place(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(content, errors="surrogateescape")
    with pytest.raises(QuestionError, match=r"file\.json") as raised:
        question_of(str(tmp_path / "file.json"))
    assert said in str(raised.value)


def test_what_is_nothing_of_all_that_is_said_with_what_is_near(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="did you mean lambda-refused"):
        question_of("lambda-refusd")
    with pytest.raises(QuestionError, match="no finding and no graph"):
        question_of(str(tmp_path))


KNOWN = KnownIssues((KnownIssue("name", "keras", "t", "b", (Pattern(aspect="name"),)),))


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        pytest.param((), ReleaseVerdict.HOLDS, id="nothing"),
        pytest.param((made(),), ReleaseVerdict.BREAKS, id="the same"),
        pytest.param((made(frame="keras/src/b.py:g"),), ReleaseVerdict.BREAKS, id="the same in another frame"),
        pytest.param((made("TypeError"),), ReleaseVerdict.OTHERWISE, id="another"),
        pytest.param((renamed(),), ReleaseVerdict.HOLDS, id="only what is known"),
        pytest.param((renamed(), made()), ReleaseVerdict.BREAKS, id="both"),
    ],
)
def test_the_verdict_on_a_cause(shown: tuple[Difference, ...], verdict: ReleaseVerdict, tmp_path: Path) -> None:
    question = asked(tmp_path, made())
    found = row(question, trial(*shown), KNOWN)
    assert found.verdict is verdict
    assert len(found.causes) == len(shown)


def test_no_clone_hides_what_is_looked_for_even_where_it_is_known(tmp_path: Path) -> None:
    known = KnownIssues((KnownIssue("no-clone", "keras", "t", "b", (Pattern(check="made"),)),))
    found = row(asked(tmp_path, renamed()), trial(made()), known)
    (cause,) = found.causes
    assert (found.verdict, cause.hides, cause.known) == (ReleaseVerdict.OTHERWISE, True, "no-clone")


NO = Failure("ValueError", "no")


@pytest.mark.parametrize(
    ("root", "original", "why"),
    [
        pytest.param(SAVED, {"saved": Saved(saving=NO)}, "saved and loaded: ValueError", id="cannot be saved"),
        pytest.param(SAVED, {"saved": None}, "saved and loaded", id="was not saved"),
        pytest.param(
            SAVED, {"saved": Saved(run=ModelRun(failure=NO))}, "once it is saved", id="fails once it is loaded"
        ),
        pytest.param(GRADIENT, {"trained": Trained(failure=NO)}, "trained: ValueError", id="cannot be trained"),
        pytest.param(VALUE, {"inference": ModelRun(failure=NO)}, "in inference: ValueError", id="cannot run"),
        pytest.param(IN_TRAINING, {"training": ModelRun(failure=NO)}, "in training", id="cannot run in training"),
        pytest.param(UNTOUCHED, {"inference": ModelRun(failure=NO)}, "in inference", id="did not run before"),
        pytest.param(TWICE, {"inference": ModelRun(failure=NO)}, "in inference", id="there is nothing to run twice"),
    ],
)
def test_what_the_original_has_not_cannot_be_told(
    root: Difference, original: dict[str, Any], why: str, tmp_path: Path
) -> None:
    question = asked(tmp_path, root)
    whole = Observation(SHAPE, ModelRun(), ModelRun(), trained=Trained(), saved=Saved(run=ModelRun()))
    lacking = msgspec.structs.replace(whole, **original)
    assert row(question, msgspec.structs.replace(trial(), original=whole), KNOWN).verdict is ReleaseVerdict.HOLDS
    for beside in (renamed(), FROZEN):
        found = row(question, msgspec.structs.replace(trial(beside), original=lacking), KNOWN)
        assert found.verdict is ReleaseVerdict.CANNOT_TELL, "whatever else shows, known or not"
        assert why in found.reason
    issue = KnownIssue("it", "keras", "t", "b", (Pattern(check=root.check, path=root.path),))
    by_issue = HistoryQuestion("it", DENSE, expected=Expected(issue=issue))
    assert (
        row(by_issue, msgspec.structs.replace(trial(), original=lacking), KNOWN).verdict is ReleaseVerdict.CANNOT_TELL
    )


@pytest.mark.parametrize(
    ("causes", "verdict", "why"),
    [
        pytest.param([(renamed(), VALUE)], ReleaseVerdict.CANNOT_TELL, "what follows from another", id="it follows"),
        pytest.param([(RUNS_NOT,)], ReleaseVerdict.CANNOT_TELL, "behind another", id="behind a run that fails"),
        pytest.param(
            [(msgspec.structs.replace(RUNS_NOT, path="training"),)], ReleaseVerdict.HOLDS, "", id="in training only"
        ),
        pytest.param([(renamed(),)], ReleaseVerdict.HOLDS, "", id="beside something known"),
        pytest.param([(renamed(), VALUE), (VALUE,)], ReleaseVerdict.BREAKS, "", id="it shows as well"),
        pytest.param([(GRADIENT, VALUE)], ReleaseVerdict.OTHERWISE, "", id="it follows from something new"),
    ],
)
def test_what_shows_only_behind_something_known_cannot_be_told(
    causes: list[tuple[Difference, ...]], verdict: ReleaseVerdict, why: str, tmp_path: Path
) -> None:
    found = tuple(Cause(fingerprint(root), root, tuple(followers), root.severity) for root, *followers in causes)
    whole = Observation(SHAPE, ModelRun(), ModelRun())
    shown = Trial({"upstream": CloneTrial(found)}, original=whole)
    known = KnownIssues((*KNOWN.issues, KnownIssue("fails", "keras", "t", "b", (Pattern(exception="TypeError"),))))
    said = row(asked(tmp_path, VALUE), shown, known)
    assert (said.verdict, len(said.causes)) == (verdict, len(found))
    assert why in said.reason


def test_of_a_graph_anything_breaks_the_promise() -> None:
    assert row(HistoryQuestion("g", DENSE), trial(renamed()), KNOWN).verdict is ReleaseVerdict.BREAKS
    assert row(HistoryQuestion("g", DENSE), trial(), KNOWN).verdict is ReleaseVerdict.HOLDS


def test_a_model_that_cannot_be_built_is_told_with_its_reason() -> None:
    refused = Trial(refused=Failure("TypeError", "no such\nargument"))
    said = row(HistoryQuestion("g", DENSE), refused, KNOWN)
    assert (said.verdict, said.causes, said.reason) == (
        ReleaseVerdict.CANNOT_BUILD,
        (),
        "TypeError: no such argument",
    )


def test_a_graph_that_a_generation_has_no_words_for_is_told_without_starting_it() -> None:
    operation = msgspec.structs.replace(DENSE, layers=(Layer("operator.add"),), calls=(Call(0, (Ref(0), Ref(0))),))
    inner = msgspec.structs.replace(DENSE, layers=(Layer("Functional", graph=operation),))
    for release in ("keras==3.12.0", "tf_keras==2.16.0", "tensorflow==2.4.4"):
        assert unsupported_graph(DENSE, Subject.parse(release)) is None
        assert unsupported_graph(operation, Subject.parse(release)) is None
    for graph in (operation, inner):
        said = unsupported_graph(graph, Subject.parse("keras==2.2.4"))
        assert said == "operator.add cannot be written for this Keras"


def test_a_function_of_keras_3_has_no_words_in_tf_keras() -> None:
    maximum = msgspec.structs.replace(DENSE, layers=(Layer("ops.maximum"),), calls=(Call(0, (Ref(0), Ref(0))),))
    said = {name: unsupported_graph(maximum, Subject.parse(name)) for name in ("keras", "tf_keras")}
    assert said == {"keras": None, "tf_keras": "ops.maximum cannot be written for this Keras"}


def test_a_layer_that_keras_3_no_longer_has_is_there_in_both_before_it(warm: Callable[[str], SubjectProcess]) -> None:
    thresholded = msgspec.structs.replace(DENSE, layers=(Layer("ThresholdedReLU"),))
    said = {name: missing_layer(thresholded, warm(name)) for name in ("keras", "tf_keras", "keras==2.2.4")}
    assert said == {"keras": "ThresholdedReLU is not in this Keras", "tf_keras": "", "keras==2.2.4": ""}


@pytest.mark.parametrize(
    ("subject", "suffix"),
    [
        ("", ""),
        ("keras", ""),
        ("keras==3.14.1", ""),
        ("keras/jax", "/jax"),
        ("keras==3.14.1/torch@gpu:1", "/torch@gpu:1"),
    ],
)
def test_releases_are_asked_on_the_backend_and_device_of_the_finding(tmp_path: Path, subject: str, suffix: str) -> None:
    write(tmp_path / "finding.json", msgspec.structs.replace(finding(FROZEN), subject=subject))
    assert question_of(str(tmp_path)).suffix == suffix
