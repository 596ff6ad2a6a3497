"""Custom cloners: how they are named, which promises they have to keep, and their scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.scripts.reproducer import script_of
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects import Case, Subject, SubjectProcess
from clonediff.harness.trials.cloners import full_name_of_cloner
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from clonediff.reports.records import Blame
from tests.helpers.example_graphs import graph_of_layer
from tests.helpers.trials import run_trial

SOURCE = """import keras
from keras import layers

inputs = keras.Input((4,), name="x")
layer = layers.Dense(3, name="marked")
layer.supports_masking = not layer.supports_masking
model = keras.Model(inputs, layers.Dropout(0.5)(layer(inputs)))
"""
CASE = Case(SOURCE, ({"shape": [4], "dtype": "float32", "fill": "normal"},))
FLAG_DIFFERENCE = "structure attribute.supports_masking"
CLONERS = """import importlib


def clone_faithfully(model):
    clone = importlib.import_module("clonediff").clone_model(model)
    clone.get_layer("marked").supports_masking = False
    return clone


def clone_by_config(model):
    return type(model).from_config(model.get_config())


def copy_weights(model):
    clone = clone_by_config(model)
    clone.set_weights(model.get_weights())
    return clone


def return_original(model):
    return model


def return_config(model):
    return model.get_config()


def raise_error(model):
    raise RuntimeError("it knows no a\\ud800b")


def require_path(model, path):
    return model


class Cloner:
    clone = staticmethod(clone_by_config)
"""


@pytest.fixture(scope="module")
def cloner_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("users") / "my_clones.py"
    path.write_text(CLONERS)
    for other in ("ends", "keras"):
        path.with_stem(other).write_text("raise SystemExit('no')\n")
    return path


@pytest.mark.parametrize(
    ("function", "seen", "message"),
    [
        ("clone_faithfully", set(), ""),
        ("clone_by_config", {FLAG_DIFFERENCE}, ""),
        ("Cloner.clone", {FLAG_DIFFERENCE}, ""),
        ("copy_weights", {FLAG_DIFFERENCE, "own not fresh"}, ""),
        ("return_original", {"own layer shared"}, ""),
        ("return_config", {"made no model"}, "an object of class dict: return a Functional or Sequential model"),
        ("raise_error", {"made raises"}, r"RuntimeError: it knows no a\ud800b"),
    ],
)
def test_a_custom_cloner_is_checked_like_clone_model(
    function: str, seen: set[str], message: str, cloner_file: Path, keras: SubjectProcess
) -> None:
    name = full_name_of_cloner(f"{cloner_file}:{function}")
    clone = run_trial(CASE, keras, name).clones[name]
    assert seen <= {f"{difference.check} {difference.aspect}" for difference in clone.differences}
    assert bool(seen) == bool(clone.differences)
    assert all(cause.blame is Blame.CLONER for cause in clone.causes)
    assert not message or message in clone.causes[0].root.found


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("my_clones.py:clone_faithfully", ""),
        ("my_clones.py:none", "my_clones:none: module 'my_clones' has no attribute 'none': name a"),
        ("ends.py:clone", "ends cannot be imported: SystemExit: no (/"),
        ("keras.py:clone", "another module named keras is already imported, from /"),
        ("my_clones.py:require_path", "require_path: missing a required argument: 'path': name a function"),
    ],
)
def test_an_unusable_cloner_is_refused_before_a_trial(
    function: str, problem: str, cloner_file: Path, keras: SubjectProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = full_name_of_cloner(f"{cloner_file.parent}/{function}")
    trials = GraphTrials(keras, load(), cloners=(name,))
    monkeypatch.setattr("clonediff.harness.trials.cloners._ALLOWED_NAMES", {name})
    reason = trials.try_if_supported(graph_of_layer("layers.ReLU()")).skip_reason
    assert problem in reason and bool(problem) == bool(reason)
    monkeypatch.setattr("clonediff.harness.trials.cloners._ALLOWED_NAMES", set())
    assert trials.try_if_supported(graph_of_layer("layers.ReLU()")).skip_reason.endswith(f"pass --cloner {name}")


def test_a_known_issue_of_upstream_is_new_for_another_cloner(cloner_file: Path, keras: SubjectProcess) -> None:
    clone_by_config = full_name_of_cloner(f"{cloner_file}:clone_by_config")
    causes = GraphTrials(keras, load(), cloners=(clone_by_config, "upstream")).try_case(CASE).found_causes
    found = {cause.cloner: (cause.known.id if cause.known else None, cause.blame) for cause in causes}
    assert found == {clone_by_config: (None, Blame.CLONER), "upstream": ("set-afterwards", Blame.UPSTREAM)}


def test_the_script_of_a_custom_cloner_imports_it_and_fails_alone(keras: SubjectProcess, tmp_path: Path) -> None:
    folder = tmp_path / "a{}b"
    folder.mkdir()
    (folder / "01_clones.py").write_text(CLONERS)
    cloner = full_name_of_cloner(f"{folder}/01_clones.py:Cloner.clone")
    (found,) = GraphTrials(keras, load(), cloners=(cloner,)).try_case(CASE).found_causes
    script = script_of(found, "keras", keras.versions)
    assert "clonediff" not in script.text
    assert ScriptRunner(Subject.parse("keras")).answer(script)[0] is ReplayAnswer.BREAKS


@pytest.mark.no_keras
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("installed.package:clone", "installed.package:clone"),
        ("mine:clone", "{here}/mine:clone"),
        ("package.inner:Cloner.clone", "{here}/package.inner:Cloner.clone"),
        ("package/inner.py:clone", "{here}/package/inner:clone"),
        ("my-cloner.py:clone", "{here}/my-cloner:clone"),
    ],
)
def test_a_cloner_in_the_current_folder_is_named_by_its_path(
    text: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package").mkdir()
    for path in ("mine.py", "package/inner.py", "my-cloner.py"):
        (tmp_path / path).write_text("")
    monkeypatch.chdir(tmp_path)
    assert full_name_of_cloner(full_name_of_cloner(text)) == full_name_of_cloner(text) == name.format(here=tmp_path)


@pytest.mark.no_keras
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, "expected module:function") for text in ("mine:", ":clone", "a b:clone", "mine:clone:twice")),
        ("none.py:clone", "there is no file"),
        *((text, "cannot be imported.*rename the file") for text in ("a b.py:clone", "mine.old.py:clone")),
    ],
)
def test_a_wrong_cloner_name_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        full_name_of_cloner(text)
