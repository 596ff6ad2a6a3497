"""A script of plain Keras that runs one model on two backends, or on two devices, and compares what they gave.

The script starts itself once for each side, since a process has one backend.
"""

from __future__ import annotations

import json
from typing import Any

from harness.inside.values import shape_of
from harness.scripts.comments import comment
from harness.scripts.reproducer import Script
from harness.subjects.case import Case
from harness.subjects.subject import Subject
from harness.trials.checks.tolerance import TOLERANCE
from reports.records import Difference

_HEAD = """\
# One model with the same weights on the same inputs, on {first} and on {second}: run this file.
import os
import subprocess
import sys
import tempfile

import numpy as np

SIDES = [
    {first_side},
    {second_side},
]
if "SIDE" not in os.environ:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for side in SIDES:
            file = os.path.join(folder, f"{{len(found)}}.npz")
            variables = {{**os.environ, **side, "SIDE": file, "PYTHONPATH": os.pathsep.join(sys.path)}}
            subprocess.run([sys.executable, __file__], env=variables, check=True)
            found.append(dict(np.load(file)))
    one, other = found
{comparison}
    sys.exit()
"""

_VALUES = """\
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(other[name], one[name], rtol={relative}, atol={absolute}, err_msg=name)"""

_DTYPES = """\
    assert one["dtypes"].tolist() == other["dtypes"].tolist()"""

_TAIL = """\
rng = np.random.default_rng(0)
weights = [rng.uniform(0.1, 0.9, each.shape).astype(each.dtype) for each in model.get_weights()]
model.set_weights(weights)
values = [
{values}
]
outputs = {flatten}(model({pack}(model.input, values), training=False))
{found}
np.savez(os.environ["SIDE"], **found)
"""

_FOUND = """\
found = {{f"output {{number}}": {array} for number, each in enumerate(outputs)}}
masks = {{f"mask {{number}}": getattr(each, "_keras_mask", None) for number, each in enumerate(outputs)}}
found.update({{name: {mask} for name, mask in masks.items() if mask is not None}})"""

_KERAS = {
    "flatten": "keras.tree.flatten",
    "pack": "keras.tree.pack_sequence_as",
    "array": 'keras.ops.convert_to_numpy(keras.ops.cast(each, "float32"))',
    "mask": "keras.ops.convert_to_numpy(mask)",
    "dtype": "keras.backend.standardize_dtype(each.dtype)",
}
_TENSORFLOW = {
    "flatten": "tf.nest.flatten",
    "pack": "tf.nest.pack_sequence_as",
    "array": 'tf.cast(each, "float32").numpy()',
    "mask": "mask.numpy()",
    "dtype": "each.dtype.name",
}


def across(case: Case, dialect: str, difference: Difference, first: Subject, second: Subject) -> Script:
    """The script for a difference between two subjects.

    Its weights and inputs are drawn by NumPy, not those of the trial, so that it need not fail where the trial did.
    """
    relative, absolute = TOLERANCE[next((name for name in ("bfloat16", "float16") if name in case.source), "float32")]
    text = _HEAD.format(
        first=first,
        second=second,
        first_side=_side(first, second),
        second_side=_side(second, first),
        comparison=_DTYPES if difference.aspect == "dtype" else _VALUES.format(relative=relative, absolute=absolute),
    )
    words = _KERAS if dialect == "keras" else _TENSORFLOW
    found = _FOUND if difference.aspect != "dtype" else 'found = {{"dtypes": np.array([{dtype} for each in outputs])}}'
    tail = _TAIL.format(
        values="\n".join(f"    {_value(given, case.batch)}," for given in case.inputs),
        found=found.format(**words),
        **words,
    )
    said = f"# {difference.check}: {difference.path}: {difference.aspect}"
    if difference.numbers is not None:
        numbers = difference.numbers
        said += f": {numbers.expected} and {numbers.found}, {numbers.differing} of {numbers.total}"
    said = comment(said)
    head = (
        text
        if dialect == "keras"
        else text.replace("import numpy as np\n", "import numpy as np\nimport tensorflow as tf\n")
    )
    raises = "CalledProcessError" if difference.aspect in ("raises", "process") else "AssertionError"
    return Script("\n".join((head, case.source.rstrip("\n"), "", tail, said, "")), raises)


def _side(subject: Subject, other: Subject) -> str:
    """The variables of the environment that make a process this side of the two."""
    variables = {"KERAS_BACKEND": subject.backend}
    if "gpu" in (subject.device, other.device):
        on_cpu = subject.device == "cpu"
        variables["CUDA_VISIBLE_DEVICES"] = "" if on_cpu else str(subject.number)
        variables["JAX_PLATFORMS"] = "cpu" if on_cpu else ""
        variables["KERAS_TORCH_DEVICE"] = "cpu" if on_cpu else "cuda"
    return json.dumps(variables)


def _value(given: dict[str, Any], batch: int) -> str:
    """An expression for the values of an input, like those that a trial puts into it."""
    shape = shape_of(given, batch)
    dtype, fill = str(given.get("dtype", "float32")), given.get("fill")
    if fill == "nothing":
        return "None"
    if fill == "mask" or dtype == "bool":
        return f"rng.random({shape}) < 0.6"
    if fill == "ids" or "int" in dtype:
        return f"rng.integers(0, {max(int(given.get('high') or 2), 1)}, {shape}).astype({json.dumps(dtype)})"
    if fill == "steps" and len(shape) > 1:
        rows = (*shape[:2], *(1 for _ in shape[2:]))
        return f"(rng.standard_normal({shape}) * (rng.random({rows}) < 0.65)).astype({json.dumps(dtype)})"
    return f"rng.standard_normal({shape}).astype({json.dumps(dtype)})"
