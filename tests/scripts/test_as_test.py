"""Scripts as tests: in the style of Keras' own, as a plain function, and as an example of a test that draws."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import Phase, example, given, settings

from clonediff.harness.scripts import as_test
from clonediff.harness.scripts.as_test import SOURCE_LACKS, NoTestError, keras_test, name_of_test, pytest_test
from clonediff.harness.scripts.of_finding import script_from
from clonediff.harness.scripts.reproducer import Script, reproducer
from clonediff.harness.subjects import SubjectProcess
from clonediff.reports.records import Difference, Finding, Place, Severity
from clonediff.strategies import from_json, functional_graphs
from clonediff.strategies.graph import Graph
from tests.cli.finding_folders import KNOWN, found
from tests.waiting import PATIENCE

TRAINABLE = Difference(
    "structure", "model.trainable", "trainable", "false", "true", Severity.TRAINS, Place("model", "Functional")
)
MODEL = "import keras\n\ninputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, inputs)\n"
CLONE = "\nclone = keras.models.clone_model(model)\n"


def told(
    root: Difference = TRAINABLE, title: str = "A frozen model is not frozen in the clone", **fields: object
) -> Finding:
    named = {"id": "x", "generation": "keras", "cloner": "upstream", "subject": "keras", "graph": msgspec.Raw(b"{}")}
    return Finding(title=title, differences=(root,), source=MODEL, versions={}, **{**named, **fields})


def written(end: str, above: str = MODEL, raises: str = "AssertionError") -> Script:
    return Script(f"{above}{CLONE}{end}\n\n# structure: model.trainable\n#   clone:    true\n", raises, sure=True)


EQUAL = 'expected, found = [it.trainable for it in (model, clone)]\nassert found == expected, f"{found} in the clone"'
KERAS_TEST = """\
import pytest

from keras.src import layers
from keras.src import models
from keras.src import testing
from keras.src.models.cloning import clone_model


class CloneModelTest(testing.TestCase):
    @pytest.mark.xfail(
        strict=True,
        raises=AssertionError,
        reason="A frozen model is not frozen in the clone",
    )
    def test_clone_keeps_trainable_of_model(self):
        inputs = layers.Input(shape=(4,))
        model = models.Model(inputs, inputs)

        clone = clone_model(model)
        expected, found = [it.trainable for it in (model, clone)]
        self.assertEqual(found, expected)
"""
PYTEST_TEST = """\
import keras
import pytest


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="A frozen model is not frozen in the clone",
)
def test_clone_keeps_trainable_of_model():
    keras.backend.clear_session()
    inputs = keras.Input(shape=(4,))
    model = keras.Model(inputs, inputs)

    clone = keras.models.clone_model(model)
    expected, found = [it.trainable for it in (model, clone)]
    assert found == expected, f"{found} in the clone"
