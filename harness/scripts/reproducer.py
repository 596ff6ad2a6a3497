"""A script of plain Keras that shows a difference: the model, the clone, and the comparison that fails.

Nothing of ours is in the script: it is for pasting into a bug report.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clonediff.harness.scripts import graph_mode, running
from clonediff.harness.scripts.comments import comment
from clonediff.harness.source.ways import MODEL
from clonediff.reports.records import Difference
from clonediff.strategies.kinds import CATALOGUE

if TYPE_CHECKING:
    from clonediff.harness.subjects.case import Case

_CLONES = {
    "upstream": "clone = keras.models.clone_model(model{})",
    "fixed": "from clonediff import clone_model\n\nclone = clone_model(model{})",
    "roundtrip": "clone = type(model).from_config(model.get_config())",
    "from_config": "clone = model.__class__.from_config(model.get_config())",
    "saved": 'model.save("model.keras")\nclone = keras.models.load_model("model.keras")',
    "saved/h5": 'model.save("model.h5")\nclone = keras.models.load_model("model.h5")',
    "saved/tf": 'model.save("model", save_format="tf")\nclone = keras.models.load_model("model")',
    "deepcopy": "import copy\n\nclone = copy.deepcopy(model)",
    "pickled": "import pickle\n\nclone = pickle.loads(pickle.dumps(model))",
    "same_layers": "clone = model.__class__(inputs=model.input, outputs=model.output, name=model.name)",
}
_SAME_LAYERS_OF_A_SEQUENTIAL = "clone = model.__class__([*model.inputs, *model.layers], name=model.name)"
_TWO_GPUS = """\
from keras.utils import multi_gpu_utils

# Two GPUs where there may be none: the placement is simulated, everything is on the CPU.
multi_gpu_utils._get_available_devices = lambda: ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]
parallel = keras.utils.multi_gpu_model(model, gpus=2, cpu_relocation=True)"""
_CONFIG = "{}.get_config()"
_CONFIG_BUT_FOR_INPUTS = (
    "",
    "import json",
    "",
    "",
    "def config(model):",
    "    # Inputs without a name of their own have another one in the clone: that is no part of this.",
    "    text = json.dumps(model.get_config(), sort_keys=True, default=str)",
    "    for number, each in enumerate(model.inputs):",
    "        text = text.replace(f'\"{each._keras_history.operation.name}\"', f'\"input {number}\"')",
    "    return text",
    "",
    "",
    "assert config(clone) == config(model)",
)
"""All of it: too long to be told where it differs."""
_ASKED_FOR = {
    "asked of an input": "not any(isinstance(each, keras.layers.InputLayer) for each in asked)",
    "asked of an operation": "all(isinstance(each, keras.layers.Layer) for each in asked)",
    "asked again": "len({id(each) for each in asked}) == len(asked)",
}
_NOTED = "clone_function=lambda layer: asked.append(layer) or "
_ASKED = "# The model that is asked for, made by hand."
_OF_THE_MODEL = ("made", "untouched", "own", "functions")
"""Checks of the model that is cloned, whatever it is cloned to."""
_COUNT_ANEW = {"keras": "keras.utils.clear_session()", "tf_keras": "keras.backend.reset_uids()"}
_LEARNED = {
    "vocabulary": "{}.get_vocabulary()",
    "statistics": "keras.ops.convert_to_numpy({}.mean).tolist()",
}
"""What tells what a layer has learned from data, by the name that the observation has for it."""
_READS_LIKE = {"tf.keras": "tf_keras"}
"""A script asks a TensorFlow's own `tf.keras` as it does `tf_keras`; by then the model is spelled."""
_SHORT = 60
_MODES = ("outputs", "masks")
_NODES = {
    "keras": "[[({0}(node.arguments.{1})) for node in each._inbound_nodes] for each in {{}}.operations]",
    "tf_keras": "[[({0}(node.call_{1})) for node in each.inbound_nodes] for each in {{}}.layers]",
}

