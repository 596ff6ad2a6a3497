"""Choose the comparison that shows a difference in a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.checks.aspects import ComparisonName
from clonediff.harness.trials.checks.paths import kind_of
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference
from clonediff.strategies.build import snake_case
from clonediff.strategies.layers import CATALOGUE


def literal(text: str) -> str:
    """A text as a Python string in double quotes, with Unicode characters."""
    return json.dumps(text, ensure_ascii=False)


class Comparison(NamedTuple):
    """How a script compares models. With `must_fail`, it fails for every such difference.

    "equal": the `expression`, where "{}" stands for a model, has the same value for both models.
    "assert": the expression is true.
    "run": both models return the same outputs.
    "raises": the call that clones raises no exception and gives no unexpected warning.
    """

    expression: str = ""
    must_fail: bool = True
    method: str = "equal"


NO_COMPARISON = Comparison(must_fail=False)
WHOLE_CONFIG = Comparison("{}.get_config()", must_fail=False)
"""The comparison if no expression shows only this difference."""
_PATH = re.compile(r"(?:\.[^\W\d]\w*|\[\d+\]|\['[^'\\{}\n]*'\])+")
"""A path of attributes that is safe to write into a script."""
_ADAPTED_STATE = {
    ".vocabulary": "{}.get_vocabulary()",
    ".mean": "TO_NUMPY({}.mean).tolist()",
    ".variance": "TO_NUMPY({}.variance).tolist()",
}
"""The expression for an adapted state, by its path in an observation."""
_COLLECTION = re.compile(r"[A-Za-z]\w* of \d+$")
_TO_NUMPY = {"keras": "keras.ops.convert_to_numpy", "tf_keras": "keras.backend.get_value"}
_EXPRESSIONS = (
    (re.compile(r"(None|True|False|Ellipsis|'.*'|\".*\"|-?[\d.].*|-?inf|nan)$", re.DOTALL), "{}"),
    (re.compile(r"array of "), "[(array.dtype, array.tolist()) for array in [TO_NUMPY({})]]"),
    (re.compile(r"a tensor of "), "[tensor.shape for tensor in [{}]]"),
    (re.compile(r"function "), "[(item.__name__, item.__code__, item.__closure__) for item in [{}]]"),
    (re.compile(r"[A-Za-z]\w*$"), "type({}).__name__"),
)
"""A pattern for both facts, and the expression to compare; the first match counts."""
_DESCRIBED_SETTINGS = ("activity_regularizer", "function", "mask", "output_shape")
"""Settings that the config only describes, so attributes are compared."""


def layer_expression(difference: Difference, generation: str) -> str:
    """The expression for a difference's layer, with "{}" for the model, or ""."""
    first = difference.first
    if first is None or not first.name:
        return ""
    if first.layer < 0 and first.container:
        return "{}"
    holder, _, last = first.name.rpartition("/")
    outermost, name = _literal_name(holder.partition("/")[0]), _literal_name(last)
    may_be_operation = generation == "keras" and first.kind not in CATALOGUE  # `get_layer` finds no operations
    if first.kind == "InputLayer":  # its name differs in the clone
        return "" if holder else "{}.inputs[0]._keras_history[0]"
    if not holder and first.kind in CATALOGUE:
        return f"{{}}.get_layer({name})"
    if not holder:  # a Sequential lists no operations
        layers = '(lambda model: getattr(model, "operations", model.layers))({})' if may_be_operation else "{}.layers"
    elif may_be_operation and first.inside == "Functional":  # not a cell in a layer
        members = '[*model._flatten_layers(include_self=False), *getattr(model, "operations", ())]'
        layers = f"(lambda model: {members})({{}}.get_layer({outermost}))"
    else:
        layers = f"{{}}.get_layer({outermost})._flatten_layers(include_self=False)"
    # An automatic name may differ in the clone.
    is_automatic = last == snake_case(first.kind)
    chosen = f"type(layer).__name__ == {literal(first.kind)}" if is_automatic else f"layer.name == {name}"
    return f"next(layer for layer in {layers} if {chosen})"


