"""What a script of plain Keras compares to show a difference."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from clonediff.harness.trials.checks.aspects import aspect_of
from clonediff.harness.trials.checks.places import kind_of
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference
from clonediff.strategies.layers import CATALOGUE


def literal(text: str) -> str:
    """A string in double quotes: JSON's are Python's too, but for what it would escape in halves."""
    return json.dumps(text, ensure_ascii=False)


class Comparison(NamedTuple):
    """How a script shows a difference; `sure` says that it fails wherever there is this difference.

    "equal": the `expression`, in which "{}" stands for a model, is the same for both models.
    "shared": the clone has none of the objects that the expression lists for the model.
    "assert": the expression is true.
    "run": both models give the same.
    "warns": cloning does not warn of it.
    "raises": cloning raises no exception.
    """

    expression: str = ""
    sure: bool = True
    how: str = "equal"


NOT_COMPARED = Comparison(sure=False)
RUN_ON_NUMBERS = Comparison(how="run", sure=False)
"""It takes the very numbers of the trial to see it."""
WHOLE_CONFIG = Comparison("{}.get_config()", sure=False)
"""What is compared where nothing tells a difference alone."""
_PATH = re.compile(r"(?:\.[^\W\d]\w*|\[\d+\]|\['[^'\\{}\n]*'\])+")
"""The path of an attribute that may stand in a script as it is: it may come from a file of somebody else's."""
_LEARNED = {
    ".vocabulary": "{}.get_vocabulary()",
    ".statistics": "keras.ops.convert_to_numpy({}.mean).tolist()",
}
"""What tells what a layer has learned, by the name that the observation has for it."""
_SIZED = re.compile(r"[A-Za-z]\w* of \d+$")
_FORMS = (
    (re.compile(r"(None|True|False|Ellipsis|'.*'|\".*\"|-?[\d.].*|-?inf|nan)$", re.DOTALL), "{}"),
    (re.compile(r"array of "), "keras.ops.convert_to_numpy({}).tolist()"),
    (re.compile(r"a tensor of "), "[each.shape for each in [{}]]"),
    (re.compile(r"function "), "{}.__code__"),
    (_SIZED, "len({})"),
    (re.compile(r"[A-Za-z]\w*$"), "type({}).__name__"),
)
"""What is compared in a script, by how both facts begin; of plain values, these themselves."""
_NO_PLAIN_DATA = ("activity_regularizer", "function", "mask", "output_shape")
"""Settings whose attribute is compared, since the config has only a description of it."""
_BUT_INPUTS = "if not isinstance(each, keras.layers.InputLayer)"


def named(difference: Difference, dialect: str) -> str:
    """The expression for the place of a difference, where "{}" stands for the model; "" where its name tells none."""
    first = difference.first
    if first is None or not first.name:
        return ""
    if first.layer < 0 and first.container:
        return "{}"
    holder, _, last = first.name.rpartition("/")
    outermost, name = _written(holder.partition("/")[0]), _written(last)
    may_be_operation = dialect == "keras" and first.kind not in CATALOGUE  # which `get_layer` does not find
    if not holder and not may_be_operation:
        return f"{{}}.get_layer({name})"
    if not holder:  # A Sequential lists no operations.
        layers = '(lambda it: getattr(it, "operations", it.layers))({})'
    elif first.kind == "InputLayer":  # an input has another name in the clone
        return ""
    elif may_be_operation and first.inside == "Functional":  # and no cell in a layer
        both = '[*it._flatten_layers(include_self=False), *getattr(it, "operations", ())]'
        layers = f"(lambda it: {both})({{}}.get_layer({outermost}))"
    else:
        layers = f"{{}}.get_layer({outermost})._flatten_layers(include_self=False)"
    return f"next(each for each in {layers} if each.name == {name})"


def _written(name: str) -> str:
    """The name of a layer as it stands in an expression."""
    return literal(name).replace("{", "{{").replace("}", "}}")


def _setting(difference: Difference, dialect: str) -> Comparison:
    """A setting of a layer, as its config has it."""
    layer = named(difference, dialect)
    found = re.fullmatch(r"layers\['[^']*'\]\.config\.(\w+)", difference.path)
    if found is None or not layer:
        return WHOLE_CONFIG
    name = found[1]
    if name in _NO_PLAIN_DATA:
        value = f"{layer}.{'_output_shape' if name == 'output_shape' else name}"
        functions = all(fact.startswith("function ") for fact in (difference.expected, difference.found))
        return Comparison(f"{value}.__code__") if functions else Comparison(f"type({value})", sure=False)
    if kind_of(difference) == "InputLayer":
        # By its tensor: the clone may have another name for it.
        return Comparison(f"[each._keras_history[0].get_config().get({literal(name)}) for each in {{}}.inputs]")
    return Comparison(f"{layer}.get_config().get({literal(name)})")


def _attribute(difference: Difference, dialect: str) -> Comparison:
    """An attribute of a layer, or of what it holds."""
    expression = _expression(difference, dialect)
    if not expression:
        return NOT_COMPARED
    path = difference.path.partition(".attribute")[2]
    if path in _LEARNED:
        return Comparison(_LEARNED[path].format(expression.removesuffix(path)))
    facts = (difference.expected, difference.found)
    if MISSING in facts:
        holder, _, last = expression.rpartition(".")
        return Comparison(f"hasattr({holder}, {last!r})") if last.isidentifier() else NOT_COMPARED
    if len({fact.rpartition(" of ")[2] for fact in facts if _SIZED.match(fact)}) == 1:
        return Comparison(f"type({expression}).__name__")
    for pattern, form in _FORMS:
        if all(map(pattern.match, facts)):
            return Comparison(form.replace("{}", expression))
    return Comparison(f"type({expression}).__name__", sure=False)


