"""The fixes in `reports/fixes`, applied one after another, fix the known issues that they name."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.judge.keras_tests import compare_tests
from clonediff.harness.judge.proposals import Proposal, ProposalError, read_proposal
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects.environment import DEFAULT_SEARCH_PATH
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from tests.helpers.git_repositories import put_keras

FOLDER = Path(__file__).parents[2] / "reports" / "fixes"
FIXES = [read_proposal(path.name, path.read_text(), ()) for path in sorted(FOLDER.glob("*.py"))]
GENERATIONS = ("keras", "tf_keras")


@pytest.mark.no_keras
@pytest.mark.parametrize("generation", GENERATIONS)
def test_fixes_apply_one_after_the_other_and_as_one_diff(generation: str, tmp_path: Path) -> None:
    copy = PrivateCopy(generation, DEFAULT_SEARCH_PATH, tmp_path / "copy")
    for fix in FIXES:
        copy.apply(fix.name, fix.text)
    changed, diff = copy.changed_files(), copy.diff()
    assert {*changed} == {file for fix in FIXES if fix.is_for(generation) for file in fix.definitions}
    for name in changed:
        compile((copy.folder / name).read_text(), name, "exec")
    patched = PrivateCopy(generation, DEFAULT_SEARCH_PATH, tmp_path / "patched")
    patched.apply("all.diff", diff)
    assert patched.diff() == diff


@pytest.mark.no_keras
def test_each_fixed_issue_exists_and_belongs_to_one_fix() -> None:
    known = {issue.id: issue.generation for issue in load().issues}
    fixed_ids = [(id_, fix) for fix in FIXES for id_ in fix.fixes]
    assert {id_ for id_, _ in fixed_ids} - known.keys() == set(), "these are no longer known issues"
    assert all(fix.is_for(known[id_]) for id_, fix in fixed_ids)
    ids = [id_ for id_, _ in fixed_ids]
    assert sorted(ids) == sorted(set(ids))


SMALL_FIXES = [fix for fix in FIXES if not fix.name.startswith("10")]


@pytest.mark.parametrize(("generation", "fixes"), [("keras", SMALL_FIXES), ("keras", FIXES), ("tf_keras", FIXES)])
def test_scripts_of_fixed_issues_pass_with_the_fixes(generation: str, fixes: list[Proposal], tmp_path: Path) -> None:
    copy = PrivateCopy(generation, DEFAULT_SEARCH_PATH, tmp_path / "copy")
    for fix in fixes:
        copy.apply(fix.name, fix.text)
    fixed_ids = [id_ for fix in fixes for id_ in fix.fixes]
    issues = [issue for issue in load().select(generation).issues if issue.id in fixed_ids]
    with closing(ScriptRunner(Subject.parse(generation), copy.search_path)) as runner:
        answers = {issue.id: runner.answer(Script(issue.script, issue.raises, must_fail=True)) for issue in issues}
    assert {id_: answer for id_, answer in answers.items() if answer[0] is not ReplayAnswer.GONE} == {}


CLONE_AND_SAVE = """\
import h5py, keras, numpy as np, tensorflow as tf
from keras import layers