def _literal_name(name: str) -> str:
    """The name of a layer as a literal of a format string."""
    return literal(name).replace("{", "{{").replace("}", "}}")


def _compare_setting(difference: Difference, generation: str) -> Comparison:
    """Compare a layer's setting in both configs."""
    layer = layer_expression(difference, generation)
    if difference.part == "trainable" and layer:
        return Comparison(f"{layer}.trainable")
    name = difference.expression
    if not name.isidentifier() or not layer:
        return WHOLE_CONFIG
    if name in _DESCRIBED_SETTINGS:
        value = f"{layer}.{'_output_shape' if name == 'output_shape' else name}"
        are_functions = all(fact.startswith("function ") for fact in (difference.expected, difference.found))
        return Comparison(f"{value}.__code__" if are_functions else f"type({value})", must_fail=are_functions)
    if kind_of(difference) == "InputLayer":
        # Find the layer by its tensor: its name may differ in the clone.
        return Comparison(f"[tensor._keras_history[0].get_config().get({literal(name)}) for tensor in {{}}.inputs]")
    return Comparison(f"{layer}.get_config().get({literal(name)})")


def _compare_attribute(difference: Difference, generation: str) -> Comparison:
    """Compare an attribute of a layer."""
    expression = _attribute_expression(difference, generation)
    if not expression:
        return NO_COMPARISON
    if state := _ADAPTED_STATE.get(difference.expression):
        return Comparison(state.format(expression.removesuffix(difference.expression)))
    facts = (difference.expected, difference.found)
    if MISSING in facts:
        holder, _, last = expression.rpartition(".")
        return Comparison(f"hasattr({holder}, {last!r})") if last.isidentifier() else NO_COMPARISON
    if any(map(_COLLECTION.match, facts)):
        has_one_class = len({fact.partition(" of ")[0] for fact in facts}) == 1
        return Comparison(f"len({expression})" if has_one_class else f"type({expression}).__name__")
    for pattern, template in _EXPRESSIONS:
        if all(map(pattern.match, facts)):
            return Comparison(template.replace("{}", expression))
    return Comparison(f"type({expression}).__name__", must_fail=False)


def _assert_apart(difference: Difference, generation: str) -> Comparison:
    """Assert that the clone reaches no object of the original."""
    clone = _attribute_expression(difference, generation)
    model = clone
    if difference.part == "object reached":
        path = difference.found.partition(", ")[2]
        model = layer_expression(difference, generation) + path if _PATH.fullmatch(path) else ""
    if not clone or not model:
        return NO_COMPARISON
    reason = "'the clone reaches an object of the model'"
    return Comparison(f"{clone.format('clone')} is not {model.format('model')}, {reason}", method="assert")


def _attribute_expression(difference: Difference, generation: str) -> str:
    """The expression for the attribute of a difference, or ""."""
    layer, attribute = layer_expression(difference, generation), difference.expression
    return layer + attribute if layer and _PATH.fullmatch(attribute) else ""


def _compare_names(difference: Difference, generation: str) -> Comparison:
    """Compare the names of input layers, or of all others."""
    kind = kind_of(difference)
    if kind == "InputLayer" or difference.part == "input":
        inputs = generation == "keras" and layer_expression(difference, generation)
        return Comparison("[tensor._keras_history[0].name for tensor in {}.inputs]") if inputs else WHOLE_CONFIG
    layers = "_flatten_layers()"
    if generation == "keras" and kind not in CATALOGUE:  # an operation is not a layer
        layers = "operations" if difference.part == "name" and not _is_nested(difference) else ""
    if not layers or difference.first is None or difference.first.layer < 0:
        return WHOLE_CONFIG
    return Comparison(f"[layer.name for layer in {{}}.{layers} if not isinstance(layer, keras.layers.InputLayer)]")


