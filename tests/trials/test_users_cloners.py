"""A cloner of the user's own: how it is named, its faults, and the script that shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from clonediff.harness.scripts.alone import ScriptRunner
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.source import other_layers
from clonediff.harness.subjects import Case, Subject, SubjectProcess
from clonediff.harness.trials.cloners import named, unsupported_cloner
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import CloneTrial, run
from clonediff.reports.known import load
from clonediff.reports.records import Blame, Difference, Place, Raised, Severity

SOURCE = """import keras
from keras import layers

inputs = keras.Input((4,), name="x")
layer = layers.Dense(3, name="marked")
layer.supports_masking = False
model = keras.Model(inputs, layers.Dropout(0.5)(layer(inputs)))
"""
CLONERS = """import importlib

import keras


def good(model):
    clone = importlib.import_module("clonediff").clone_model(model)
    clone.get_layer("marked").supports_masking = False
    return clone


def loses(model):
    return type(model).from_config(model.get_config())


def by_keras(model):
    return keras.models.clone_model(model)


def brings(model):
    clone = loses(model)
    clone.set_weights(model.get_weights())
    return clone


def same(model):
    return model


def gives_config(model):
    return model.get_config()


class Subclassed(keras.Model):
    def call(self, x):
        return x


def gives_subclassed(model):
    return Subclassed()


def raises(model):
    raise RuntimeError("it knows no such models")


def raises_half_a_character(model):
    raise RuntimeError("a\\ud800b")


def needs_more(model, path):
    return model


class Cloner:
    @staticmethod
    def clone(model):
        return loses(model)


NUMBER = 3
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("users") / "clones_of_mine.py"
    path.write_text(CLONERS)
    return path


@pytest.fixture
def clones(file: Path, keras: SubjectProcess) -> Callable[[str], CloneTrial]:
    def tried(function: str) -> CloneTrial:
        name = named(f"{file}:{function}")
        return run(case(), keras, (name,)).clones[name]

    return tried


def case() -> Case:
    return Case(SOURCE, ({"shape": [4], "dtype": "float32", "fill": "normal"},))


def seen(trial: CloneTrial) -> set[tuple[str, str]]:
    return {(each.check, each.aspect) for each in trial.differences}


