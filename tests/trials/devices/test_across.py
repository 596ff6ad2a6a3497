"""Two backends as trials compares them: planted differences are found, told and proven; the rest is quiet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from clonediff.harness.scripts.of_finding import finding_of, script_of
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.search.reducing import reduce
from clonediff.harness.subjects import Subject, SubjectProcess
from clonediff.harness.subjects.presence import missing
from clonediff.harness.trials.across import others_of, terms_of
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks.devices import Terms
from clonediff.harness.trials.graph_trials import GraphTrials, new_hits
from clonediff.harness.trials.trial import Hit
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.records import Cause, Difference, Finding, Severity, read
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref, Seq, Value
from tests.command_line import Command
from tests.warm_keras import graphs_of

from .both import run_on_both
from .second import SecondProcess

DENSE = Graph(
    (Input((4,), name="x"),),
    (Layer("Dense", (("units", 3),), name="one"), Layer("Dense", (("units", 2),), name="two")),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
    generation="keras",
)


@pytest.fixture(scope="session")
def process(warm: Callable[[str], SubjectProcess]) -> SubjectProcess:
    """The subject that all others are compared with."""
    for name in ("keras", "keras/torch"):
        if missing(Subject.parse(name)) is None:
            return warm(name)
    pytest.skip(reason="no backend of Keras 3 is installed")


@pytest.fixture
def second(process: SubjectProcess, seconds: Callable[[str], SecondProcess]) -> SecondProcess:
    """Another process of that subject."""
    return seconds(str(process.subject))


@pytest.mark.parametrize(
    ("fault", "aspect", "first", "apart"),
    [
        pytest.param("value", "value", "one", "", id="another value"),
        pytest.param(
            "dies",
            "process",
            None,
            "",
            id="the process dies",
            marks=pytest.mark.slow(reason="starts a process three times; test_process has one that dies as well"),
        ),
        pytest.param("within the tolerance", None, None, "", id="within the tolerance"),
        pytest.param("refused", None, None, "refused there", id="refused"),
        pytest.param(
            "not implemented",
            None,
            None,
            "with an operation that one of them does not have",
            id="not implemented",
        ),
    ],
)
def test_what_one_side_computes_differently_is_an_hit_of_no_cloner(
    fault: str, aspect: str | None, first: str | None, apart: str, process: SubjectProcess, second: SecondProcess
) -> None:
    with second.planted(fault) as other:
        trials = GraphTrials(process, load(), [other], rate=0)
        found = new_hits(trials.try_graph(DENSE).hits)
        its = trials.compared[str(other.subject)]
        assert (its.graphs, its.not_compared) == ((0, {apart: 1}) if apart else (1, {}))
        if aspect is None:
            assert found == []
            return
        (told,) = found
        assert told.cause is not None
        assert (told.cloner, told.blame, told.across) == ("", None, (str(process.subject), str(other.subject)))
        assert (told.cause.root.check, told.cause.root.aspect) == ("device", aspect)
        assert told.title.startswith(f"{process.subject} and {other.subject}: ")
        assert (told.cause.root.first.name if told.cause.root.first else None) == first
        assert new_hits(trials.try_graph(DENSE).hits, {told.key}) == [], "the same one is no news again"


def test_the_same_subject_twice_has_nothing_to_tell(process: SubjectProcess, second: SecondProcess) -> None:
    other = second.process
    trials = GraphTrials(process, KnownIssues(), [other], rate=0)
    assert [each for each in trials.try_graph(DENSE).hits if each.across] == []
    assert (trials.compared[str(other.subject)].graphs, trials.tally.trials) == (1, 1)


@pytest.mark.parametrize(
    ("subject", "others"),
    [
        ("keras", ["keras/jax", "keras@gpu"]),
        ("keras/jax", ["keras", "keras@gpu"]),
        ("keras==3.14.1", ["keras==3.14.1/jax"]),
        ("tf_keras", []),
    ],
)
def test_a_subject_is_compared_with_its_own_release_only(subject: str, others: list[str]) -> None:
    named = [Subject.parse(name) for name in ("keras", "keras/jax", "keras@gpu", "keras==3.14.1/jax", "keras/jax")]
    assert [str(each) for each in others_of(Subject.parse(subject), named)] == others


def test_the_terms_are_those_of_the_pair() -> None:
    def terms(first: str, second: str) -> Terms:
        return terms_of(Subject.parse(first), Subject.parse(second))

    assert terms("keras", "keras@gpu") == Terms("device", ("inference", "training"))
    assert terms("keras", "keras/jax").check == "backend"
    assert terms("keras", "keras/jax").runs == ("inference",)
    assert terms("keras", "keras/torch@gpu").same("float64", "float32")
    assert not terms("keras", "keras@gpu").same("float64", "float32")


BACKENDS = [name for name in ("keras", "keras/jax", "keras/torch") if missing(Subject.parse(name)) is None]


@pytest.mark.skipif(len(BACKENDS) < 2, reason="one backend of Keras 3 is installed")
def test_two_backends_agree_on_drawn_graphs() -> None:
    with SubjectProcess(Subject.parse(BACKENDS[0])) as first, SubjectProcess(Subject.parse(BACKENDS[1])) as second:

        @settings(
            max_examples=40,
            database=None,
            derandomize=True,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(graphs_of("keras"))
        def agree(graph: Graph) -> None:
            assert run_on_both(case_of(graph, "keras"), first, second, cloners=()).differences == ()

        agree()


def script_for(process: SubjectProcess, aspect: str, graph: Graph = DENSE) -> Script:
    name = str(process.subject)
    difference = Difference("backend", "original.inference.outputs[0]", aspect, "a", "b", Severity.COMPUTES)
    cause = Cause("an-id", difference)
    told = Hit("an-id", "", "A title", case_of(graph, "keras"), graph, cause, across=(name, name))
    return script_of(told, "keras", process.versions)


def one_layer(given: Input, kind: str, *args: tuple[str, Value]) -> Graph:
    return Graph((given,), (Layer(kind, args),), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")


OF_OTHER_INPUTS = {
    "ragged": one_layer(Input((None, 4), ragged=True), "Activation", ("activation", "tanh")),
    "words": one_layer(Input((3,), "string", fill="words"), "StringLookup", ("vocabulary", Seq(("red", "green")))),
}


@pytest.mark.slow(reason="two Keras more for each; tests/scripts runs scripts alone")
@pytest.mark.parametrize(
    ("aspect", "graph"),
    [("value", DENSE), ("dtype", DENSE), *(("value", graph) for graph in OF_OTHER_INPUTS.values())],
    ids=["value", "dtype", *OF_OTHER_INPUTS],
)
def test_the_script_of_a_difference_fails_alone_where_there_is_one(
    aspect: str, graph: Graph, process: SubjectProcess
) -> None:
    script = script_for(process, aspect, graph)
    assert script.raises == "AssertionError"
    apart = {
        "value": 'found["output 0"] = found["output 0"] + 0.1 * os.environ["SIDE"].endswith("1.npz")',
        "dtype": 'found["dtypes"][0] = os.environ["SIDE"][-5]',
    }
    shifted = script.text.replace("np.savez(", f"{apart[aspect]}\nnp.savez(")
    assert tried_alone(replace(script, text=shifted), process.subject)[0] is True


@pytest.mark.slow(reason="four Keras more; tests/scripts has ends that prove nothing, too")
@pytest.mark.parametrize("aspect", ["value", "dtype"])
def test_the_script_of_a_difference_does_not_fail_where_there_is_none(aspect: str, process: SubjectProcess) -> None:
    assert tried_alone(script_for(process, aspect), process.subject)[0] is None, "the two sides are the same"


@pytest.mark.parametrize("name", ["tf_keras", "keras==3.14.1/jax", "keras"])
def test_another_release_is_no_backend_to_compare_with(name: str, clonediff: Command, tmp_path: Path) -> None:
    code, _, err = clonediff("fuzz", "--trials", "5", "--across", name)
    assert code == 2
    assert f"{name}: expected another backend or device of keras" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow(reason="a search on two Keras; what one of them computes otherwise is a hit above")
def test_fuzz_keeps_what_two_sides_compute_differently(
    process: SubjectProcess, second: SecondProcess, tmp_path: Path
) -> None:
    with second.planted("value") as other:
        trials = GraphTrials(process, load(), [other], rate=0)
        drawn = search(trials, graphs_of("keras"), examples=300, seed_=3)
        assert drawn is not None and drawn.across

        def apart(graph: Graph) -> list[Hit]:
            return [each for each in trials.try_graph(graph).hits if each.across]

        (found,) = apart(reduce(drawn.graph, lambda graph: bool(apart(graph))).graph)
    assert found.cause is not None
    assert len(found.graph.calls) == 1
    assert [layer.kind for layer in found.graph.layers] == ["Dense"]
    script = script_of(found, process.subject.dialect, process.versions)
    folder = RunFolder(tmp_path / "run")
    folder.finding(finding_of(found, process.subject, process.versions), script.text)
    (kept,) = (folder.path / "findings").iterdir()
    finding = read(kept / "finding.json", Finding)
    assert (finding.cloner, finding.differences[0].check) == ("", "device")
    assert (kept / "repro.py").read_text().startswith("# One model with the same weights on the same inputs")
