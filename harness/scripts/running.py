"""The lines of a script that run two models on the numbers of a trial and compare what they give.

The numbers are those that `harness/inside/values.py` draws, by its own functions in the same order, so that what
differed in the trial differs in the script.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from clonediff.harness.inside.values import DEFAULT_BATCH, FILLS, WORDS, fill_for, shape_of
from clonediff.harness.observation import Case
from clonediff.reports.records import Difference

_WEIGHTS = """\
rng = np.random.default_rng({seed})
weights = [rng.standard_normal(weight.shape, "float32") / 2 for weight in model.get_weights()]"""

_VARIANCES = """
named = zip(weights, model.weights)
weights = [np.abs(np.sin(array)) + 0.5 if "variance" in weight.name else array for array, weight in named]"""

_COPIED = {
    "keras": "for one, other in zip(model.variables, clone.variables):\n    other.assign(one)",
    "tf_keras": "clone.set_weights(model.get_weights())",
}
"""In Keras 3 the seeds of layers are variables too."""

_IMPORTS = {"keras": ["import numpy as np"], "tf_keras": ["import numpy as np", "import tensorflow as tf"]}
_TREES = {"keras": "keras.tree", "tf_keras": "tf.nest"}
_ARRAYS = {"keras": "keras.ops.convert_to_numpy", "tf_keras": "np.asarray"}


def drawn(case: Case) -> list[str]:
    """The lines that leave `values`, a list with an array for each input."""
    functions: dict[str, str] = {}
    arrays = [f"    {_array(spec, case.batch or DEFAULT_BATCH, functions)}," for spec in case.inputs]
    lines = [line for function in functions.values() for line in function.splitlines()]
    return [*lines, f"rng = np.random.default_rng({case.seed})", "values = [", *arrays, "]"]


def _array(spec: Mapping[str, Any], batch: int, functions: dict[str, str]) -> str:
    """The expression that draws an input. The functions that it calls are put among `functions`."""
    shape, dtype = shape_of(spec, batch), str(spec.get("dtype", "float32"))
    fill = spec.get("fill") or fill_for(dtype)
    if fill == "words":
        return f"np.array({json.dumps(WORDS)}, dtype=object)[rng.integers(0, {len(WORDS)}, {shape})]"
    array = f"rng.standard_normal({shape})"
    if fill != "normal":
        body = inspect.getsource(FILLS[fill]).partition("\n")[2]
        functions[fill] = f"def {fill}(random, shape, spec):\n{body}\n\n"
        array = f"{fill}(rng, {shape}, {{'high': {spec.get('high') and int(spec['high'])}}})"
    return f"{array}.astype({json.dumps('float32' if dtype == 'bfloat16' else dtype)})"


def weighted(case: Case) -> list[str]:
    """The lines that give the model numbers for weights that no initializer gives."""
    text = _WEIGHTS.format(seed=case.seed + 1)
    text += _VARIANCES if "Normalization" in case.source else ""
    return [*text.splitlines(), "model.set_weights(weights)"]


def compared(difference: Difference, sure: bool, dialect: str, case: Case) -> tuple[list[str], bool]:
    """The lines that fail where two models differ in a run, and whether they compare just what differed."""
    lines = [*_IMPORTS[dialect], "", *drawn(case), *(() if sure else weighted(case))]
    lines += [*_COPIED[dialect].splitlines(), "", *_run(difference, dialect, case), ""]
    if difference.raised is not None:
        return [*lines, "run(model)", "run(clone)"], True
    lines.append("expected, found = run(model), run(clone)")
    of_outputs = difference.run != "" and not difference.in_step
    return [*lines, *_comparison(difference, dialect)], of_outputs and sure


def _run(difference: Difference, dialect: str, case: Case) -> list[str]:
    """A function of a model that gives what is compared, as it is nested."""
    training = difference.run == "training"
    inputs = "values[0]" if len(case.inputs) == 1 else f"{_TREES[dialect]}.pack_sequence_as(model.input, values)"
    call = f"    return model({inputs}, training={training})"
    return ["def run(model):", "    keras.utils.set_random_seed(0)", call]


def _comparison(difference: Difference, dialect: str) -> list[str]:
    """The lines that compare `expected` and `found`: first how they are nested, then the arrays or masks."""
    tree, array = _TREES[dialect], _ARRAYS[dialect]
    if difference.part == "structure":
        shapes = [f"{tree}.map_structure(lambda x: tuple(x.shape), {name})" for name in ("expected", "found")]
        return [f"expected, found = {shapes[0]}, {shapes[1]}", "assert str(found) == str(expected), (found, expected)"]
    lines = [
        f"expected, found = {tree}.flatten(expected), {tree}.flatten(found)",
        "assert len(found) == len(expected), (len(found), len(expected))",
        "for one, other in zip(expected, found):",
    ]
    if difference.part != "mask":
        lines.append("    assert (other.shape, other.dtype) == (one.shape, one.dtype), (other, one)")
        return [*lines, f"    np.testing.assert_array_equal({array}(other), {array}(one))"]
    return [
        *lines,
        '    masks = [getattr(tensor, "_keras_mask", None) for tensor in (other, one)]',
        f"    np.testing.assert_equal(*[mask if mask is None else {array}(mask) for mask in masks])",
    ]
