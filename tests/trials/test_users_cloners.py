"""A cloner of the user's own: how it is named, what it is held to, its faults, and the script that shows them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from clonediff.harness.inside.cloners.users import as_asked, users_cloner
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.source import other_layers
from clonediff.harness.subjects import Case, Subject, SubjectProcess
from clonediff.harness.trials.checks import CHECKS
from clonediff.harness.trials.contracts import promised_names
from clonediff.harness.trials.expressible import unsupported_cloner
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import CloneTrial, run
from clonediff.harness.trials.users_cloners import PromisesError, held_to, named
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


def brings_others(model):
    clone = loses(model)
    clone.set_weights([each + 1 for each in model.get_weights()])
    return clone


def another_layer(model):
    config = model.get_config()
    config["layers"][1]["name"] = config["layers"][1]["config"]["name"] = "another"
    config["layers"][2]["inbound_nodes"][0]["args"][0]["config"]["keras_history"][0] = "another"
    clone = type(model).from_config(config)
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
        pytest.param("loses[weights,outputs,own]", set(), id="promises less"),
        pytest.param(
            "brings", {("own", "not fresh"), ("structure", "attribute.supports_masking")}, id="copies weights"
        ),
        pytest.param("brings[own,weights,values]", set(), id="promises the values"),
        pytest.param("loses[weights,values]", {("weights", "value not kept")}, id="promises values that it has not"),
        pytest.param("loses[outputs]", {("outputs", "value")}, id="promises outputs as it comes"),
        pytest.param("brings[outputs]", set(), id="keeps outputs as it comes"),
        pytest.param("brings_others[all,values]", {("weights", "value not kept")}, id="brings other values"),
        pytest.param("another_layer[outputs,own]", {("own", "not fresh")}, id="its own layers, not its own values"),
        pytest.param("another_layer[outputs,values]", set(), id="changes layers on purpose"),
        pytest.param("same", {("own", "layer shared")}, id="the model itself"),
        pytest.param("same[outputs,structure]", set(), id="promises no model of its own"),
        pytest.param("gives_config", {("made", "no model")}, id="no model"),
        pytest.param("gives_subclassed", {("made", "no model")}, id="a model without a graph"),
        pytest.param("raises[outputs]", {("made", "raises")}, id="raises"),
    ],
)
def test_it_is_held_to_what_it_promises(
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
    assert unsupported_cloner(name, keras).endswith(f"say that you trust it with --cloner {name}")
    assert unsupported_cloner(f"{name}[outputs]", keras).endswith(f"--cloner '{name}[outputs]'")


@pytest.mark.parametrize(
    ("asked", "found", "cloner"),
    [
        ("a:f", "a:f[outputs]", "a:f[outputs]"),
        ("a:f[all]", "a:f[outputs]", "a:f[all]"),
        ("a:f[weights]", "a:f[outputs]", "a:f[weights]"),
        ("b:f", "a:f[outputs]", "b:f"),
        ("fixed", "a:f[outputs]", "fixed"),
        ("a:f", "upstream", "a:f"),
    ],
)
def test_the_function_of_a_finding_is_held_to_what_it_was(asked: str, found: str, cloner: str) -> None:
    assert as_asked(asked, found) == cloner


def test_what_upstream_is_known_for_is_new_unless_it_is_called(file: Path, keras: SubjectProcess) -> None:
    loses, by_keras = named(f"{file}:loses"), named(f"{file}:by_keras")
    hits = GraphTrials(keras, load(), cloners=(loses, by_keras, "upstream")).try_case(case()).hits
    found = {hit.cloner: (hit.known.id if hit.known else None, hit.blame) for hit in hits}
    assert found == {
        loses: (None, Blame.ITS_OWN),
        by_keras: ("supports-masking", Blame.UPSTREAM),
        "upstream": ("supports-masking", Blame.UPSTREAM),
    }


LATER = pytest.mark.slow(reason="a Keras of its own for a script that is like another, which is run by day")


@pytest.mark.parametrize(
    "function",
    ["loses[outputs]"]
    + [pytest.param(each, marks=LATER) for each in ("loses", "gives_config", "raises", "loses[weights,values]")],
)
def test_its_script_imports_it_and_fails_alone(
    function: str, file: Path, clones: Callable[[str], CloneTrial], keras: SubjectProcess
) -> None:
    root = clones(function).causes[0].root
    script = reproducer(SOURCE, "keras", root, named(f"{file}:{function}"), case())
    assert f'sys.path.insert(0, "{file.parent}")\nfrom clones_of_mine import ' in script.text
    assert "clonediff" not in script.text
    assert tried_alone(script, keras.subject) == (True, "")


def test_what_its_import_warns_of_is_no_matter_of_its_script(tmp_path: Path) -> None:
    (tmp_path / "warns_when_imported.py").write_text(f"import warnings\n\nwarnings.warn('odd')\n\n{CLONERS}")
    odd = Difference("warned", "warned[0]", "raises", "no warning", "UserWarning: odd", Severity.PROPERTY)
    odd = structs.replace(odd, raised=Raised("UserWarning", "odd", ""))
    script = reproducer(SOURCE, "keras", odd, f"{tmp_path}/warns_when_imported:by_keras", case())
    assert tried_alone(script, Subject.parse("keras")) == (False, "")


def test_the_script_that_clones_often_imports_once() -> None:
    stays = Difference("often", "often.alive", "stays alive", "nothing", "2 Dense of each clone", Severity.PROPERTY)
    text = reproducer(SOURCE, "keras", stays, "/a/folder/mine:clone", case()).text
    assert text.count("from mine import clone as cloner") == text.count("sys.path.insert") == 1
    assert "\n    clone = cloner(model)\n" in text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("installed.package:clone", "installed.package:clone"),
        ("mine:clone", "{here}/mine:clone"),
        ("package.inner:Cloner.clone", "{here}/package.inner:Cloner.clone"),
        ("package/inner.py:clone", "{here}/package/inner:clone"),
        ("mine:clone[outputs,weights]", "{here}/mine:clone[weights,outputs]"),
        ("mine:clone[all]", "{here}/mine:clone[all]"),
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
    assert tried_alone(script, Subject.parse("keras")) == (True, "")


@pytest.mark.parametrize(
    ("cloners", "promises", "held"),
    [
        (("upstream", "a:f"), "", ("upstream", "a:f")),
        (("upstream", "a:f", "b:g"), "outputs, made", ("upstream", "a:f[made,outputs]", "b:g[made,outputs]")),
        (("a:f",), "all", ("a:f",)),
        (("a:f",), "values,all", ("a:f[all,values]",)),
        (("a:f[outputs]", "b:g"), "weights", ("a:f[outputs]", "b:g[weights]")),
        (("a:f[all]", "b:g"), "weights", ("a:f", "b:g[weights]")),
        (("a:f[all]", "a:f"), "", ("a:f",)),
    ],
)
def test_promises_are_of_the_users_own_cloners(cloners: tuple[str, ...], promises: str, held: tuple[str, ...]) -> None:
    assert held_to(cloners, promises) == held
    assert all(users_cloner(each) for each in held if ":" in each)


@pytest.mark.parametrize(
    ("cloners", "promises", "said"),
    [
        (("a:f",), "outputs,wights", "found 'wights'"),
        (("a:f",), ",", "expected some of"),
        (("a:f",), "functions", "found 'functions'"),
        (("fixed",), "own", "--cloner"),
    ],
)
def test_promises_that_nobody_can_make_are_refused(cloners: tuple[str, ...], promises: str, said: str) -> None:
    with pytest.raises(PromisesError, match=said):
        held_to(cloners, promises)


def test_the_reference_names_all_that_can_be_promised() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = text.partition("says what it is held to: ")[2].partition(" where its clone has")[0]
    said = re.findall(r"`(\w+)`", listed)
    assert said == ["all", *(name for name in CHECKS if name != "functions"), "values"]
    assert promised_names(",".join(said[1:])) == tuple(said[1:])