def _assert_disjoint(objects: str) -> Comparison:
    """Assert that the models share none of these objects."""
    condition = f"{{*map(id, {objects.format('clone')})}}.isdisjoint(map(id, {objects.format('model')}))"
    return Comparison(f"{condition}, 'the clone has objects of the model'", method="assert")


def _compare_kinds(difference: Difference, generation: str) -> Comparison:
    """Compare the classes of layers and model."""
    is_model = difference.first is not None and difference.first.container and difference.first.layer < 0
    if not is_model and kind_of(difference) not in CATALOGUE:
        return WHOLE_CONFIG
    return Comparison("sorted(type(layer).__name__ for layer in {}._flatten_layers())")


def _assert_layers_apart(difference: Difference, generation: str) -> Comparison:
    return _assert_disjoint("{}._flatten_layers()" if _is_nested(difference) else "{}.layers")


def _is_nested(difference: Difference) -> bool:
    return difference.first is not None and "/" in difference.first.name


def _compare_weights(difference: Difference, generation: str) -> Comparison:
    if difference.part != "weight":
        return NO_COMPARISON
    if difference.change == "shared":
        return _assert_disjoint("{}.weights")
    if difference.change == "constraint":  # functions may have one name, so compare results
        halves, total, functions = "tf.fill(weight.shape, 0.5)", "tf.reduce_sum", "(weight.constraint,)"
        if generation == "keras":
            halves, total = "keras.ops.full(weight.shape, 0.5)", "keras.ops.sum"
            functions = "(weight.constraint, weight.regularizer)"
        results = f"[float({total}(function({halves}))) for function in {functions} if function]"
        return Comparison(f"[{results} for weight in {{}}.weights]", must_fail=False)
    name = "path" if generation == "keras" else "name"
    facts = f"weight.{name}, tuple(weight.shape), str(weight.dtype), weight.trainable"
    return Comparison(f"[({facts}) for weight in {{}}.weights]")


def _compare_run(difference: Difference, generation: str) -> Comparison:
    """Compare a run of both models, or a layer's recorded masks."""
    if difference.run or difference.first is None or _is_nested(difference):
        return Comparison(method="run")
    layers, nodes = ("operations", "_inbound_nodes") if generation == "keras" else ("layers", "inbound_nodes")
    outputs = "node.outputs" if generation == "keras" else "tf.nest.flatten(node.outputs)"
    layer = f"for layer in {{}}.{layers} if layer.name == {_literal_name(difference.first.name)}"
    tensors = f"{layer} for node in layer.{nodes} for tensor in {outputs}"
    return Comparison(f"sorted(getattr(tensor, '_keras_mask', None) is not None {tensors})")


_IS_A_MODEL = "isinstance(clone, keras.Model) and getattr(clone, 'inputs', None) is not None"

_COMPARISONS: Mapping[ComparisonName, Comparison | Callable[[Difference, str], Comparison]] = {
    "apart": _assert_apart,
    "attribute": _compare_attribute,
    "compiled": Comparison("{}.get_compile_config()", must_fail=False),
    "config": WHOLE_CONFIG,
    "is a model": Comparison(_IS_A_MODEL, method="assert"),
    "kinds": _compare_kinds,
    "layers": _assert_layers_apart,
    "listed": _compare_weights,
    "names": _compare_names,
    "numbers": Comparison(method="run", must_fail=False),
    "raises": Comparison(method="raises"),
    "run": _compare_run,
    "setting": _compare_setting,
    "trainable": _compare_setting,
    "weight values": Comparison("[weight.tolist() for weight in {}.get_weights()]"),
}
"""The comparisons by name; without a name, nothing is compared."""


def comparison(difference: Difference, generation: str) -> Comparison:
    """The comparison for a difference; a script cannot compare two clones."""
    if difference.check == "again":
        return NO_COMPARISON
    plan = _COMPARISONS.get(aspect_of(difference).comparison, NO_COMPARISON)
    plan = plan if isinstance(plan, Comparison) else plan(difference, generation)
    return plan._replace(expression=plan.expression.replace("TO_NUMPY", _TO_NUMPY[generation]))
