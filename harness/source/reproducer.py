"""A script of plain Keras that shows a difference: the model, the clone, and the comparison that fails.

Must not import Keras. Nothing of ours is in the script: it is for pasting into a bug report.
"""

from __future__ import annotations

import re

from reports.records import Difference
from strategies.kinds import Generation

_CLONE = "clone = keras.models.clone_model(model)"


def reproducer(source: str, generation: Generation, difference: Difference, cloner: str = "upstream") -> str:
    """The script for a difference that a cloner made, with what was expected and found as its last comment."""
    clone = _CLONE if cloner == "upstream" else "from harness import clone_model\n\nclone = clone_model(model)"
    said = [f"# {difference.check}: {difference.path}"]
    if difference.check != "made":
        said += [f"#   original: {_line(difference.expected)}", f"#   clone:    {_line(difference.found)}"]
    else:
        said += [f"#   {_line(difference.found)}"]
    return "\n".join((source.rstrip("\n"), "", clone, *_comparison(difference, generation), "", *said, ""))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "..."


def _comparison(difference: Difference, generation: Generation) -> list[str]:
    """The lines that fail; none where cloning itself does."""
    if difference.check == "made":
        return []
    layer = difference.first.name if difference.first else ""
    top = layer and "/" not in layer
    if difference.aspect == "input name" and generation == "keras":
        return _equal("[each._keras_history.operation.name for each in {}.inputs]")
    if difference.aspect.endswith("trainable") and difference.first is not None:
        name = "{}.trainable" if difference.first.layer == -1 or not top else f"{{}}.get_layer({layer!r}).trainable"
        return _equal(name)
    config = re.fullmatch(r"layers\['[^']*'\]\.config\.(\w+)", difference.path)
    if config and top and config[1] in ("activity_regularizer", "function", "mask", "output_shape"):
        attribute = "_output_shape" if config[1] == "output_shape" else config[1]
        return _equal(f"type({{}}.get_layer({layer!r}).{attribute})")
    setting = re.fullmatch(r"layers\['[^']*'\]\.config\.\.(\w+)", difference.path)
    if setting and top:
        return _equal(f"{{}}.get_layer({layer!r}).{setting[1]}")
    if config and top:
        return _equal(f"{{}}.get_layer({layer!r}).get_config().get({config[1]!r})")
    if difference.check in ("weights", "own"):
        name = "path" if generation == "keras" else "name"
        return _equal(f"[(each.{name}, tuple(each.shape)) for each in {{}}.weights]")
    if difference.check in ("outputs", "masks", "training", "untouched") and generation == "keras":
        return _called("keras.tree.flatten", difference)
    if difference.check in ("outputs", "masks", "training", "untouched"):
        return _called("tf.nest.flatten", difference)
    return _equal("{}.get_config()")


def _equal(expression: str) -> list[str]:
    return [f"assert {expression.format('clone')} == {expression.format('model')}"]


def _called(flatten: str, difference: Difference) -> list[str]:
    training = "True" if "training" in difference.path else "False"
    module = "import keras" if flatten.startswith("keras") else "import tensorflow as tf"
    return [
        "clone.set_weights(model.get_weights())",
        "",
        "import numpy as np",
        module,
        "",
        "rng = np.random.default_rng(0)",
        "values = [rng.integers(0, 2, [size or 2 for size in each.shape]).astype(each.dtype) for each in model.inputs]",
        "values = values if len(values) > 1 else values[0]",
        f"for one, other in zip({flatten}(model(values, training={training})), "
        f"{flatten}(clone(values, training={training}))):",
        "    np.testing.assert_array_equal(one, other)",
        '    assert (getattr(one, "_keras_mask", None) is None) == (getattr(other, "_keras_mask", None) is None)',
    ]
