"""Layers that are not Keras' own: of a module, or of a file of somebody's."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from clonediff.harness.drawing.drawable_kinds import kinds_on
from clonediff.harness.drawing.remembered_answers import AskedProcess, asked
from clonediff.harness.source import other_layers, written
from clonediff.harness.source.other_layers import absolute
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.strategies.asking import Question, asking
from clonediff.strategies.graph import Call, CloneArguments, Graph, Input, Items, Layer, MalformedGraph, Ref, Seq
from clonediff.strategies.kinds import Spec
from clonediff.strategies.lowering import lower
from clonediff.strategies.programs import Apply, Domain, Program

OWN = """
import keras
from keras import layers


class Widen(layers.Layer):
    def __init__(self, factor, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.factor, self.offset = factor, offset

    def call(self, x):
        return x * self.factor + self.offset


class Both(keras.layers.Layer):
    def call(self, a, b):
        return a + b


class NeverTakes(layers.Layer):
    def call(self, x):
        raise ValueError("it takes nothing")
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own_layers.py"
    path.write_text(OWN)
    return path


def test_the_layers_of_a_file_are_kinds(own: Path, keras: SubjectProcess) -> None:
    kinds = kinds_on(asked(keras), layers=[str(own)], values={"offset": (2.5,)})
    widen, both = kinds[f"{own}:Widen"], kinds[f"{own}:Both"]
    assert list(widen.options) == ["factor"]
    assert widen.more["offset"] == (2.5,)
    assert both.forms == ((2, "each"),)
    assert [name for name in kinds_on(asked(keras), layers=[f"{own}:Both"]) if ":" in name] == [f"{own}:Both"]


def test_they_are_a_third_of_the_layers_that_are_drawn(own: Path, keras: SubjectProcess) -> None:
    kinds = kinds_on(asked(keras), layers=[str(own)])
    layers = {name: kind.weight for name, kind in kinds.items() if kind.family != "operations"}
    theirs = sum(weight for name, weight in layers.items() if ":" in name)
    assert 0.25 < theirs / sum(layers.values()) < 0.55


def test_values_are_given_as_python_has_them(own: Path, keras: SubjectProcess) -> None:
    given = {"factor": [[1, 2], (3,), {"a": None}]}
    kinds = kinds_on(asked(keras), layers=[str(own)], values=given)
    assert kinds[f"{own}:Widen"].options["factor"] == (
        Seq((1, 2)),
        Seq((3,), "tuple"),
        Items((("a", None),)),
    )
    with pytest.raises(ValueError, match="values: factor: expected"):
        kinds_on(asked(keras), layers=[str(own)], values={"factor": [object()]})


def test_what_was_never_accepted_is_told_with_the_tensors_and_the_exception(own: Path, keras: SubjectProcess) -> None:
    its = AskedProcess(keras)
    (name,) = (name for name in kinds_on(its, layers=[f"{own}:NeverTakes"]) if ":" in name)
    for shape in ((4,), (3, 4), (4,)):
        its.gives(Question(Layer(name), (Spec(shape),), (Call(0, (Ref(0),)),)))
    accepted, never = its.since()
    assert not accepted
    assert never[name][0] == 2
    assert "it takes nothing" in never[name][1]
    assert its.since() == ((), {})


def test_what_they_answer_is_not_remembered_between_runs(own: Path, keras: SubjectProcess) -> None:
    question = Question(Layer(f"{own}:Widen", (("factor", 3.0),)), (Spec((4,)),), (Call(0, (Ref(0),)),))
    kinds_on(asked(keras), layers=[str(own)])
    for tried in (1, 1):
        its = AskedProcess(keras)
        assert its.gives(question)
        assert its.tried == tried
        its.keep()


def test_one_is_asked_about_once_it_is_named(own: Path, keras: SubjectProcess) -> None:
    question = Question(Layer(f"{own}:Widen", (("factor", 3.0),)), (Spec((4,)),), (Call(0, (Ref(0),)),))
    its = AskedProcess(keras)
    assert its.why(question) == "it cannot be written"
    kinds_on(its, layers=[str(own)])
    assert its.gives(question) == (Spec((4,)),)


def test_one_is_asked_about_and_built_and_its_script_runs_alone(own: Path, keras: SubjectProcess) -> None:
    (name,) = (name for name in kinds_on(asked(keras), layers=[f"{own}:Widen"]) if ":" in name)
    layer, call = Layer(name, (("factor", 2.0),)), Call(0, (Ref(0),))
    gives = asked(keras).gives(Question(layer, (Spec((4,)),), (call,)))
    assert gives == (Spec((4,)),)
    graph = Graph((Input((4,)),), (layer,), (call,), Ref(0), Ref(1))
    assert asked(keras).refuses(graph) == ""
    source = written(graph, "keras").source
    subprocess.run([sys.executable, "-c", source], cwd="/", check=True, capture_output=True)


def test_one_gets_a_name_that_keras_takes(own: Path, keras: SubjectProcess) -> None:
    apply = Apply(f"{own}:Widen", (0,), options=(("factor", 2.0),), touch="named")
    with asking(asked(keras)):
        domain = Domain(kinds_on(asked(keras), layers=[str(own)]), generation="keras")
        graph = lower(Program((Input((4,)),), (apply,)), domain)
    assert [layer.name for layer in graph.layers] == ["my_widen"]


def test_no_variable_has_the_name_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_layers, "_ALLOWED", {"scale.Scale"})
    calls = (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((4,)),), (Layer("scale.Scale"), Layer("scale.Scale")), calls, Ref(0), Ref(2))
    nodes = list(ast.walk(ast.parse(written(graph, "keras").source)))
    modules = {each.asname or each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    variables = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert len(modules) == 2
    assert modules.isdisjoint(variables)


def test_no_variable_of_the_model_that_is_asked_for_has_the_name_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_layers, "_ALLOWED", {"foo"})
    calls = tuple(Call(number, (Ref(number),)) for number in range(3))
    graph = Graph(
        (Input((4,)),), (Layer("foo.Foo"),) * 3, calls, Ref(0), Ref(3), clone_arguments=CloneArguments(inputs="fresh")
    )
    text = written(graph, "keras")
    nodes = list(ast.walk(ast.parse(text.source + text.asked)))
    modules = {each.asname or each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    variables = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert modules.isdisjoint(variables)


def test_a_module_without_other_layers_than_those_of_keras_is_refused(keras: SubjectProcess) -> None:
    with pytest.raises(SubjectError, match=r"keras\.layers: expected a layer"):
        kinds_on(asked(keras), layers=["keras.layers"])


def test_a_graph_from_a_file_names_no_code_that_nobody_asked_for() -> None:
    for kind in ("subprocess.Popen", "/tmp/evil.py:Layer"):
        graph = Graph((Input((4,)),), (Layer(kind),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
        with pytest.raises(MalformedGraph, match="--layers"):
            written(graph, "keras")


def test_a_file_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("own.py:Widen") == f"{tmp_path}/own.py:Widen"
    assert absolute("own.py") == f"{tmp_path}/own.py"
    assert absolute(f"../{tmp_path.name}/own.py") == f"{tmp_path}/own.py"
    assert absolute("keras_hub.layers") == "keras_hub.layers"