class Blocks(layers.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = [layers.Dense(4), {"one": layers.Dense(4)}]

    def build(self, shape):
        self.blocks[0].build(shape)
        self.blocks[1]["one"].build(shape)

    def call(self, x):
        return self.blocks[1]["one"](self.blocks[0](x))

words = layers.StringLookup()
words.adapt(np.array(["a", "b"]))
inputs, text = keras.Input((4,)), keras.Input((), dtype="string")
outputs = layers.Dropout(0.5)(layers.BatchNormalization()(Blocks()(inputs)))
model = keras.Model([inputs, text], [outputs, words(text)])
model.compile(keras.optimizers.Adam(0.25), loss=["mse", None])
model.optimizer.build(model.trainable_variables)
clone = keras.models.clone_model(model)

assert not np.array_equal(model.weights[0], clone.weights[0]), "the clone has the weights of the model"
assert len({id(x) for keras_model in (model, clone) for x in keras_model.variables}) == 2 * len(model.variables)
assert clone.optimizer is not model.optimizer and float(clone.optimizer.learning_rate) == 0.25
assert clone.get_layer("string_lookup").get_vocabulary() == ["[UNK]", "b", "a"]
saved = []
for name, keras_model in (("model", model), ("clone", clone)):
    tf.train.Checkpoint(model=keras_model).write(name)
    keras_model.save_weights(name + ".weights.h5")
    keys = []
    h5py.File(name + ".weights.h5").visititems(lambda key, value: keys.append((key, getattr(value, "shape", ()))))
    saved.append((keys, tf.train.list_variables(name)))
assert saved[0] == saved[1], saved
first = "model/optimizer/_trainable_variables/0/.ATTRIBUTES/VARIABLE_VALUE"
np.testing.assert_array_equal(tf.train.load_checkpoint("clone").get_tensor(first), clone.trainable_variables[0])
"""
CLONE_AND_TRAIN = """\
import keras, numpy as np
from keras import layers, metrics, optimizers

class Scale(keras.constraints.Constraint):
    def __init__(self, factors):
        self.factors = factors

    def get_config(self):
        return {"factors": self.factors}

    __call__ = lambda self, weight: weight * self.factors

inputs, seed = keras.Input((3,)), keras.random.SeedGenerator(3)
initializer, constraint = keras.initializers.RandomNormal(seed=seed), Scale(np.ones(2))
dense = layers.Dense(2, kernel_initializer=initializer, kernel_constraint=constraint)
identity = layers.Identity(activity_regularizer="l2", name="identity")
model = keras.Model(inputs, identity(layers.Pipeline([dense])(inputs)))
model.compile(loss="mse")
model.optimizer.learning_rate = 0.25
assert float(keras.models.clone_model(model).optimizer.learning_rate) == 0.25
clone = keras.models.clone_model(model, call_function=lambda layer, *args, **kwargs: layer(*args, **kwargs))
assert {*map(id, clone._flatten_layers())}.isdisjoint(map(id, model._flatten_layers()))
assert clone.get_layer("identity").get_config() == identity.get_config()
copies = [layer.kernel_constraint for layer in clone._flatten_layers() if isinstance(layer, layers.Dense)]
assert [copy.factors is constraint.factors for copy in copies] == [False]
model.compile(optimizers.MultiOptimizer(lambda _: optimizers.Adam()), "mse", metrics=[metrics.FalsePositives()])
model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
keras.models.clone_model(model).fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
"""


@pytest.mark.parametrize("script", [CLONE_AND_SAVE, CLONE_AND_TRAIN], ids=["save", "train"])
def test_with_the_fixes_a_clone_is_saved_and_trained_like_its_model(script: str, tmp_path: Path) -> None:
    copy = PrivateCopy("keras", DEFAULT_SEARCH_PATH, tmp_path / "copy")
    for fix in FIXES:
        copy.apply(fix.name, fix.text)
    with closing(ScriptRunner(Subject.parse("keras"), copy.search_path)) as runner:
        assert runner.answer(Script(script, "AssertionError", must_fail=True)) == (ReplayAnswer.GONE, "")


RELEASE_FILE = '''\
"""A module."""

import abc

from keras.src import tree


@abc.abstractmethod
def one():
    """Return one."""
    return abc


class Two:
    @property
    def two(self):
        return 2
'''
HEADER = """\
# /// clonediff
# releases = "keras"
# definitions."keras/src/models/cloning.py" = [{}]
# ///

import math

from keras.src import backend
"""
EDITS = {
    "keeps decorators and docstring": (
        '"one"',
        "def one():\n    return 1\n",
        '@abc.abstractmethod\ndef one():\n    """Return one."""\n    return 1\n',
    ),
    "adds a decorator": (
        '"marked", "one"',
        "def marked(function):\n    return function\n\n\n@marked\ndef one(): ...\n",
        "\n\ndef marked(function):\n    return function\n\n\n@abc.abstractmethod\n@marked\ndef one():\n",
    ),
    "imports what is used, in order": (
        '"one"',
        "def one():\n    return math, backend\n",
        "import abc\nimport math\n\nfrom keras.src import backend\nfrom keras.src import tree\n",
    ),
    "replaces a method": (
        '"Two.two"',
        "class Two:\n    def two(self):\n        return 3\n",
        "class Two:\n    @property\n    def two(self):\n        return 3\n",
    ),
    "adds a method": (
        '"Two.three"',
        "class Two:\n    def three(self):\n        return 3\n",
        "        return 2\n\n    def three(self):\n        return 3\n",
    ),
    "adds a function, and a class in a new file": (
        '"other"]\n# definitions."keras/src/models/new.py" = ["New"',
        "class New: ...\n\n\nONE = 1\n\n\ndef other():\n    return math\n",
        "        return 2\n\n\ndef other():\n    return math\n",
    ),
}
"""By effect: the names in the header of a fix, its definition, and lines of the edited file."""


def apply_fix(text: str, folder: Path, name: str = "fix.py") -> str:
    path = folder / "site" / "keras" / "src" / "models" / "cloning.py"
    path.parent.mkdir(parents=True)
    path.write_text(RELEASE_FILE)
    copy = PrivateCopy("keras", (str(folder / "site"),), folder / "copy")
    copy.apply(name, text)
    return (copy.folder / "keras/src/models/cloning.py").read_text()


@pytest.mark.no_keras
@pytest.mark.parametrize("name", EDITS)
def test_a_definition_replaces_the_definition_of_the_same_name(name: str, tmp_path: Path) -> None:
    names, code, lines = EDITS[name]
    assert lines in apply_fix(HEADER.format(names) + "\n\n" + code, tmp_path)


FILE = "keras/src/models/cloning.py"
WRONG_DIFF = f"--- a/{FILE}\n+++ b/{FILE}\n@@ -1 +1 @@\n-a\n+b\n"
NO_MATCH = f"patch failed: {FILE}:1; {FILE}: patch does not apply: make the diff against this release"
NO_FUNCTION = "it defines none of the release's cloning functions"
HELPER = "def helped(model):\n    return model\n"


@pytest.mark.no_keras
@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("fix.py", HEADER.format('"none"'), "does not define none, which its block"),
        ("fix.py", HEADER.format('"one"').replace("models/", "nowhere/") + "def one(): ...\n", "no such folder"),
        ("fix.py", HEADER.format('"one"').replace("models/", "../../../") + "def one(): ...\n", "no such folder"),
        ("fix.py", HEADER.format('"one", "none"') + "def one(): ...\ndef none(): ...\n", "does not define none"),
        ("fix.py", HEADER.format('"one"').replace('"keras"', '"keras new"'), "Expected semicolon"),
        ("fix.py", HEADER.format("1"), "Expected `str`"),
        ("fix.py", HEADER.format('"one"').replace("definitions", "defintions"), "unknown field `defintions`"),
        ("fix.py", "def one(:\n", "no Python code in it"),
        ("fix.py", HELPER, NO_FUNCTION),
        ("fix.md", f"```\n{HELPER}```\n", NO_FUNCTION),
        ("fix.md", f"So:\n\n```diff\n{WRONG_DIFF}```\n", NO_MATCH),
        ("fix.txt", f"Apply this:\n\n{WRONG_DIFF}", NO_MATCH),
        ("fix.diff", "nothing", "No valid patches in input"),
        ("fix.diff", WRONG_DIFF.replace("cloning", "none"), "keras/src/models/none.py: No such file or directory"),
        ("fix.diff", f"--- /dev/null\n+++ b/{FILE}\n@@ -0,0 +1 @@\n+a\n", f"{FILE}: already exists"),
        ("fix.diff", WRONG_DIFF.replace("keras/src", "tests"), "it changes no line of the release"),
        ("fix.diff", "--- ../out.py\n+++ ../out.py\n@@ -1 +1 @@\n-a\n+b\n", "it changes no line of the release"),
        ("fix.diff", "--- /dev/null\n+++ b/keras/../../out.py\n@@ -0,0 +1 @@\n+a\n", "invalid path"),
    ],
)
def test_the_error_says_why_a_fix_does_not_apply(name: str, text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ProposalError, match=reason):
        apply_fix(text, tmp_path / "one" / "two", name)
    assert [*tmp_path.rglob("out.py")] == []


def test_keras_tests_that_fail_with_a_fix_are_listed(tmp_path: Path) -> None:
    put_keras(tmp_path / "site")
    folder = tmp_path / "site" / "keras" / "src" / "models"
    folder.mkdir()
    (folder / "cloning.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    tests = ("def test_one():\n    assert cloning.one() == 1\n", "def test_two():\n    assert cloning.two() == 2\n")
    (folder / "cloning_test.py").write_text("\n\n".join(("from keras.src.models import cloning\n", *tests)))
    copy = PrivateCopy("keras", (str(tmp_path / "site"),), tmp_path / "copy")
    copy.apply("fix.py", "def one():\n    return 3\n")
    assert compare_tests(copy, Subject.parse("keras")) == (2, ("keras.src.models.cloning_test.test_one",))
