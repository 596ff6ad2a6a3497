"""Scripts fail on a faulty clone, pass on a faithful one, and run on the inputs of the trial."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest.mock import ANY

import pytest

from clonediff.harness.scripts.reproducer import Script, script_of
from clonediff.harness.scripts.runner import ScriptRunner
from clonediff.harness.subjects import Case, Subject, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues, load
from tests.helpers.example_graphs import graph_of_issue

HEAD = "import numpy as np\nimport {keras} as keras\nfrom {keras} import layers\n"
PLAIN_MODEL = """
x = keras.Input((3, 4), name="x")
y = layers.Dense(4, name="dense")(x)
z = layers.Lambda(lambda x: x * 2.0, mask=lambda x, mask=None: x[:, :, 0] > 0.0, name="double")(y)
model = keras.Model(x, [z, y], name="plain")
model.compile("sgd", "mse")
dense = model.get_layer("dense")
dense.multiply = (lambda factor: lambda x: x * factor)(2.0)
dense.sizes, dense.table = [1, 2], np.ones(2, "float32")
"""
NESTED_MODEL = """
def part(name):
    a = keras.Input((4,), name=name + "_input")
    b = layers.Dense(4, name="dense")(a)
    return keras.Model(a, keras.ops.mean(b, axis=[1], keepdims=True) + b, name=name)

x = keras.Input((4,), name="x")
model = keras.Model(x, part("second")(part("first")(x)), name="nested")
"""
DENSE = "clone.get_layer('dense')"
FAULTS = {
    "values": f"after({DENSE}, lambda x: -x)",
    "shape": "after(clone.get_layer('double'), lambda x: x[:, :2])",
    "outputs": "clone = type(clone)(clone.inputs, clone.outputs[:1], name=clone.name)",
    "nested": "after(clone.get_layer('double'), lambda x: (x,))",  # shows in a run of this layer alone
    "mask": "masks(clone.get_layer('double'), lambda mask: None)",
    "mask_value": "masks(clone.get_layer('double'), lambda mask: mask == False)",
    "another_class": f"{DENSE}.__class__ = type('Dense2', (type({DENSE}),), {{}})",
    "trainable": f"{DENSE}.trainable = False",
    "config": f"{DENSE}.units = 3",
    "function": "clone.get_layer('double').function = lambda x: x * 2.0 + 1.0",
    "attribute": f"{DENSE}.supports_masking = False",
    "attribute_more": f"{DENSE}.more = [1]",
    "closure": f"{DENSE}.multiply = with_closure({DENSE}.multiply, 3.0)",
    "size": f"{DENSE}.sizes = [1]",
    "array_dtype": f"{DENSE}.table = {DENSE}.table.astype('float64')",
    "constraint": f"{DENSE}.kernel._constraint = abs",
    "compiled": "clone.compile(loss='mae')",
    "optimizer": "clone.optimizer = model.optimizer",
    "itself": "clone = model",
    "shared": "clone = clonediff.clone_model(model, clone_function=lambda layer: layer)",
    "raises": "raise KeyError('no')",
    "warns": "warnings.warn('the layer dense_3 at 0x7f3a has no name', UserWarning)",
    "no_model": "clone = 3",
    "original": "model.get_layer('dense').trainable = False",
    "original_weights": "model.set_weights([weight * 0 for weight in model.get_weights()])",
}
"""By fault: a line that breaks a clone."""
KERAS_3_FAULTS = {
    "renamed": f"{DENSE}.name = 'other'",
    "weight_renamed": f"{DENSE}.kernel._path += 's'",
    "weight_shared": f"{DENSE}._trainable_variables[0] = model.get_layer('dense').kernel",
    "weight_frozen": f"{DENSE}.kernel.trainable = False",
    "regularizer": f"{DENSE}.kernel.regularizer = lambda kernel: 0.0",
}
"""Faults of Keras 3; tf_keras has no setter for them."""
NESTED_FAULTS = {
    "of_layer": "clone.get_layer('second').get_layer('dense').trainable = False",
    "of_renamed_layer": "layer = clone.get_layer('second').layers[1]; layer.name, layer.trainable = 'dense_7', False",
    "of_operation": "clone.get_layer('second').operations[-2].axis = [0]",
}
"""Faults in the second of two nested models whose layers have equal names."""
ISSUES = """
    auto-config-keeps-list adapted-lookup adapted-normalization given-list input-name input-options lambda-refused
    own-sequential quantized-order wrapped-weight-path
"""
"""Known issues, each of which a script shows by another comparison."""

UNSURE_FAULTS = {"values", "shape", "outputs", "nested", "mask", "mask_value", "compiled", "constraint", "regularizer"}
"""Faults that a script may miss, since it runs on other numbers or compares more than what differed."""

CLONERS = """\
import functools
import types
import warnings

