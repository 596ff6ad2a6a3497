"""The lines of a script that run two models on the numbers of a trial and compare what they give.

The numbers are those that `harness/inside/values.py` draws, by the same generator in the same order, so that what
differed in the trial differs in the script.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clonediff.harness.inside.values import DEFAULT_BATCH, WORDS, fill_for, shape_of
from clonediff.harness.scripts.comparisons import Comparison
from clonediff.reports.records import Difference

if TYPE_CHECKING:
    from clonediff.harness.subjects.case import Case

_UNKNOWN = """\
rng = np.random.default_rng(0)
values = [rng.integers(0, 2, [size or 2 for size in each.shape]).astype({dtype}) for each in model.inputs]"""

_WEIGHTS = """\
rng = np.random.default_rng({seed})
weights = [rng.standard_normal(each.shape, "float32") / 2 for each in model.get_weights()]"""

_VARIANCES = """
named = zip(weights, model.weights)
weights = [np.abs(np.sin(each)) + 0.5 if "variance" in weight.name else each for each, weight in named]"""

_COPIED = {
    "keras": "for one, other in zip(model.variables, clone.variables):\n    other.assign(one)",
    "tf_keras": "clone.set_weights(model.get_weights())",
}
"""In Keras 3 the seeds of layers are variables too."""

_OUTPUTS = {
    "keras": "next(each for each in model.operations if each.name == {name})._inbound_nodes[{use}].outputs",
    "tf_keras": "tf.nest.flatten(model.get_layer({name}).get_output_at({use}))",
}

_STEP = re.compile(r"(?:original\.)?\w+\.steps\['([^'/]+)'\]\[(\d+)\]")
_SYMBOLIC = re.compile(r"layers\['([^'/]+)'\]\.calls\[\d+\]\.masks\[")


def imported(dialect: str) -> list[str]:
    """The imports that the lines of this module need."""
    return ["import numpy as np", *(("import tensorflow as tf",) if dialect == "tf_keras" else ())]


def drawn(case: Case | None, dialect: str) -> list[str]:
    """The lines that leave `values`, a list with an array for each input; of a model nobody here drew, any numbers."""
    if case is None:
        dtype = {"keras": "each.dtype", "tf_keras": "each.dtype.as_numpy_dtype"}.get(dialect, '"float32"')
        return _UNKNOWN.format(dtype=dtype).splitlines()
    lines = [f"rng = np.random.default_rng({case.seed % (1 << 63)})"]
    names = []
    for number, spec in enumerate(case.inputs):
        names.append("x" if len(case.inputs) == 1 else f"x_{number}")
        lines += _input(names[-1], spec, case.batch or DEFAULT_BATCH)
    return [*lines, f"values = [{', '.join(names)}]"]


def weighted(case: Case | None) -> list[str]:
    """The lines that give the model numbers for weights that no initializer gives."""
    if case is None:
        return []
    text = _WEIGHTS.format(seed=(case.seed + 1) % (1 << 63))
    text += _VARIANCES if "Normalization" in case.source else ""
    return [*text.splitlines(), "model.set_weights(weights)"]


def called(case: Case | None, pack: str, training: bool) -> str:
    """The model called on the `values`, nested by the function `pack` as it takes them."""
    given = "values[0]" if case is not None and len(case.inputs) == 1 else f"{pack}(model.input, values)"
    return f"model({given}, training={training})"


def compared(difference: Difference, told: Comparison, dialect: str, case: Case | None) -> tuple[list[str], bool]:
    """The lines that fail where two models differ in a run, and whether they compare just what differed."""
    symbolic = _SYMBOLIC.match(difference.path)
    if symbolic:
        return _symbolic(symbolic[1], dialect), True
    lines = [*imported(dialect), "", *drawn(case, dialect)]
    lines += weighted(case) if not told.sure else ()
    lines += _COPIED[dialect].splitlines()
    lines += ["", *_run(difference, dialect, case), ""]
    if difference.raised is not None:
        return [*lines, "run(model)", "run(clone)"], case is not None
    lines.append("expected, found = run(model), run(clone)")
    whole = ".steps[" not in difference.path and not difference.path.startswith("layers[")
    return [*lines, *_comparison(difference, dialect)], whole and told.sure


def unchanged(difference: Difference, dialect: str, case: Case | None) -> tuple[list[str], list[str]]:
    """The lines before and after the clone is made that fail where the original then gives something else."""
    numbers = [*imported(dialect), "", *drawn(case, dialect), *weighted(case)]
    before = [*numbers, "", *_run(difference, dialect, case), "", "expected = run(model)"]
    return before, ["found = run(model)", *_comparison(difference, dialect)]


def _run(difference: Difference, dialect: str, case: Case | None) -> list[str]:
    """A function of a model that gives what is compared, as it is nested."""
    training = "training" in difference.path.partition("[")[0]
    flatten = "keras.tree.flatten" if dialect == "keras" else "tf.nest.flatten"
    pack = flatten.replace("flatten", "pack_sequence_as")
    step = _STEP.match(difference.path)
    lines = ["def run(model):"]
    if training:
        lines.append("    keras.utils.set_random_seed(0)")
    if step:
        name = json.dumps(step[1], ensure_ascii=False)
        outputs = _OUTPUTS[dialect].format(name=name, use=step[2])
        lines.append(f"    model = keras.Model(model.input, [*{outputs}, *model.outputs])")
    return [*lines, f"    return {called(case, pack, training)}"]


def _comparison(difference: Difference, dialect: str) -> list[str]:
    """The lines that compare `expected` and `found`: first how they are nested, then the arrays or masks."""
    tree = "keras.tree" if dialect == "keras" else "tf.nest"
    if difference.aspect.startswith("structure"):
        shapes = [f"{tree}.map_structure(lambda x: tuple(x.shape), {each})" for each in ("expected", "found")]
        return [f"expected, found = {shapes[0]}, {shapes[1]}", "assert str(found) == str(expected), (found, expected)"]
    lines = [
        f"expected, found = {tree}.flatten(expected), {tree}.flatten(found)",
        "assert len(found) == len(expected), (len(found), len(expected))",
        "for one, other in zip(expected, found):",
    ]
    array = "keras.ops.convert_to_numpy" if dialect == "keras" else "np.asarray"
    if "mask" in difference.aspect:
        return [
            *lines,
            '    masks = [getattr(each, "_keras_mask", None) for each in (other, one)]',
            "    assert (masks[0] is None) == (masks[1] is None), masks",
            "    if masks[1] is not None:",
            f"        np.testing.assert_array_equal(*map({array}, masks))",
        ]
    return [
        *lines,
        "    assert (other.shape, other.dtype) == (one.shape, one.dtype), (other, one)",
        f"    np.testing.assert_array_equal({array}(other), {array}(one))",
    ]


def _symbolic(layer: str, dialect: str) -> list[str]:
    name = json.dumps(layer, ensure_ascii=False)
    nodes = "_inbound_nodes" if dialect == "keras" else "inbound_nodes"
    outputs = "node.outputs" if dialect == "keras" else "tf.nest.flatten(node.outputs)"
    held = "[each for each in model.operations" if dialect == "keras" else "[each for each in model.layers"
    return [
        *(() if dialect == "keras" else ("import tensorflow as tf", "")),
        "def masks(model):",
        f"    (layer,) = {held} if each.name == {name}]",
        f"    found = [getattr(each, '_keras_mask', None) for node in layer.{nodes} for each in {outputs}]",
        "    return sorted(mask is not None for mask in found)",
        "",
        "",
        "assert masks(clone) == masks(model), (masks(clone), masks(model))",
    ]


def _input(name: str, spec: Mapping[str, Any], batch: int) -> list[str]:
    """The lines that draw one input as its fill does."""
    shape = shape_of(spec, batch)
    dtype = str(spec.get("dtype", "float32"))
    fill = spec.get("fill") or fill_for(dtype)
    size = math.prod(shape)
    if fill == "words":
        row = f"words[rng.integers(0, {len(WORDS)}, {shape})]"
        return [f"words = np.array({json.dumps(WORDS)}, dtype=object)", f"{name} = {row}"]
    lines = []
    if fill == "steps":
        lines = [f"{name} = rng.standard_normal({shape})"]
        lines += _zero_rows(name, shape) if len(shape) > 1 else []
    elif fill == "ids":
        high = max(int(spec.get("high") or 2), 1)
        lines = [f"{name} = rng.integers(0, {high}, {shape})"]
        if size > 1 and high > 1:
            lines.append(f"{name}.flat[:2] = max({name}.flat[0], 1), 0")
    elif fill == "mask":
        lines = [f"{name} = (rng.random({shape}) < 0.6)"]
        across = size // shape[0] if len(shape) > 1 and shape[0] else 0
        flat = name if len(shape) == 2 else f"{name}.reshape({shape[0]}, -1)"
        lines += [f"{flat}[:, 0] = True"] if across else []
        lines += [f"{flat}[0, 1] = False"] if across > 1 else []
    else:
        lines = [f"{name} = rng.standard_normal({shape})"]
    as_dtype = f".astype({json.dumps('float32' if dtype == 'bfloat16' else dtype)})"
    if len(lines) == 1:
        return [lines[0] + as_dtype]
    return [*lines, f"{name} = {name}{as_dtype}"]


def _zero_rows(name: str, shape: tuple[int, ...]) -> list[str]:
    lines = [f"rows = rng.random({shape[:2]}) < 0.35"]
    if shape[1] > 1:
        lines.append("rows[0, 1] = True")
        lines += ["rows[0, 2] = False"] if shape[1] > 2 else []
        lines += ["rows[-1, -1] = True"] if shape[0] > 1 else []
    return [*lines, "rows[:, 0] = False", f"{name}[rows] = 0.0  # steps that a mask leaves out"]