_MODELS = "for each in {}._flatten_layers() if isinstance(each, keras.Model)"
_CALLS = {
    "keras": f'[len(getattr(each, "_functional", each)._nodes) {_MODELS}]',
    "tf_keras": f"[len(each._network_nodes) {_MODELS}]",
}
"""How many calls each model has in its graph: a layer that is lost from a Sequential stands in no config."""


@dataclass(frozen=True, slots=True)
class Script:
    """`raises` is the type of the exception that the script has to end in; "" where it shows the models only.

    `sure` says that the script makes the very comparison that differed, whatever the numbers that it runs on, so that
    it is wrong if it does not fail.
    """

    text: str
    raises: str = ""
    sure: bool = False


def reproducer(
    source: str, dialect: str, difference: Difference, cloner: str = "upstream", case: Case | None = None
) -> Script:
    """The script for a difference that a cloner made, with what was expected and found as its last comment.

    With the `case`, models that have to be called are called on its inputs, with its weights.
    """
    dialect = _READS_LIKE.get(dialect, dialect)
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
    before, lines, sure = _comparison(difference, dialect, case)
    if case is not None and case.asked and difference.check not in _OF_THE_MODEL:
        anew = _names_anew(difference, dialect, lines)
        before = [*before, *anew]
        lines = ["", _ASKED, *anew, case.asked.rstrip("\n"), *lines]
    before = ["", *before] if before else []
    what = case.arguments.get(MODEL, MODEL) if case is not None else MODEL
    clone = clones[cloner].replace("(model{}", f"({what}{{}}").replace("{}", _arguments(case))
    if case is not None and case.builds:
        clone = f"{clone}\nclone{case.builds}"
    if cloner == "same_layers" and "model = keras.Sequential(" in source:
        clone = _SAME_LAYERS_OF_A_SEQUENTIAL
    if case is not None and case.within:
        clone = re.sub("^clone = ", f"with {', '.join(case.within)}:\n    clone = ", clone, flags=re.MULTILINE)
    if difference.check == "functions" and lines:
        clone = clone.replace("clone_function=clone_function", f"{_NOTED}clone_function(layer)")
    if difference.aspect == "value not kept":
        before = ["", "import numpy as np", "", *running.weighted(case)]
    text = "\n".join((source.rstrip("\n"), *before, "", clone, *lines, "", *said, ""))
    return Script(text, raises if lines or difference.check == "made" else "", sure)


def _arguments(case: Case | None) -> str:
    """What `clone_model` is given beside the model, as it stands in its call."""
    named = {} if case is None else case.arguments
    given = [f"**{text}" if name == "**" else f"{name}={text}" for name, text in named.items() if name != MODEL]
    short = "".join(f", {each}" for each in given)
    if len(short) <= _SHORT:
        return short
    return ",\n" + "".join(f"    {each},\n" for each in given)


def _names_anew(difference: Difference, dialect: str, lines: list[str]) -> list[str]:
    """A line that has layers numbered from the beginning, where names are compared, or layers found by them."""
    named = "name" in difference.aspect or difference.aspect == "weight scope"
    named = named or any(".get_layer(" in line for line in lines)
    return [_COUNT_ANEW[dialect]] if named and dialect in _COUNT_ANEW else []


def _comparison(difference: Difference, dialect: str, case: Case | None) -> tuple[list[str], list[str], bool]:
    """The lines before the clone is made, those that fail after it, and whether they compare just what differed.

    No lines where that takes many of them.
    """
    check = difference.check
    if check == "made":
        return [], ['raise AssertionError("no error")'] if difference.aspect == "no error" else [], True
    if check == "functions":
        return _asked(difference, case)
    if difference.aspect == "value not kept":
        return [], ["", "assert all(map(np.array_equal, clone.get_weights(), model.get_weights()))"], case is not None
    if dialect == "keras2" and check in (*_MODES, "untouched", "weights"):
        return (graph_mode.before_clone(difference), *graph_mode.compared(difference, case))
    if check in _MODES:
        return ([], *running.compared(difference, dialect, case))
    if check == "untouched":
        return _untouched(difference, dialect, case)
    if check == "own":
        return [], *_shared(difference, dialect)
    expression, sure = _expression(difference, dialect)
    if expression == _CONFIG and dialect == "keras":
        return [], list(_CONFIG_BUT_FOR_INPUTS), sure
    return [], _equal(expression) if expression else [], sure


