"""What a script of plain Keras compares to show a difference."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.checks.aspects import Shown
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
    "assert": the expression is true.
    "run": both models give the same.
    "raises": cloning raises no exception, nor warns of what it should not.
    """

    expression: str = ""
    sure: bool = True
    how: str = "equal"


NOT_COMPARED = Comparison(sure=False)
WHOLE_CONFIG = Comparison("{}.get_config()", sure=False)
"""What is compared where nothing tells a difference alone."""
_PATH = re.compile(r"(?:\.[^\W\d]\w*|\[\d+\]|\['[^'\\{}\n]*'\])+")
"""The path of an attribute that may stand in a script as it is: it may come from a stranger's file."""
_LEARNED = {
    ".vocabulary": "{}.get_vocabulary()",
    ".mean": "keras.ops.convert_to_numpy({}.mean).tolist()",
    ".variance": "keras.ops.convert_to_numpy({}.variance).tolist()",
}
"""What tells what a layer has learned, by the name that the observation has for it."""
_SIZED = re.compile(r"[A-Za-z]\w* of \d+$")
_FORMS = (
    (re.compile(r"(None|True|False|Ellipsis|'.*'|\".*\"|-?[\d.].*|-?inf|nan)$", re.DOTALL), "{}"),
    (re.compile(r"array of "), "keras.ops.convert_to_numpy({}).tolist()"),
    (re.compile(r"a tensor of "), "[tensor.shape for tensor in [{}]]"),
    (re.compile(r"function "), "{}.__code__"),
    (_SIZED, "len({})"),
    (re.compile(r"[A-Za-z]\w*$"), "type({}).__name__"),
)
"""What is compared in a script, by how both facts begin; of plain values, these themselves."""
_NO_PLAIN_DATA = ("activity_regularizer", "function", "mask", "output_shape")
"""Settings whose attribute is compared, since the config has only a description of it."""


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
        layers = '(lambda model: getattr(model, "operations", model.layers))({})'
    elif first.kind == "InputLayer":  # an input has another name in the clone
        return ""
    elif may_be_operation and first.inside == "Functional":  # and no cell in a layer
        both = '[*model._flatten_layers(include_self=False), *getattr(model, "operations", ())]'
        layers = f"(lambda model: {both})({{}}.get_layer({outermost}))"
    else:
        layers = f"{{}}.get_layer({outermost})._flatten_layers(include_self=False)"
    return f"next(layer for layer in {layers} if layer.name == {name})"


def _written(name: str) -> str:
    """The name of a layer as it stands in an expression."""
    return literal(name).replace("{", "{{").replace("}", "}}")


def _setting(difference: Difference, dialect: str) -> Comparison:
    """A setting of a layer, as its config has it."""
    layer = named(difference, dialect)
    if difference.part == "trainable" and layer:
        return Comparison(f"{layer}.trainable")
    name = difference.expression
    if not name.isidentifier() or not layer:
        return WHOLE_CONFIG
    if name in _NO_PLAIN_DATA:
        value = f"{layer}.{'_output_shape' if name == 'output_shape' else name}"
        functions = all(fact.startswith("function ") for fact in (difference.expected, difference.found))
        return Comparison(f"{value}.__code__") if functions else Comparison(f"type({value})", sure=False)
    if kind_of(difference) == "InputLayer":
        # By its tensor: the clone may have another name for it.
        return Comparison(f"[tensor._keras_history[0].get_config().get({literal(name)}) for tensor in {{}}.inputs]")
    return Comparison(f"{layer}.get_config().get({literal(name)})")


def _attribute(difference: Difference, dialect: str) -> Comparison:
    """An attribute of a layer, or of what it holds."""
    expression = _expression(difference, dialect)
    if not expression:
        return NOT_COMPARED
    if difference.expression in _LEARNED:
        return Comparison(_LEARNED[difference.expression].format(expression.removesuffix(difference.expression)))
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
    if difference.part == "object reached":
        path = difference.found.partition(", ")[2]
        model = named(difference, dialect) + path if _PATH.fullmatch(path) else ""
    if not clone or not model:
        return NOT_COMPARED
    reason = "'the clone leads to an object of the model'"
    return Comparison(f"{clone.format('clone')} is not {model.format('model')}, {reason}", how="assert")


def _expression(difference: Difference, dialect: str) -> str:
    """What a fact is of, as Python has it; "" where that cannot be written down."""
    holder, attribute = named(difference, dialect), difference.expression
    return holder + attribute if holder and _PATH.fullmatch(attribute) else ""


