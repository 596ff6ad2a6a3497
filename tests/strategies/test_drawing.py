"""What holds of every graph that is drawn, whichever Keras was asked, and of those who ask."""

from __future__ import annotations

import contextvars
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from clonediff.harness.drawing import remembered_answers
from clonediff.harness.drawing.drawable_kinds import graphs_on
from clonediff.harness.drawing.remembered_answers import Asked
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects.outcomes import Told
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.draws import too_many
from clonediff.reports.known import KnownIssues
from clonediff.strategies import Graph, functional_graphs, to_json
from clonediff.strategies.asking import NoKeras, Question
from clonediff.strategies.graph import Call, Input, Layer, Ref
from clonediff.strategies.kinds import GENERATIONS, Generation, Spec
from tests.example_counts import examples
from tests.waiting import PATIENCE
from tests.warm_keras import drawn, graphs_of, process_of


def texts(process: SubjectProcess, count: int, seed: int) -> list[str]:
    return [to_json(each).decode() for each in sample_graphs(graphs_on(process), count, seed)]


FEW: dict[Generation, int] = {"keras": 10, "tf_keras": 8}
"""The graphs that are built by day; the property tests build more of Keras 3 and of tf_keras."""


@pytest.mark.parametrize("generation", GENERATIONS)
def test_what_was_accepted_builds_and_runs(generation: Generation) -> None:
    trials = GraphTrials(process_of(generation), KnownIssues(), cloners=("upstream",))
    for graph in drawn(generation, examples(FEW[generation], 500)):
        trials.try_graph(graph)
    assert not too_many(trials.tally.refused, trials.tally.trials), trials.tally