def _asked(difference: Difference, case: Case | None) -> tuple[list[str], list[str], bool]:
    """Lines that fail where a clone function is asked for what it is not to be asked for."""
    assertion = _ASKED_FOR.get(difference.aspect)
    if assertion is None or case is None or "clone_function" not in case.arguments:
        return [], [], False
    return ["asked = []"], ["", f"assert {assertion}"], True


def _untouched(difference: Difference, dialect: str, case: Case | None) -> tuple[list[str], list[str], bool]:
    """Lines that note what the original is like, and those that fail where it is so no more."""
    path = difference.path.removeprefix("original.")
    if path.startswith(("inference", "training")):
        if difference.raised is not None or difference.aspect in ("no longer raises", "raises another"):
            return [], [], False
        return (*running.unchanged(difference, dialect, case), False)
    if difference.aspect == "weight value":
        before = ["import numpy as np", "", *running.weighted(case), "before = model.get_weights()"]
        return before, ["", "assert all(map(np.array_equal, model.get_weights(), before))"], case is not None
    if difference.aspect == "layer replaced":
        expression, sure = "[id(each) for each in {}._flatten_layers()]", True
    elif difference.aspect == "input tensor":
        expression, sure = "[id(each._keras_history[0]) for each in {}.inputs]", True
    elif path.startswith("layers") and (side := _side(difference.aspect)):
        expression = _NODES[dialect].format("sorted" if side == "kwargs" else "len", side)
        sure = difference.aspect.endswith(("missing", "extra")) and "/" not in path.partition("']")[0]
    else:
        check = "weights" if path.startswith("weights") else "structure"
        expression, sure = _expression(replace(difference, check=check, path=path), dialect)
    expression = expression or _CONFIG
    return [f"before = {expression.format('model')}"], ["", f"assert {expression.format('model')} == before"], sure


def _shared(difference: Difference, dialect: str) -> tuple[list[str], bool]:
    """Lines that fail where the clone has what is the original's own, and whether they would find just that."""
    nested = difference.first is not None and "/" in difference.first.name
    if difference.path == "compiled_with[0]":
        return ["", "assert clone.optimizer is not model.optimizer, 'the clone has the optimizer of the model'"], True
    if difference.aspect == "weight shared":
        theirs = "{}.weights"
    elif difference.aspect == "layer shared" and not (nested and dialect == "keras2"):
        theirs = "{}._flatten_layers()" if nested else "{}.layers"
    else:
        return [], False
    lines = [
        "",
        f"own = {{id(each) for each in {theirs.format('model')}}}",
        f"shared = [each.name for each in {theirs.format('clone')} if id(each) in own]",
        'assert not shared, f"{shared} in the clone are the original\'s own"',
    ]
    return lines, True


def _side(aspect: str) -> str:
    """Which arguments of a call an aspect speaks of, "" where of none: the word becomes a part of the script."""
    side = aspect.partition(" ")[0].removeprefix("call.")
    return side if aspect.startswith("call.") and side in ("args", "kwargs") else ""