def _names(difference: Difference, dialect: str) -> Comparison:
    """The names of the layers, inputs apart, which have names of their own."""
    kind = kind_of(difference)
    if kind == "InputLayer" or difference.part == "input":
        inputs = dialect == "keras" and named(difference, dialect)
        return Comparison("[tensor._keras_history[0].name for tensor in {}.inputs]") if inputs else WHOLE_CONFIG
    layers = "_flatten_layers()"
    if dialect == "keras" and kind not in CATALOGUE:  # what is no layer stands among the operations only
        layers = "operations" if difference.part == "name" and not _is_nested(difference) else ""
    if not layers or difference.first is None or difference.first.layer < 0:
        return WHOLE_CONFIG
    return Comparison(f"[layer.name for layer in {{}}.{layers} if not isinstance(layer, keras.layers.InputLayer)]")


def _own(objects: str) -> Comparison:
    """Whether the clone has objects of its own."""
    apart = f"{{*map(id, {objects.format('clone')})}}.isdisjoint(map(id, {objects.format('model')}))"
    return Comparison(f"{apart}, 'the clone has objects of the model'", how="assert")


def _kinds(difference: Difference, dialect: str) -> Comparison:
    """The classes of the layers, and of the model."""
    is_of_model = difference.first is not None and difference.first.container and difference.first.layer < 0
    if not is_of_model and kind_of(difference) not in CATALOGUE:
        return WHOLE_CONFIG
    return Comparison("sorted(type(layer).__name__ for layer in {}._flatten_layers())")


def _layers(difference: Difference, dialect: str) -> Comparison:
    return _own("{}._flatten_layers()" if _is_nested(difference) else "{}.layers")


def _is_nested(difference: Difference) -> bool:
    """Whether it is at a layer that another holds."""
    return difference.first is not None and "/" in difference.first.name


def _weights(difference: Difference, dialect: str) -> Comparison:
    if difference.part != "weight":
        return NOT_COMPARED
    if difference.change == "shared":
        return _own("{}.weights")
    if difference.change == "constraint":  # what it computes, since two functions may have one name
        halves, total, functions = "tf.fill(weight.shape, 0.5)", "tf.reduce_sum", "(weight.constraint,)"
        if dialect == "keras":
            halves, total = "keras.ops.full(weight.shape, 0.5)", "keras.ops.sum"
            functions = "(weight.constraint, weight.regularizer)"
        results = f"[float({total}(function({halves}))) for function in {functions} if function]"
        return Comparison(f"[{results} for weight in {{}}.weights]", sure=False)
    name = "path" if dialect == "keras" else "name"
    facts = f"weight.{name}, tuple(weight.shape), str(weight.dtype), weight.trainable"
    return Comparison(f"[({facts}) for weight in {{}}.weights]")


def _run(difference: Difference, dialect: str) -> Comparison:
    """A run; the masks of tensors of a layer of the model are compared as they are."""
    if difference.run or difference.first is None or _is_nested(difference):
        return Comparison(how="run")
    layers, nodes = ("operations", "_inbound_nodes") if dialect == "keras" else ("layers", "inbound_nodes")
    outputs = "node.outputs" if dialect == "keras" else "tf.nest.flatten(node.outputs)"
    of_layer = f"for layer in {{}}.{layers} if layer.name == {_written(difference.first.name)}"
    tensors = f"{of_layer} for node in layer.{nodes} for tensor in {outputs}"
    return Comparison(f"sorted(getattr(tensor, '_keras_mask', None) is not None {tensors})")


_IS_A_MODEL = "isinstance(clone, keras.Model) and getattr(clone, 'inputs', None) is not None"

_COMPARISONS: Mapping[Shown, Comparison | Callable[[Difference, str], Comparison]] = {
    "apart": _apart,
    "attribute": _attribute,
    "compiled": Comparison("{}.get_compile_config()", sure=False),
    "config": WHOLE_CONFIG,
    "is a model": Comparison(_IS_A_MODEL, how="assert"),
    "kinds": _kinds,
    "layers": _layers,
    "listed": _weights,
    "names": _names,
    "numbers": Comparison(how="run", sure=False),
    "raises": Comparison(how="raises"),
    "run": _run,
    "setting": _setting,
    "trainable": _setting,
    "weight values": Comparison("[weight.tolist() for weight in {}.get_weights()]"),
}
"""By the name that the row of a difference has for it; nothing is compared where it has none."""


def comparison(difference: Difference, dialect: str) -> Comparison:
    """What shows a difference; where two clones differ, nothing does."""
    if difference.check == "again":
        return NOT_COMPARED
    plan = _COMPARISONS.get(aspect_of(difference).shown, NOT_COMPARED)
    return plan if isinstance(plan, Comparison) else plan(difference, dialect)
