"""A script of plain Keras that runs one model on two backends, or on two devices, and compares what they gave.

The script starts itself once for each side, since a process has one backend.
"""

from __future__ import annotations

import json

from clonediff.harness.scripts import running
from clonediff.harness.scripts.comments import comment
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.tolerance import TOLERANCE
from clonediff.reports.records import Difference

_HEAD = """\
# One model with the same weights on the same inputs, on {first} and on {second}: run this file.
import os
import subprocess
import sys
import tempfile

{imports}

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

_SAVED = 'np.savez(os.environ["SIDE"], **found)'

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

    Its weights and inputs are those of the trial.
    """
    relative, absolute = TOLERANCE[next((name for name in ("bfloat16", "float16") if name in case.source), "float32")]
    of_dtypes = difference.aspect == "dtype"
    text = _HEAD.format(
        first=first,
        second=second,
        imports="\n".join(running.imported(case, dialect)),
        first_side=_side(first, second),
        second_side=_side(second, first),
        comparison=_DTYPES if of_dtypes else _VALUES.format(relative=relative, absolute=absolute),
    )
    words = _KERAS if dialect == "keras" else _TENSORFLOW
    found = 'found = {{"dtypes": np.array([{dtype} for each in outputs])}}' if of_dtypes else _FOUND
    lines = [
        *running.drawn(case, dialect),
        *running.weighted(case),
        "",
        *running.defined(case),
        f"outputs = {words['flatten']}({running.called(case, words['pack'], training=False)})",
        found.format(**words),
        _SAVED,
    ]
    said = f"# {difference.check}: {difference.path}: {difference.aspect}"
    if difference.numbers is not None:
        numbers = difference.numbers
        said += f": {numbers.expected} and {numbers.found}, {numbers.differing} of {numbers.total}"
    raises = "CalledProcessError" if difference.aspect in ("raises", "process") else "AssertionError"
    return Script("\n".join((text, case.source.rstrip("\n"), "", *lines, "", comment(said), "")), raises)


def _side(subject: Subject, other: Subject) -> str:
    """The variables of the environment that make a process this side of the two."""
    variables = {"KERAS_BACKEND": subject.backend}
    if "gpu" in (subject.device, other.device):
        on_cpu = subject.device == "cpu"
        variables["CUDA_VISIBLE_DEVICES"] = "" if on_cpu else str(subject.number)
        variables["JAX_PLATFORMS"] = "cpu" if on_cpu else ""
        variables["KERAS_TORCH_DEVICE"] = "cpu" if on_cpu else "cuda"
    return json.dumps(variables)