def _expression(difference: Difference, dialect: str) -> tuple[str, bool]:
    """An expression of a model that tells what differs, and whether it tells just that; "" where there is none."""
    layer = difference.first.name if difference.first else ""
    top = bool(layer) and "/" not in layer
    name = json.dumps(layer, ensure_ascii=False).replace("{", "{{").replace("}", "}}")
    if difference.check == "weights":
        if difference.aspect.startswith(("state", "copied")) or difference.path == "set_weights":
            return "", False
        attribute = "path" if dialect == "keras" else "name"
        about = f"each.{attribute}, tuple(each.shape), str(each.dtype), each.trainable"
        return f"[({about}) for each in {{}}.weights]", True
    if difference.check != "structure":
        return "", False
    if difference.aspect == "policy" and dialect != "keras2":
        return "[each.dtype_policy.name for each in {}._flatten_layers()]", True
    if difference.aspect.startswith("compiled"):
        return _of_compiled(difference)
    if difference.aspect == "call count" and dialect in _CALLS:
        return _CALLS[dialect], False
    named = difference.aspect == "input name" or (
        difference.aspect == "name" and difference.first is not None and difference.first.kind == "InputLayer"
    )
    if named and top and dialect == "keras":
        return "[each._keras_history.operation.name for each in {}.inputs]", True
    if re.fullmatch(r"layers\['[^'/]*'\]\.name", difference.path):
        if dialect != "keras":
            return "[each.name for each in {}.layers]", True
        # Inputs have names of their own; what is no layer stands among the operations only.
        all_ = "layers" if difference.first is not None and difference.first.kind in CATALOGUE else "operations"
        return f"[each.name for each in {{}}.{all_} if not isinstance(each, keras.layers.InputLayer)]", True
    kind = difference.first.kind if difference.first and not top else ""
    if difference.aspect == "name" and dialect != "keras2" and kind in CATALOGUE and kind != "InputLayer":
        return "[each.name for each in {}._flatten_layers() if not isinstance(each, keras.layers.InputLayer)]", True
    if difference.aspect.endswith("trainable") and difference.first is not None:
        whole = difference.first.layer == -1
        if not whole and not top and dialect != "keras2":
            return "[each.trainable for each in {}._flatten_layers()]", True
        return "{}.trainable" if whole or not top else f"{{}}.get_layer({name}).trainable", whole or top
    setting = re.fullmatch(r"layers\['[^']*'\]\.(?:config\.\.)?(\w+)", difference.path)
    if setting and top and setting[1] in ("supports_masking", "autocast", "stateful", "use_cudnn"):
        return f"{{}}.get_layer({name}).{setting[1]}", True
    own = re.fullmatch(r"layers\['[^']*'\]\.attribute\.([^\W\d]\w*)", difference.path)
    if own and top and own[1] in _LEARNED:
        return _LEARNED[own[1]].format(f"{{}}.get_layer({name})"), True
    if own and top:
        return f"{{}}.get_layer({name}).{own[1]}", True
    config = re.fullmatch(r"layers\['[^']*'\]\.config\.(\w+)", difference.path)
    if config and top and config[1] in ("activity_regularizer", "function", "mask", "output_shape"):
        attribute = "_output_shape" if config[1] == "output_shape" else config[1]
        if all(told.startswith("function ") for told in (difference.expected, difference.found)):
            return f"{{}}.get_layer({name}).{attribute}.__code__", True
        return f"type({{}}.get_layer({name}).{attribute})", False
    if config and top and difference.first and difference.first.kind == "InputLayer":
        # By its tensor: the clone may have another name for it.
        told = f"each._keras_history[0].get_config().get({json.dumps(config[1])})"
        return f"[{told} for each in {{}}.inputs]", True
    if config and top:
        return f"{{}}.get_layer({name}).get_config().get({json.dumps(config[1])})", True
    return _CONFIG, False


def _of_compiled(difference: Difference) -> tuple[str, bool]:
    """An expression of a part of what a model was compiled with."""
    part = re.fullmatch(r"model\.compiled\.(\w+)((?:\[[^\[\]]*\])*)(?:\.\w+\.(\w+))?", difference.path)
    if part is None:
        return "{}.compiled", difference.aspect == "compiled"
    name, places, setting = part.groups()
    its = "{}.optimizer" if name == "optimizer" else f"{{}}._compile_config.config[{json.dumps(name)}]{places}"
    if setting:
        # The config of a loss or a metric may leave out what it was made with.
        told = f"get_config().get({json.dumps(setting)})" if name == "optimizer" else "_fn_kwargs"
        return f"{its}.{told}", True
    return (f"type({its}).__name__", True) if difference.expected.isidentifier() else (its, False)


def _equal(expression: str) -> list[str]:
    """The lines that compare what two models have, and tell what that is."""
    if expression == _CONFIG:
        return [f"assert {expression.format('clone')} == {expression.format('model')}"]
    return [
        f"expected, found = [{expression.format('it')} for it in (model, clone)]",
        'assert found == expected, f"{found} in the clone, {expected} in the model"',
    ]