import clonediff


def with_closure(function, value):
    return types.FunctionType(function.__code__, {}, function.__name__, None, (types.CellType(value),))


def after(layer, change):
    call = layer.call
    layer.call = functools.wraps(call)(lambda *args, **options: change(call(*args, **options)))


def masks(layer, change):
    kind = type(layer)
    members = {"__module__": kind.__module__, "compute_mask": lambda *args: change(kind.compute_mask(*args))}
    layer.__class__ = type(kind.__name__, (kind,), members)
"""
CLONER = """

def {name}(model):
    clone = clonediff.clone_model(model)
    {fault}
    return clone
"""
RUN = """
import gc
import re
import warnings

import clonediff
import {keras} as keras

gc.freeze()


def ended(scripts):
    errors = {{}}
    for name, text in scripts.items():
        keras.backend.clear_session()
        with warnings.catch_warnings():
            try:
                exec(compile(text, name, "exec"), {{}})
            except Exception as error:
                errors[name] = type(error).__name__
    return errors


scripts = {scripts!r}
failed = ended(scripts)
keras.models.clone_model = clonediff.clone_model
ours = {{name: re.sub("cloner[.]\\\\w+", "keras.models.clone_model", text) for name, text in scripts.items()}}
assert (failed, ended(ours)) == ({raised!r}, {{}}), (failed, ended(ours))
"""
"""Runs all scripts in one process, since importing Keras takes seconds; then with our `clone_model`."""


def scripts(
    model: Case, faults: dict[str, str], process: SubjectProcess, folder: Path, costly: bool = True
) -> dict[str, Script]:
    """Return the scripts for cloners with these faults, by fault and fingerprint."""
    text = "".join(CLONER.format(name=name, fault=fault) for name, fault in faults.items())
    file = folder / f"of_{folder.name}.py"
    file.write_text(CLONERS + text)
    trials = GraphTrials(process, KnownIssues(), cloners=tuple(f"{file.with_suffix('')}:{name}" for name in faults))
    causes = trials.try_case(model, costly=costly).found_causes
    assert {cause.cloner.rpartition(":")[2] for cause in causes} == set(faults)
    generation = process.subject.generation
    return {f"{item.cloner.rpartition(':')[2]} {item.fingerprint}": script_of(item, generation, {}) for item in causes}


def run(scripts: dict[str, Script], generation: str) -> None:
    """Run the scripts that compare something; each fault has one that must fail, except `UNSURE_FAULTS`."""
    faults, compared, must_fail = (
        {name.partition(" ")[0] for name, script in scripts.items() if select(script)}
        for select in (lambda script: True, lambda script: script.raises, lambda script: script.must_fail)
    )
    assert (compared, must_fail) == (faults, faults - UNSURE_FAULTS)
    assert not any(script.raises for name, script in scripts.items() if " again-" in name), "no script clones twice"
    texts = {name: script.text for name, script in scripts.items() if script.raises}
    ends = {name: script.raises for name, script in scripts.items() if script.raises and not name.startswith("nested ")}
    with closing(ScriptRunner(Subject.parse(generation))) as runner:
        ending = runner.run(RUN.format(keras=generation, scripts=texts, raised=ends), uses_clonediff=True)
    assert ending.code == 0, ending.stderr


INPUT = {"dtype": "float32", "fill": "steps"}
NIGHTLY = pytest.mark.slow(reason="the same comparisons as for Keras 3; a transcript of check has one of tf_keras")


@pytest.mark.parametrize(
    ("generation", "model", "faults"),
    [
        pytest.param("keras", PLAIN_MODEL, {**FAULTS, **KERAS_3_FAULTS}, id="keras"),
        pytest.param("keras", NESTED_MODEL, NESTED_FAULTS, id="keras, inside"),
        pytest.param("tf_keras", PLAIN_MODEL, FAULTS, id="tf_keras", marks=NIGHTLY),
    ],
)
def test_a_script_fails_on_the_fault_and_passes_without_it(
    generation: str, model: str, faults: dict[str, str], warm: Callable[[str], SubjectProcess], tmp_path: Path
) -> None:
    case = Case(HEAD.format(keras=generation) + model, ({"shape": [4] if model == NESTED_MODEL else [3, 4], **INPUT},))
    run(scripts(case, faults, warm(generation), tmp_path), generation)


def test_a_script_fails_with_upstream_and_passes_with_our_clone_model(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, load(), cloners=("upstream",))
    by_issue = {
        issue: script_of(found, "keras", {})
        for issue in ISSUES.split()
        for found in trials.try_graph(graph_of_issue(issue), costly=False).found_causes
        if found.known is not None and found.known.id == issue
    }
    assert set(by_issue) == set(ISSUES.split())
    run(by_issue, "keras")


CODE = "))for(node)in(PWNED()or[])]for(each)in[0]]+[[((0 missing"
NAMES = [quote + CODE for quote in ("", "'", '"', "\n", "{", "coding: utf-7 +AAo-")]
"""Names and messages that would run as code if a script did not quote them."""
HOSTILE_FAULTS = {
    "renamed": "clone.layers[{number}].name += 's'",
    "trainable": "clone.layers[{number}].trainable = False",
    "config": "clone.layers[{number}].units = 3",
    "attribute": "clone.layers[{number}].more = {name!r}",
    "reached": "vars(clone.layers[{number}])['_more'] = {{{name!r}: model.layers[{number}].input_spec}}",
    "values": "after(clone.layers[{number}], lambda x: -x)",
    "raises": "raise KeyError({name!r})",
    "warns": "warnings.warn({name!r})",
    "untouched": "model.layers[{number}].trainable = False",
}


def test_names_and_messages_are_never_code_in_a_script(keras: SubjectProcess, tmp_path: Path) -> None:
    source = f"""