def test_a_seed_draws_the_same_whoever_answers(
    keras: SubjectProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From what is remembered, from a new process that has nothing remembered, and where hashes are others."""
    drawn = texts(keras, 6, 5)
    assert texts(keras, 6, 5) == drawn
    script = (
        "from clonediff.harness.subjects.releases import open_subject\n"
        "from clonediff.harness.subjects.subject import Subject\n"
        "from tests.strategies.test_drawing import texts\n"
        "import json\n"
        "if __name__ == '__main__':\n"
        "    process = open_subject(Subject.parse('keras'))\n"
        "    print(json.dumps(texts(process, 6, 5)))\n"
        "    process.close()\n"
    )
    (tmp_path / "draw.py").write_text(script)
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    done = subprocess.run(
        [sys.executable, str(tmp_path / "draw.py")], capture_output=True, text=True, timeout=PATIENCE * 4, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == drawn


def test_arguments_and_preparations_are_drawn_where_they_are_asked_for() -> None:
    count = examples(24, 80)
    more = list(sample_graphs(graphs_of("keras", clone_arguments=True, preparations=True), count, 4))
    assert any(graph.clone_arguments is not None for graph in more)
    assert any(graph.preparations for graph in more)
    plain = list(sample_graphs(graphs_of("keras"), count, 4))
    assert all(graph.clone_arguments is None and not graph.preparations for graph in plain)


def test_without_a_keras_it_is_said_what_to_do() -> None:
    @settings(database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(functional_graphs(min_instructions=1))
    def draws(graph: Graph) -> None:
        pass

    with pytest.raises(NoKeras, match=r"functional_graphs\(keras="):
        contextvars.Context().run(draws)


MODEL = Graph(
    inputs=(Input((4,)),),
    layers=(Layer("Dense", (("units", 3),)), Layer("Dropout", (("rate", 0.5),))),
    calls=(Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    takes=Ref(0),
    gives=Ref(2),
)


def asks(layer: Layer, *specs: Spec) -> Question:
    return Question(layer, specs, (Call(0, tuple(Ref(place) for place in range(len(specs)))),))


REFUSED = asks(Layer("Dense", (("units", -3),)), Spec((4,)))
ACCEPTED = asks(Layer("GRU", (("units", 5),)), Spec((3, 4)))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_what_was_asked_leaves_nothing_for_the_next_model(generation: Generation) -> None:
    process = process_of(generation)
    case = case_of(MODEL, process.subject.generation)
    before = run(case, process, ("upstream",)).original
    fresh = remembered_answers.AskedProcess(process)
    for question in (REFUSED, ACCEPTED, REFUSED):
        told = process.gives({"text": text_of(fresh, question), "tensors": tensors_of(question)})
        assert (told.gives is None) == (question is REFUSED)
    assert run(case, process, ("upstream",)).original == before


def text_of(its: Asked, question: Question) -> object:
    return its._written(question)["text"]


def tensors_of(question: Question) -> list[dict[str, object]]:
    return [{"shape": list(spec.shape), "dtype": spec.dtype} for spec in question.tensors]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_call_that_gives_no_tensor_is_refused(generation: Generation) -> None:
    told = process_of(generation).gives({"text": "calls = [lambda tensors: []]\n", "tensors": []})
    assert (told.gives, told.why) == (None, "it gives no tensor at all")


@pytest.mark.slow(reason="a process is killed, and started again")
def test_a_call_that_takes_its_process_with_it_is_refused_and_the_next_is_answered() -> None:
    with open_subject(Subject.parse("keras")) as process:
        kills = {"text": "import os\nos._exit(9)\n", "tensors": []}
        good = {"text": text_of(remembered_answers.AskedProcess(process), ACCEPTED), "tensors": tensors_of(ACCEPTED)}
        killed = process.gives(kills)
        assert killed.gives is None
        assert killed.why
        assert process.gives(good).gives == (Spec((5,)),)


HERE = """
import json, random, sys
import numpy
import tensorflow
import {keras} as keras
from hypothesis import HealthCheck, given, settings
from clonediff import check_clone, clone_model
from clonediff.harness.drawing.drawable_kinds import graphs_here

def says():
    layers = [keras.layers.Dense(3), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    return [
        [each.name for each in layers],
        [float(each.sum()) for each in model.get_weights()],
        float(numpy.sum(model(numpy.ones((2, 4), "float32"), training=True))),
        random.random(),
        numpy.random.rand(),
        float(tensorflow.random.normal(())),
    ]

def held():
    {policy}
    return [str(policy), keras.backend.floatx(), sorted(map(str, {objects}))]

keras.utils.set_random_seed(3)
first = says()
before, model = held(), keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
if sys.argv[1] == "asks":
    @settings(max_examples=4, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(graphs_here(generation="{keras}"))
    def holds(graph):
        pass
    holds()
assert held() == before
model.predict(numpy.ones((2, 4)), verbose=0)
print(json.dumps([first, says()]))
"""
OF: Mapping[str, dict[str, str]] = {
    "keras": {
        "policy": "policy = keras.config.dtype_policy().name",
        "objects": "keras.saving.get_custom_objects()",
    },
    "tf_keras": {
        "policy": "policy = keras.mixed_precision.global_policy().name",
        "objects": "keras.saving.get_custom_objects()",
    },
}


def test_drawing_in_a_process_of_ones_own_changes_nothing_there(tmp_path: Path) -> None:
    """In one process that asks and one that does not; at night of tf_keras as well, which takes seconds to start."""
    names = [*OF][: examples(1, len(OF))]
    texts = [HERE.format(keras=name, **OF[name]) for name in names]
    script = tmp_path / "mine.py"
    script.write_text(
        "\n".join(f"exec(compile({text!r}, 'mine', 'exec'), {{'__name__': '__main__'}})" for text in texts)
    )
    said: dict[str, Any] = {}
    for does in ("asks", "does not ask"):
        done = subprocess.run(
            [sys.executable, str(script), does],
            capture_output=True,
            text=True,
            timeout=PATIENCE * 4,
            check=False,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        assert done.returncode == 0, done.stderr
        said[does] = dict(zip(names, map(json.loads, done.stdout.splitlines()[-len(names) :]), strict=True))
    assert said["asks"] == said["does not ask"]


class TakesAll(Asked):
    """A Keras that takes everything."""

    def __init__(self) -> None:
        super().__init__("keras")

    def _versions(self) -> dict[str, str]:
        return {"keras": "9.9"}

    def _tell(self, request: dict[str, object]) -> Told:
        return Told(gives=(Spec((3,)),))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))
    return tmp_path / "answers"


def numbered(count: int, start: int = 0) -> list[Question]:
    return [asks(Layer("Dense", (("units", start + number + 1),)), Spec((4,))) for number in range(count)]


def answered(its: Asked, questions: list[Question]) -> None:
    for question in questions:
        assert its.gives(question) == (Spec((3,)),)
    its.keep()


def test_what_was_answered_is_not_asked_again(folder: Path) -> None:
    first, second = TakesAll(), TakesAll()
    for its in (first, second):
        answered(its, numbered(20))
        answered(its, numbered(20))
    assert (first.tried, second.tried) == (20, 0)


def test_two_at_once_remember_what_either_was_told(folder: Path) -> None:
    first, second, third = TakesAll(), TakesAll(), TakesAll()
    for start in range(0, 40, 10):
        answered(first, numbered(10, start))
        answered(second, numbered(10, start + 5))
    answered(third, numbered(45))
    assert third.tried == 0


def spoil(path: Path, how: str) -> None:
    match how:
        case "truncated":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        case "empty":
            path.write_bytes(b"")
        case "garbage":
            path.write_bytes(os.urandom(4096))
        case "another table":
            path.unlink()
            with sqlite3.connect(path) as file:
                file.execute("CREATE TABLE answers (question BLOB PRIMARY KEY, answer BLOB)")
                file.execute("CREATE TABLE other (x)")
        case "answers of another sort":
            with sqlite3.connect(path) as file:
                file.execute("UPDATE answers SET answer = 'no JSON'")
        case "a folder":
            path.unlink()
            path.mkdir()
        case "read-only":
            path.chmod(0o444)
            path.parent.chmod(0o555)


@pytest.mark.parametrize(
    "how", ["truncated", "empty", "garbage", "another table", "answers of another sort", "a folder", "read-only"]
)
def test_a_spoiled_file_of_answers_costs_the_answers_only(how: str, folder: Path) -> None:
    answered(TakesAll(), numbered(200))
    (path,) = folder.glob("*.sqlite")
    spoil(path, how)
    try:
        answered(TakesAll(), numbered(20, 190))
    finally:
        folder.chmod(0o755)


def test_a_folder_of_answers_may_be_deleted_while_it_is_used(folder: Path) -> None:
    its = TakesAll()
    answered(its, numbered(10))
    for each in folder.iterdir():
        each.unlink()
    folder.rmdir()
    answered(its, numbered(10, 5))
    answered(TakesAll(), numbered(10))


def test_a_cache_that_is_no_folder_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "file"))
    answered(TakesAll(), numbered(10))


class TakesAllOf(TakesAll):
    """The same, of a package that is imported from where it is."""

    _package = "edited_keras"


@pytest.mark.parametrize(("beside", "asked_again"), [("pyproject.toml", 20), ("edited_keras.dist-info", 0)])
def test_of_a_checkout_that_may_be_edited_nothing_is_remembered(
    beside: str, asked_again: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there/edited_keras").mkdir(parents=True)
    (tmp_path / "there/edited_keras/__init__.py").touch()
    (tmp_path / "there" / beside).touch()
    monkeypatch.syspath_prepend(str(tmp_path / "there"))
    remembered_answers._in_checkout.cache_clear()
    answered(TakesAllOf(), numbered(20))
    again = TakesAllOf()
    answered(again, numbered(20))
    assert again.tried == asked_again


def test_answers_are_kept_up_to_a_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_answers, "MOST", 100)
    for start in range(0, 1000, 50):
        answered(TakesAll(), numbered(50, start))
    (path,) = folder.glob("*.sqlite")
    with sqlite3.connect(path) as file:
        (count,) = file.execute("SELECT count(*) FROM answers").fetchone()
    assert count <= 101