def _apart(difference: Difference, dialect: str) -> Comparison:
    """Whether the object that the clone has, or leads to, is the original's."""
    clone = _expression(difference, dialect)
    model = clone
    if difference.aspect.startswith("object reached"):
        path = difference.found.partition(", ")[2]
        model = named(difference, dialect) + path if _PATH.fullmatch(path) else ""
    if not clone or not model:
        return NOT_COMPARED
    reason = "'the clone leads to an object of the model'"
    return Comparison(f"{clone.format('clone')} is not {model.format('model')}, {reason}", how="assert")


def _expression(difference: Difference, dialect: str) -> str:
    """What a fact is of, as Python has it; "" where that cannot be written down."""
    path = difference.path.partition(".attribute")[2]
    holder = named(difference, dialect)
    return holder + path if holder and _PATH.fullmatch(path) else ""


def _names(difference: Difference, dialect: str) -> Comparison:
    """The names of the layers, inputs apart, which have names of their own."""
    kind = kind_of(difference)
    if kind == "InputLayer" or difference.aspect == "input name":
        inputs = dialect == "keras" and named(difference, dialect)
        return Comparison("[each._keras_history.operation.name for each in {}.inputs]") if inputs else WHOLE_CONFIG
    if re.fullmatch(r"layers\['[^'/]*'\]\.name", difference.path):
        # What is no layer stands among the operations only.
        layers = "layers" if dialect != "keras" or kind in CATALOGUE else "operations"
        return Comparison(f"[each.name for each in {{}}.{layers} {_BUT_INPUTS}]")
    if difference.path.startswith("layers") and kind in CATALOGUE:
        return Comparison(f"[each.name for each in {{}}._flatten_layers() {_BUT_INPUTS}]")
    return WHOLE_CONFIG


def _trainable(difference: Difference, dialect: str) -> Comparison:
    layer = named(difference, dialect)
    return Comparison(f"{layer}.trainable") if layer else WHOLE_CONFIG


def _layers(difference: Difference, dialect: str) -> Comparison:
    inside = difference.first is not None and "/" in difference.first.name
    return Comparison("{}._flatten_layers()" if inside else "{}.layers", how="shared")


def _weights(difference: Difference, dialect: str) -> Comparison:
    if not difference.aspect.startswith("weight"):
        return NOT_COMPARED
    if difference.aspect == "weight shared":
        return Comparison("{}.weights", how="shared")
    name = "path" if dialect == "keras" else "name"
    return Comparison(f"[(each.{name}, tuple(each.shape), str(each.dtype), each.trainable) for each in {{}}.weights]")


_OWN_OPTIMIZER = Comparison(
    "clone.optimizer is not model.optimizer, 'the clone has the optimizer of the model'", how="assert"
)
_IS_A_MODEL = "isinstance(clone, keras.Model) and getattr(clone, 'inputs', None) is not None"
_COMPILED, _COMPILED_WITH = Comparison("{}.compiled"), Comparison("{}.get_compile_config()", sure=False)
_KINDS = Comparison("sorted(type(each).__name__ for each in {}._flatten_layers())")

_COMPARISONS: Mapping[str, Comparison | Callable[[Difference, str], Comparison]] = {
    "": NOT_COMPARED,
    "apart": _apart,
    "arguments": WHOLE_CONFIG,
    "asked": NOT_COMPARED,
    "attribute": _attribute,
    "call order": lambda difference, dialect: RUN_ON_NUMBERS if difference.check == "outputs" else WHOLE_CONFIG,
    "calls": WHOLE_CONFIG,
    "compiled": lambda difference, _: _COMPILED if difference.aspect == "compiled" else _COMPILED_WITH,
    "config": WHOLE_CONFIG,
    "ends": WHOLE_CONFIG,
    "input names": _names,
    "is a model": Comparison(_IS_A_MODEL, how="assert"),
    "kept": NOT_COMPARED,
    "kind": lambda difference, _: Comparison("type({}).__name__") if difference.path == "model.kind" else WHOLE_CONFIG,
    "kinds": lambda difference, _: _KINDS if kind_of(difference) in CATALOGUE else WHOLE_CONFIG,
    "layers": _layers,
    "listed": _weights,
    "names": _names,
    "nesting": lambda difference, _: NOT_COMPARED if ".steps[" in difference.path else Comparison(how="run"),
    "numbers": RUN_ON_NUMBERS,
    "optimizer": lambda difference, _: _OWN_OPTIMIZER if difference.path == "compiled_with[0]" else NOT_COMPARED,
    "raises": Comparison(how="raises"),
    "run": Comparison(how="run"),
    "setting": _setting,
    "trainable": _trainable,
    "unreached": _apart,
    "variables": _weights,
    "warns": Comparison(how="warns"),
    "weight values": Comparison("[each.tolist() for each in {}.get_weights()]"),
}
"""By the name that the table of aspects has for it."""


def comparison(difference: Difference, dialect: str) -> Comparison:
    """What shows a difference; where two clones differ, nothing does."""
    found = _COMPARISONS[aspect_of(difference).shown if difference.check != "again" else ""]
    return found if isinstance(found, Comparison) else found(difference, dialect)
