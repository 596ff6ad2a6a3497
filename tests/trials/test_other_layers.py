"""Layers that are not Keras' own: of a module, or of a file of somebody's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.source import written
from harness.source.other_layers import absolute
from harness.subjects import SubjectProcess
from harness.subjects.outcomes import SubjectError
from harness.trials.asking import asked
from harness.trials.offers import kinds_on
from strategies.asking import Question
from strategies.graph import Call, Graph, Input, Layer, MalformedGraph, Ref
from strategies.kinds import Spec

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


def test_one_is_asked_about_and_built_and_its_script_runs_alone(own: Path, keras: SubjectProcess) -> None:
    (name,) = (name for name in kinds_on(asked(keras), layers=[f"{own}:Widen"]) if ":" in name)
    layer, call = Layer(name, (("factor", 2.0),)), Call(0, (Ref(0),))
    ((_, gives),) = filter(None, [asked(keras).first([Question(layer, (Spec((4,)),), (call,))])])
    assert gives == (Spec((4,)),)
    graph = Graph((Input((4,)),), (layer,), (call,), Ref(0), Ref(1))
    assert asked(keras).refuses(graph) == ""
    source = written(graph, "keras").source
    subprocess.run([sys.executable, "-c", source], cwd="/", check=True, capture_output=True)


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
    assert absolute("keras_hub.layers") == "keras_hub.layers"
