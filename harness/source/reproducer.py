"""A script of plain Keras that shows a difference: the model, the clone, and the comparison that fails.

Must not import Keras. Nothing of ours is in the script: it is for pasting into a bug report.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from harness.source.comments import comment
from harness.source.graph_mode import before_clone, compared
from reports.records import Difference

_CLONES = {
    "upstream": "clone = keras.models.clone_model(model)",
    "fixed": "from harness import clone_model\n\nclone = clone_model(model)",
    "roundtrip": "clone = type(model).from_config(model.get_config())",
}
_TWO_GPUS = """\
from keras.utils import multi_gpu_utils

# Two GPUs where there may be none: the placement is simulated, everything is on the CPU.
multi_gpu_utils._get_available_devices = lambda: ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]
parallel = keras.utils.multi_gpu_model(model, gpus=2, cpu_relocation=True)"""
_CONFIG = "{}.get_config()"
"""All of it: too long to be told where it differs."""
_MODES = ("outputs", "masks", "untouched")


@dataclass(frozen=True, slots=True)
class Script:
    """`raises` is the type of the exception that the script has to end in; "" where it shows the models only.

    `sure` says that the script makes the very comparison that differed, so that it is wrong if it does not fail.
    """

    text: str
    raises: str = ""
    sure: bool = False


def reproducer(source: str, dialect: str, difference: Difference, cloner: str = "upstream") -> Script:
    """The script for a difference that a cloner made, with what was expected and found as its last comment."""
    said = [comment(f"# {difference.check}: {difference.path}")]
    numbers = difference.numbers
    if numbers is not None:
        at = f" at {list(numbers.index)}" if numbers.index else ""
        most = "" if numbers.max_abs is None else f", by {numbers.max_abs:g} at most"
        said += [f"#   original: {comment(numbers.expected)}{at}", f"#   clone:    {comment(numbers.found)}{at}"]
        said += [f"#   {numbers.differing} of {numbers.total} numbers differ{most}"]
    elif difference.check != "made":
        said += [f"#   original: {comment(difference.expected)}", f"#   clone:    {comment(difference.found)}"]
    else:
        said += [f"#   {comment(difference.found)}"]
    clones = _CLONES
    if cloner == "multi_gpu" and dialect == "keras2" and difference.check == "made":
        # Any other difference is one of the clone that this function keeps to itself.
        clones = {cloner: _TWO_GPUS}
    if cloner not in clones:
        said.insert(0, comment(f"# The cloner {cloner} is not to be had outside clonediff; this is the model."))
        return Script("\n".join((source.rstrip("\n"), "", *said, "")))
    raises = difference.raised.type if difference.raised else "AssertionError"
    lines, sure = ([], True) if difference.check == "made" else _comparison(difference, dialect)
    before = before_clone(difference) if dialect == "keras2" else []
    text = "\n".join((source.rstrip("\n"), *before, "", clones[cloner], *lines, "", *said, ""))
    return Script(text, raises if lines or difference.check == "made" else "", sure)


def _comparison(difference: Difference, dialect: str) -> tuple[list[str], bool]:
    """The lines that fail, and whether they compare just what differed; no lines where that takes many of them."""
    layer = difference.first.name if difference.first else ""
    top = bool(layer) and "/" not in layer
    name = json.dumps(layer, ensure_ascii=False).replace("{", "{{").replace("}", "}}")
    if dialect == "keras2" and difference.check in (*_MODES, "weights"):
        return compared(difference)
    if difference.check in _MODES:
        return _called(difference, dialect), True
    if difference.check == "weights":
        attribute = "path" if dialect == "keras" else "name"
        return _equal(f"[(each.{attribute}, tuple(each.shape), each.trainable) for each in {{}}.weights]"), True
    if difference.check != "structure":
        return [], False
    if difference.aspect == "input name" and dialect == "keras":
        return _equal("[each._keras_history.operation.name for each in {}.inputs]"), True
    if difference.aspect.endswith("trainable") and difference.first is not None:
        whole = difference.first.layer == -1
        return _equal("{}.trainable" if whole or not top else f"{{}}.get_layer({name}).trainable"), whole or top
    setting = re.fullmatch(r"layers\['[^']*'\]\.(?:config\.\.)?(\w+)", difference.path)
    if setting and top and setting[1] in ("supports_masking", "autocast", "stateful", "use_cudnn"):
        return _equal(f"{{}}.get_layer({name}).{setting[1]}"), True
    own = re.fullmatch(r"layers\['[^']*'\]\.attribute\.(\w+)", difference.path)
    if own and top:
        return _equal(f"{{}}.get_layer({name}).{own[1]}"), True
    config = re.fullmatch(r"layers\['[^']*'\]\.config\.(\w+)", difference.path)
    if config and top and config[1] in ("activity_regularizer", "function", "mask", "output_shape"):
        attribute = "_output_shape" if config[1] == "output_shape" else config[1]
        return _equal(f"type({{}}.get_layer({name}).{attribute})"), False
    if config and top and difference.first and difference.first.kind == "InputLayer":
        # By its tensor: the clone may have another name for it.
        told = f"each._keras_history[0].get_config().get({json.dumps(config[1])})"
        return _equal(f"[{told} for each in {{}}.inputs]"), True
    if config and top:
        return _equal(f"{{}}.get_layer({name}).get_config().get({json.dumps(config[1])})"), True
    return _equal(_CONFIG), False


def _equal(expression: str) -> list[str]:
    """The lines that compare what two models have, and tell what that is."""
    if expression == _CONFIG:
        return [f"assert {expression.format('clone')} == {expression.format('model')}"]
    return [
        f"expected, found = [{expression.format('it')} for it in (model, clone)]",
        'assert found == expected, f"{found} in the clone, {expected} in the model"',
    ]


def _called(difference: Difference, dialect: str) -> list[str]:
    training = "True" if "training" in difference.path else "False"
    flatten = "keras.tree.flatten" if dialect == "keras" else "tf.nest.flatten"
    dtype = "each.dtype" if dialect == "keras" else "each.dtype.as_numpy_dtype"
    return [
        "clone.set_weights(model.get_weights())",
        "",
        "import numpy as np",
        *(() if dialect == "keras" else ("import tensorflow as tf",)),
        "",
        "rng = np.random.default_rng(0)",
        f"values = [rng.integers(0, 2, [size or 2 for size in each.shape]).astype({dtype}) for each in model.inputs]",
        "values = values if len(values) > 1 else values[0]",
        f"expected, found = [{flatten}(each(values, training={training})) for each in (model, clone)]",
        "assert len(found) == len(expected)",
        "for one, other in zip(expected, found):",
        "    assert other.dtype == one.dtype",
        "    np.testing.assert_array_equal(other, one)",
        '    np.testing.assert_array_equal(*(getattr(each, "_keras_mask", None) for each in (other, one)))',
    ]