import keras
from keras import layers

x = y = keras.Input((4,), name="x")
for name in {NAMES!r}:
    y = layers.Dense(4, name=name)(y)
model = keras.Model(x, y)
"""
    faults = {
        f"{fault}_{number}": line.format(number=number, name=name)
        for fault, line in HOSTILE_FAULTS.items()
        for number, name in enumerate(NAMES, start=1)
    }
    by_fault = scripts(Case(source, ({"shape": [4], **INPUT},)), faults, keras, tmp_path, costly=False)
    for script in by_fault.values():
        assert not [node for node in ast.walk(ast.parse(script.text)) if getattr(node, "id", "") == "PWNED"]
        assert tokenize.detect_encoding(io.BytesIO(script.text.encode()).readline) == ("utf-8", ANY)


NOTES = """
import keras
import numpy as np
from keras import layers
import tensorflow as tf


class Notes(layers.Layer):
    # Record the inputs and the weights, which have the names of those of a Normalization.
    def __init__(self, **options):
        super().__init__(autocast=False, **options)
        self.kernel = self.add_weight((3, 2), name="kernel")
        self.variance = self.add_weight((2,), name="variance")

    def call(self, tensors):
        if tf.executing_eagerly():
            arrays = [np.asarray(tensor) for tensor in (*tensors, self.kernel, self.variance)]
            with open({file!r}, "a") as file:
                print([(array.dtype.name, array.shape, array.tolist()) for array in arrays], file=file)
        return self.kernel * 1.0


inputs = [keras.Input(shape, dtype=dtype) for shape, dtype in {inputs}]
model = keras.Model(inputs, layers.Dense(2, name="dense")(Notes()(inputs)))
"""
SPECS: tuple[dict[str, object], ...] = (
    {"shape": [None, 4], "fill": "normal", "dtype": "float32"},
    {"shape": [None, 4], "fill": "steps", "dtype": "float16"},
    {"shape": [2], "fill": "ids", "dtype": "int32", "high": 5},
    {"shape": [1], "fill": "ids", "dtype": "int32", "high": 1},
    {"shape": [3], "dtype": "int32"},
    {"shape": [], "fill": "mask", "dtype": "bool"},
    {"shape": [4, 2, 2], "dtype": "bool"},
    {"shape": [2], "fill": "normal", "dtype": "float64"},
    {"shape": [2], "fill": "words", "dtype": "string"},
    {"shape": [1], "fill": "steps", "dtype": "float32", "batch": 1},
    {"shape": [3], "dtype": "bfloat16"},
)


def test_a_script_uses_values_of_the_trial_and_prints_the_differences(keras: SubjectProcess, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    source = NOTES.format(file=str(file), inputs=[(spec["shape"], spec["dtype"]) for spec in SPECS])
    ((_, script),) = scripts(Case(source, SPECS, 3, seed=7), {"values": FAULTS["values"]}, keras, tmp_path).items()
    assert re.search(
        r"#   original: (\S+) at \[0, 0\]\n#   clone:    -?\S+ at .*\n#   6 of 6 numbers differ, by", script.text
    )
    notes = file.read_text().splitlines()
    file.unlink()
    with closing(ScriptRunner(Subject.parse("keras"))) as runner:
        ended = runner.run(script.text, uses_clonediff=True)
    assert ended.type == "AssertionError", ended.stderr
    assert file.read_text().splitlines()[0] in notes