@pytest.mark.parametrize(
    ("function", "found"),
    [
        pytest.param("good", set(), id="good"),
        pytest.param("loses", {("structure", "attribute.supports_masking")}, id="loses a flag"),
        pytest.param("Cloner.clone", {("structure", "attribute.supports_masking")}, id="a method"),
        pytest.param(
            "brings", {("own", "not fresh"), ("structure", "attribute.supports_masking")}, id="copies weights"
        ),
        pytest.param("same", {("own", "layer shared")}, id="the model itself"),
        pytest.param("gives_config", {("made", "no model")}, id="no model"),
        pytest.param("gives_subclassed", {("made", "no model")}, id="a model without a graph"),
        pytest.param("raises", {("made", "raises")}, id="raises"),
    ],
)
def test_it_is_held_to_what_clone_model_promises(
    function: str, found: set[tuple[str, str]], clones: Callable[[str], CloneTrial]
) -> None:
    trial = clones(function)
    assert found <= seen(trial)
    if not found:
        assert trial.differences == ()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("gives_config", "clones_of_mine:gives_config gave a dict: return a Functional or Sequential model of keras"),
        ("gives_subclassed", "clones_of_mine:gives_subclassed gave a subclassed model (clones_of_mine.Subclassed): "),
        ("raises", "RuntimeError: it knows no such models"),
        ("raises_half_a_character", r"RuntimeError: a\ud800b"),
    ],
)
def test_what_is_no_clone_is_said(function: str, said: str, clones: Callable[[str], CloneTrial]) -> None:
    (cause,) = clones(function).causes
    assert cause.root.found.startswith(said)
    assert cause.root.expected == ("a Functional model" if cause.root.aspect == "no model" else "a clone")
    assert cause.blame is Blame.ITS_OWN


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("good", ""),
        ("none", "clones_of_mine:none: there is no none in clones_of_mine; it has good, loses, "),
        ("NUMBER", "clones_of_mine:NUMBER: NUMBER is of the type int: name a function that takes a model and gives"),
        ("needs_more", "it is called with a model and nothing else, and is needs_more(model, path)"),
    ],
)
def test_what_cannot_be_called_with_a_model_is_said_before_it_is(
    function: str, said: str, file: Path, keras: SubjectProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = named(f"{file}:{function}")
    monkeypatch.setattr(other_layers, "_ALLOWED", {name})
    problem = unsupported_cloner(name, keras)
    assert said in problem
    assert bool(said) == bool(problem)


def test_a_module_that_cannot_be_imported_is_said_with_its_line(tmp_path: Path, keras: SubjectProcess) -> None:
    file = tmp_path / "breaks_when_imported.py"
    file.write_text("import keras\n\nkeras.no_such_thing\n")
    said = keras.cloner_problem(named(f"{file}:clone"))
    assert "breaks_when_imported cannot be imported: AttributeError: " in said
    assert f"({file}, line 3)" in said
    said = keras.cloner_problem("no_such_module_of_mine:clone")
    assert "No module named 'no_such_module_of_mine'; it is not in the current folder: name FILE.py:function" in said


def test_a_function_that_its_module_cannot_import_is_said(tmp_path: Path, keras: SubjectProcess) -> None:
    file = tmp_path / "imports_when_asked.py"
    file.write_text("def __getattr__(name):\n    raise ImportError(f'{name} needs torch: a\\ud800b')\n")
    said = keras.cloner_problem(named(f"{file}:clone"))
    assert said.endswith(r"clone of imports_when_asked cannot be had: ImportError: clone needs torch: a\ud800b")


def test_the_code_of_others_runs_only_once_it_is_named(
    file: Path, keras: SubjectProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_layers, "_ALLOWED", set())
    name = named(f"{file}:good")
    assert unsupported_cloner(name, keras).endswith(f"name it with --cloner {name}")


def test_what_upstream_is_known_for_is_new_of_it(file: Path, keras: SubjectProcess) -> None:
    loses = named(f"{file}:loses")
    hits = GraphTrials(keras, load(), cloners=(loses, "upstream")).try_case(case()).hits
    found = {hit.cloner: (hit.known.id if hit.known else None, hit.blame) for hit in hits}
    assert found == {
        loses: (None, Blame.ITS_OWN),
        "upstream": ("supports-masking", Blame.UPSTREAM),
    }


LATER = pytest.mark.slow(reason="a Keras of its own for a script that is like another, which is run by day")


@pytest.mark.parametrize(
    "function",
    ["loses", *(pytest.param(each, marks=LATER) for each in ("gives_config", "raises"))],
)
def test_its_script_imports_it_and_fails_alone(
    function: str, file: Path, clones: Callable[[str], CloneTrial], keras: SubjectProcess
) -> None:
    root = clones(function).causes[0].root
    script = reproducer(SOURCE, "keras", root, named(f"{file}:{function}"), case())
    assert f'sys.path.insert(0, "{file.parent}")\nfrom clones_of_mine import ' in script.text
    assert "clonediff" not in script.text
    assert ScriptRunner(keras.subject).proof(script) == (True, "")


def test_what_its_import_warns_of_is_no_matter_of_its_script(tmp_path: Path) -> None:
    (tmp_path / "warns_when_imported.py").write_text(f"import warnings\n\nwarnings.warn('odd')\n\n{CLONERS}")
    odd = Difference("warned", "warned[0]", "raises", "no warning", "UserWarning: odd", Severity.PROPERTY)
    odd = structs.replace(odd, raised=Raised("UserWarning", "odd", ""))
    script = reproducer(SOURCE, "keras", odd, f"{tmp_path}/warns_when_imported:by_keras", case())
    assert ScriptRunner(Subject.parse("keras")).proof(script) == (False, "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("installed.package:clone", "installed.package:clone"),
        ("mine:clone", "{here}/mine:clone"),
        ("package.inner:Cloner.clone", "{here}/package.inner:Cloner.clone"),
        ("package/inner.py:clone", "{here}/package/inner:clone"),
        ("01_mine.py:clone", "{here}/01_mine:clone"),
        ("my-cloner.py:clone", "{here}/my-cloner:clone"),
    ],
)
def test_a_module_of_the_current_folder_is_named_by_it(
    text: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package").mkdir()
    for each in ("mine.py", "package/inner.py", "01_mine.py", "my-cloner.py"):
        (tmp_path / each).write_text("")
    monkeypatch.chdir(tmp_path)
    assert named(text) == name.format(here=tmp_path)
    assert named(named(text)) == named(text)


@pytest.mark.parametrize("text", ["mine:", ":clone", "a b:clone", "mine:clone:twice", "mine:clone[]", "none.py:clone"])
def test_what_is_no_name_of_a_function_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected module:function|there is no file"):
        named(text)


@pytest.mark.parametrize("text", ["a b.py:clone", "mine.old.py:clone"])
def test_a_file_that_cannot_be_imported_by_its_name_is_to_have_another(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be imported.*give the file another name"):
        named(text)


@pytest.mark.parametrize(
    "name", ["01_clones", *(pytest.param(each, marks=LATER) for each in ("clones-of-mine", "lambda"))]
)
def test_its_script_imports_a_module_of_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "a{}b"
    folder.mkdir()
    (folder / f"{name}.py").write_text(CLONERS)
    lost = Difference(
        *("structure", "layers['marked'].attribute.supports_masking", "attribute.supports_masking"),
        *("True", "False", Severity.PROPERTY, None),
    )
    lost = structs.replace(lost, first=Place("marked", "Dense", 1))
    script = reproducer(SOURCE, "keras", lost, named(f"{folder}/{name}.py:Cloner.clone"), case())
    assert ScriptRunner(Subject.parse("keras")).proof(script) == (True, "")