"""


def test_a_test_is_a_file_in_the_style_of_keras() -> None:
    assert keras_test(written(EQUAL), told()) == KERAS_TEST


def test_a_plain_test_is_a_function() -> None:
    assert pytest_test(written(EQUAL), told()) == PYTEST_TEST


def test_a_cloner_of_ones_own_is_imported_once_its_folder_is_on_the_path() -> None:
    cloner = "/a/folder/mine:clone"
    text = pytest_test(reproducer(MODEL, "keras", TRAINABLE, cloner), told(cloner=cloner))
    assert '    sys.path.insert(0, "/a/folder")\n    from mine import clone as cloner\n' in text
    assert "\nfrom mine" not in text


def test_without_ruff_it_is_the_same_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_test.shutil, "which", lambda name: None)
    monkeypatch.setattr(as_test.importlib.util, "find_spec", lambda name: None)
    assert ast.dump(ast.parse(keras_test(written(EQUAL), told()))) == ast.dump(ast.parse(KERAS_TEST))


@pytest.mark.parametrize(
    ("line", "stands"),
    [
        ("assert clone is not model", "self.assertIsNot(clone, model)"),
        ("assert clone.extra is None", "self.assertIsNone(clone.extra)"),
        ("assert not clone.layers, 'some'", 'self.assertFalse(clone.layers, "some")'),
        ("assert all(clone.layers)", "self.assertTrue(all(clone.layers))"),
        ("assert keras.ops.sum(clone.x) in (1, 2)", "self.assertIn(ops.sum(clone.x), (1, 2))"),
        ("for one in clone.layers:\n    assert one == 1", "    self.assertEqual(one, 1)"),
        (
            "import numpy as np\n\nnp.testing.assert_array_equal(keras.ops.convert_to_numpy(clone.a), [1])",
            "self.assertAllEqual(clone.a, [1])",
        ),
        ("assert keras.layers.MaxPool1D == clone.kind", "self.assertEqual(keras.layers.MaxPool1D, clone.kind)"),
        ('text = """\nas\n  it is"""\nassert text == clone.text', 'text = """\nas\n  it is"""'),
        ("layers = 3\nassert keras.layers.Dense == layers", "self.assertEqual(keras.layers.Dense, layers)"),
    ],
)
def test_an_assertion_is_one_of_the_class(line: str, stands: str) -> None:
    text = keras_test(written(line), told())
    assert stands in text
    assert "assert " not in text


OWN = (
    "import keras\nfrom keras import layers\n\n\nclass Own(layers.Layer):\n    pass\n\n\n"
    "factor = 2\n\n\ndef times(x):\n    return x * factor\n\n\n"
    "inputs = keras.Input(shape=(4,))\nmodel = keras.Model(inputs, times(Own()(inputs)))\n"
)
HELPER = f"\n\ndef said(model):\n    return 1\n\n\nassert said(clone) == said(model)\n{EQUAL}"


def test_what_the_model_is_made_of_stays_within_a_test_of_keras() -> None:
    text = keras_test(written(HELPER, OWN), told())
    assert "        class Own(layers.Layer):\n            pass\n" in text
    assert "        def times(x):\n            return x * factor\n" in text
    assert text.index("\ndef said(model):\n") < text.index("\nclass CloneModelTest(")


def test_definitions_stand_above_a_plain_test_unless_they_need_what_it_makes() -> None:
    text = pytest_test(written(HELPER, OWN), told())
    assert text.index("\nclass Own(layers.Layer):\n") < text.index("\ndef said(model):\n") < text.index("\ndef test_")
    assert "\n    def times(x):\n        return x * factor\n" in text


def test_random_numbers_have_a_seed() -> None:
    text = "import numpy as np\n\nnp.testing.assert_array_equal(clone.x, model.x)"
    seed = "keras.utils.set_random_seed(0)"
    assert seed in keras_test(written(text), told())
    assert seed in pytest_test(written(text), told())
    assert seed not in keras_test(written(EQUAL), told())


def test_what_is_set_for_all_models_is_put_back() -> None:
    above = f'{MODEL}keras.config.set_dtype_policy("mixed_bfloat16")\n'
    own = keras_test(written(EQUAL, above), told())
    assert own.index("self.addCleanup(") < own.index('set_dtype_policy("mixed_bfloat16")')
    plain = pytest_test(written(EQUAL, above), told())
    assert "(request):\n" in plain
    assert "request.addfinalizer(lambda: keras.config.set_dtype_policy(policy_before))" in plain


@pytest.mark.parametrize(
    ("sets", "back"),
    [
        ('keras.config.set_floatx("float16")', "(keras.config.set_floatx, keras.config.floatx())"),
        (
            'keras.config.set_image_data_format("channels_first")',
            "(keras.config.set_image_data_format, keras.config.image_data_format())",
        ),
        ("keras.config.disable_flash_attention()", "(keras.config.enable_flash_attention)"),
        ("keras.config.enable_unsafe_deserialization()", "(keras.utils.clear_session)"),
    ],
)
def test_each_setting_of_a_session_is_put_back(sets: str, back: str) -> None:
    text = "".join(keras_test(written(EQUAL, f"{MODEL}{sets}\n"), told()).split())
    assert f"self.addCleanup{back}".replace(" ", "") in text


def test_a_line_separator_in_a_name_is_no_end_of_a_line() -> None:
    above = f'{MODEL}name = "a\u2028b"\n'
    for text in (keras_test(written(EQUAL, above), told()), pytest_test(written(EQUAL, above), told())):
        ast.parse(text)
        assert '"a\u2028b"' in text


def test_the_exception_of_the_clone_is_the_one_that_is_expected() -> None:
    text = keras_test(written("", raises="ValueError"), told())
    assert "raises=ValueError," in text
    assert "\n        clone_model(model)\n" in text
    assert "raises=" not in keras_test(written("", raises="InvalidArgumentError"), told())


@pytest.mark.parametrize(
    ("aspect", "end", "raises", "own", "said"),
    [
        ("no error", 'raise AssertionError("no error")', "AssertionError", "Raises", ""),
        ("unclear error", "", "TypeError", "RaisesRegex", '"clone_function"'),
    ],
)
def test_a_clone_that_is_to_be_refused_is(aspect: str, end: str, raises: str, own: str, said: str) -> None:
    root = msgspec.structs.replace(TRAINABLE, check="made", path="clone", aspect=aspect)
    script = Script(f"{MODEL}\nclone = keras.models.clone_model(model, clone_function=3)\n{end}\n", raises, sure=True)
    given_ = f"((TypeError, ValueError){f', {said}' if said else ''}):\n"
    text = keras_test(script, told(root))
    assert f"with self.assert{own}{given_}            clone_model(model, clone_function=3)\n" in text
    text = pytest_test(script, told(root))
    match = given_.replace(said, f"match={said}") if said else given_
    assert f"with pytest.raises{match}        keras.models.clone_model(model, clone_function=3)\n" in text


@pytest.mark.parametrize(
    ("script", "fields", "said"),
    [
        (Script(MODEL), {}, "compares nothing"),
        (written(EQUAL, raises="SIGSEGV"), {}, "does not end in an exception"),
        (written(EQUAL, raises="timed out"), {}, "does not end in an exception"),
        (Script(f"{MODEL}\nfrom clonediff import clone_model\n", "AssertionError"), {}, "clonediff's own cloner"),
        (written(EQUAL), {"generation": "tf_keras"}, "--as-pytest writes a plain one"),
    ],
)
def test_what_cannot_be_a_test_is_said(script: Script, fields: dict[str, object], said: str) -> None:
    with pytest.raises(NoTestError, match=re.escape(said)):
        keras_test(script, told(**fields))


@pytest.mark.parametrize(
    ("check", "aspect", "kind", "name"),
    [
        ("structure", "trainable", "Functional", "clone_keeps_trainable_of_model"),
        ("structure", "attribute.kernel_shape", "EinsumDense", "clone_keeps_kernel_shape_of_einsum_dense"),
        ("structure", "call.kwargs extra", "MaxPooling1D", "clone_keeps_call_kwargs_of_max_pooling1_d"),
        ("made", "raises", "Lambda", "clone_model_with_lambda"),
        ("masks", "mask lost", "tf.cast", "clone_keeps_mask_of_tf_cast"),
        ("untouched", "input tensor", "InputLayer", "cloning_keeps_input_tensor_of_original"),
        ("own", "object shared", "Dropout", "clone_has_own_object_of_dropout"),
    ],
)
def test_the_name_says_what_a_good_clone_does(check: str, aspect: str, kind: str, name: str) -> None:
    root = msgspec.structs.replace(TRAINABLE, check=check, aspect=aspect, first=Place("x", kind, 1))
    assert name_of_test(told(root)) == f"test_{name}"


def test_no_text_of_a_finding_ends_the_mark() -> None:
    text = keras_test(written(EQUAL), told(title='x"\n)\nimport os # \\ {y} \x1b'))
    assert [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)] == ["CloneModelTest"]
    assert "os" not in {each.id for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name)}


def test_what_keras_has_under_no_other_name_is_asked_of_keras() -> None:
    spec = importlib.util.find_spec("keras")
    assert spec is not None
    folder = Path(str((spec.submodule_search_locations or [""])[0]))
    lines = (folder / "layers" / "__init__.py").read_text().splitlines()
    public = {re.split(r" (?:as|import) ", line)[-1] for line in lines if line.startswith("from keras.src.layers.")}
    there = set(re.findall(r"import (\w+)", (folder / "src" / "layers" / "__init__.py").read_text()))
    lacking = {each for each in public - there if each[0].isupper()}
    assert {each for each in lacking if not SOURCE_LACKS.fullmatch(f"layers.{each}")} == set()
    assert not [each for each in there if SOURCE_LACKS.fullmatch(f"layers.{each}")]


def test_an_example_is_tried_by_a_test_that_draws() -> None:
    graph = KNOWN["model-trainable"].example or ""
    line = as_test.example(told(graph=msgspec.Raw(graph.encode())))
    seen: list[Graph] = []
    names = {"example": example, "from_json": from_json, "graphs": functional_graphs(), "given": given, "seen": seen}
    exec(f"{line}@given(graphs)\ndef drawn(graph):\n    seen.append(graph)\n", names)
    settings(phases=[Phase.explicit])(names["drawn"])()
    assert seen == [from_json(graph)]


@pytest.mark.slow(reason="Keras' own test class imports a Keras of its own")
def test_the_tests_of_two_findings_are_expected_failures(keras: SubjectProcess, tmp_path: Path) -> None:
    for name in ("model-trainable", "lambda-refused"):
        finding = found(keras, name)
        text = keras_test(script_from(finding), finding)
        (tmp_path / f"{name.replace('-', '_')}_test.py").write_text(text)
        bare = re.sub(r" +@pytest\.mark\.xfail\(\n(?: {8}.*\n)+ {4}\)\n", "", text)
        assert bare != text
        (tmp_path / f"bare_{name.replace('-', '_')}_test.py").write_text(bare)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "-W", "ignore", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "2 failed, 2 xfailed" in done.stdout, done.stdout
