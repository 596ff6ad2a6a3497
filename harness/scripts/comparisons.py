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
from clonediff.strategies.kinds import CATALOGUE


class Comparison(NamedTuple):
    """How a script shows a difference; `sure` says that it fails wherever there is this difference.

    "equal": the `expression`, in which "{}" stands for a model, is the same for both models.
    "shared": the clone has none of the objects that the expression lists for the model.
    "assert": the expression is true. "kept": it is, once the model has weights that no initializer gives.
    "asked": it is, of the layers that the clone function was `asked` for.
    "weights": the expression has arrays that stay the same.
    "run": both models give the same.
    "warns": cloning does not warn of it.
    "raises": cloning raises no exception.
    """

    expression: str = ""
    sure: bool = True
    how: str = "equal"


NOT_COMPARED = Comparison(sure=False)
RUN = Comparison(how="run")
RUN_ON_NUMBERS = Comparison(how="run", sure=False)
"""It takes the very numbers of the trial to see it."""
WHOLE_CONFIG = Comparison("{}.get_config()", sure=False)
"""What is compared where nothing tells a difference alone."""
_IS_A_MODEL = "isinstance(clone, keras.Model) and getattr(clone, 'inputs', None) is not None"
_MODELS = "for each in {}._flatten_layers() if isinstance(each, keras.Model)"
_COUNTED = {
    "keras": f'[len(getattr(each, "_functional", each)._nodes) {_MODELS}]',
    "tf_keras": f"[len(each._network_nodes) {_MODELS}]",
}
"""How many calls each model has in its graph: a layer that is lost from a Sequential stands in no config."""
_NODES = {
    "keras": "[[({0}(node.arguments.{1})) for node in each._inbound_nodes] for each in {{}}.operations]",
    "tf_keras": "[[({0}(node.call_{1})) for node in each.inbound_nodes] for each in {{}}.layers]",
}
_KEY = r"""\[(?:\d+|'[^'\\\n]*'|"[^"\\\n]*")\]"""
_COMPILED = re.compile(rf"model\.compiled\.(\w+)((?:{_KEY})*)(?:\.\w+\.(\w+))?")
"""A part whose path may stand in a script as it is: it may come from a file of somebody else's."""
_PATH = re.compile(r"(?:\.[^\W\d]\w*|\[\d+\]|\['[^'\\{}\n]*'\])+")
"""The path of an attribute that may."""
_LEARNED = {
    ".vocabulary": "{}.get_vocabulary()",
    ".statistics": "keras.ops.convert_to_numpy({}.mean).tolist()",
    "._autocast": "{}._autocast",
}
"""What tells what a layer has learned or was told, by the name that the observation has for it."""
_SIZED = re.compile(r"[A-Za-z]\w* of \d+$")
_FORMS = (
    (re.compile(r"array of "), "keras.ops.convert_to_numpy({}).tolist()"),
    (re.compile(r"a tensor of "), "[each.shape for each in [{}]]"),
    (re.compile(r"function "), "{}.__code__"),
    (_SIZED, "len({})"),
    (re.compile(r"[A-Za-z]\w*$"), "type({}).__name__"),
)
"""What is compared in a script, by how a fact begins; of plain values, these themselves."""
_PLAIN = re.compile(r"(None|True|False|Ellipsis|'.*'|\".*\"|-?[\d.].*|-?inf|nan)$", re.DOTALL)
_NO_PLAIN_DATA = ("activity_regularizer", "function", "mask", "output_shape")
"""Settings whose attribute is compared, since the config has only a description of it."""
_BUT_INPUTS = "if not isinstance(each, keras.layers.InputLayer)"
_ASKED = {
    "asked of an input": "not any(isinstance(each, keras.layers.InputLayer) for each in asked)",
    "asked of an operation": "all(isinstance(each, keras.layers.Layer) for each in asked)",
    "asked again": "len({id(each) for each in asked}) == len(asked)",
}


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
    if holder:
        if first.kind == "InputLayer":  # an input has another name in the clone
            return ""
        listed = f"{{}}.get_layer({outermost})._flatten_layers(include_self=False)"
        if may_be_operation and first.inside == "Functional":  # and no cell in a layer
            both = '[*it._flatten_layers(include_self=False), *getattr(it, "operations", ())]'
            listed = f"(lambda it: {both})({{}}.get_layer({outermost}))"
    elif may_be_operation:  # A Sequential lists no operations.
        listed = '(lambda it: getattr(it, "operations", it.layers))({})'
    else:
        return f"{{}}.get_layer({name})"
    return f"next(each for each in {listed} if each.name == {name})"


def _written(name: str) -> str:
    """The name of a layer as it stands in an expression."""
    return json.dumps(name, ensure_ascii=False).replace("{", "{{").replace("}", "}}")


def layers(difference: Difference, dialect: str) -> Comparison:
    """Which layers the clone has of the original."""
    inside = difference.first is not None and "/" in difference.first.name
    return Comparison("{}._flatten_layers()" if inside else "{}.layers", how="shared")


def variables(difference: Difference, dialect: str) -> Comparison:
    """Which weights the clone has of the original."""
    return Comparison("{}.weights", how="shared") if difference.aspect.startswith("weight") else NOT_COMPARED


def kind(difference: Difference, dialect: str) -> Comparison:
    """The class of the model."""
    return Comparison("type({}).__name__") if difference.path == "model.kind" else WHOLE_CONFIG


def kinds(difference: Difference, dialect: str) -> Comparison:
    """Which layers there are; what is no layer is not listed."""
    if kind_of(difference) not in CATALOGUE:
        return WHOLE_CONFIG
    return Comparison("sorted(type(each).__name__ for each in {}._flatten_layers())")


def setting(difference: Difference, dialect: str) -> Comparison:
    """A setting of a layer, as its config has it."""
    layer = named(difference, dialect)
    found = re.fullmatch(r"layers\['[^']*'\]\.config\.(\w+)", difference.path)
    if found is None or difference.first is None or not layer:
        return WHOLE_CONFIG
    name = found[1]
    if name in _NO_PLAIN_DATA:
        told = f"{layer}.{'_output_shape' if name == 'output_shape' else name}"
        if all(fact.startswith("function ") for fact in (difference.expected, difference.found)):
            return Comparison(f"{told}.__code__")
        return Comparison(f"type({told})", sure=False)
    if difference.first.kind == "InputLayer":
        # By its tensor: the clone may have another name for it.
        told = f"each._keras_history[0].get_config().get({json.dumps(name)})"
        return Comparison(f"[{told} for each in {{}}.inputs]")
    return Comparison(f"{layer}.get_config().get({json.dumps(name)})")


def attribute(difference: Difference, dialect: str) -> Comparison:
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
    if all(map(_PLAIN.match, facts)):
        return Comparison(expression)
    if len({fact.rpartition(" of ")[2] for fact in facts if _SIZED.match(fact)}) == 1:
        return Comparison(f"type({expression}).__name__")
    for pattern, comparison in _FORMS:
        if all(map(pattern.match, facts)):
            return Comparison(comparison.replace("{}", expression))
    return Comparison(f"type({expression}).__name__", sure=False)


def apart(difference: Difference, dialect: str) -> Comparison:
    """Whether the object that the clone has is the original's."""
    expression = _expression(difference, dialect)
    if not expression:
        return NOT_COMPARED
    ours, theirs = expression.format("model"), expression.format("clone")
    return Comparison(f"{theirs} is not {ours}, 'the clone has an object of the model'", how="assert")


def unreached(difference: Difference, dialect: str) -> Comparison:
    """Whether what the clone leads to is the original's."""
    holder, path = named(difference, dialect), difference.path.partition(".attribute")[2]
    path_in_model = difference.found.partition(", ")[2]
    if not holder or not _PATH.fullmatch(path) or not _PATH.fullmatch(path_in_model):
        return NOT_COMPARED
    ours, theirs = f"{holder.format('model')}{path_in_model}", f"{holder.format('clone')}{path}"
    return Comparison(f"{theirs} is not {ours}, 'the clone leads to an object of the model'", how="assert")


def _expression(difference: Difference, dialect: str) -> str:
    """What a fact is of, as Python has it; "" where that cannot be written down."""
    path = difference.path.partition(".attribute")[2]
    holder = named(difference, dialect)
    return holder + path if holder and _PATH.fullmatch(path) else ""


def compiled(difference: Difference, dialect: str) -> Comparison:
    """A part of what a model was compiled with."""
    part = _COMPILED.fullmatch(difference.path)
    if part is None:
        return Comparison("{}.compiled") if difference.aspect == "compiled" else NOT_COMPARED
    name, places, of_config = part[1], part[2].replace("{", "{{").replace("}", "}}"), part[3]
    its = "{}.optimizer" if name == "optimizer" else f"{{}}._compile_config.config[{json.dumps(name)}]{places}"
    if of_config:
        # The config of a loss or a metric may leave out what it was made with.
        told = f"get_config().get({json.dumps(of_config)})" if name == "optimizer" else "_fn_kwargs"
        return Comparison(f"{its}.{told}")
    return Comparison(f"type({its}).__name__") if difference.expected.isidentifier() else Comparison(its, sure=False)


def optimizer(difference: Difference, dialect: str) -> Comparison:
    """Whether the optimizer of the clone is the original's."""
    if difference.path != "compiled_with[0]":
        return NOT_COMPARED
    said = "clone.optimizer is not model.optimizer, 'the clone has the optimizer of the model'"
    return Comparison(said, how="assert")


def calls(difference: Difference, dialect: str) -> Comparison:
    """How many calls there are."""
    return Comparison(_COUNTED[dialect], sure=False) if dialect in _COUNTED else WHOLE_CONFIG


def call_order(difference: Difference, dialect: str) -> Comparison:
    """In which order a layer is called; in a run, by what it gives."""
    return RUN_ON_NUMBERS if difference.check == "outputs" else WHOLE_CONFIG


def arguments(difference: Difference, dialect: str) -> Comparison:
    """How many arguments each call has: of one that is lost, no config may tell.

    Of a model that is to be left as it was, all that differs in them.
    """
    side, _, leaf = difference.aspect.removeprefix("call.").partition(" ")
    if difference.check != "untouched" and (side != "args" or leaf not in ("missing", "extra")):
        return WHOLE_CONFIG
    if dialect not in _NODES or side not in ("args", "kwargs") or not difference.path.startswith("layers"):
        return WHOLE_CONFIG
    sure = leaf in ("missing", "extra") and "/" not in difference.path.partition("']")[0]
    return Comparison(_NODES[dialect].format("sorted" if side == "kwargs" else "len", side), sure)


def trainable(difference: Difference, dialect: str) -> Comparison:
    """Whether a layer is frozen."""
    layer = named(difference, dialect)
    return Comparison(f"{layer}.trainable") if layer else WHOLE_CONFIG


def names(difference: Difference, dialect: str) -> Comparison:
    """The names of the layers, inputs apart, which have names of their own."""
    its = kind_of(difference)
    if its == "InputLayer" and dialect == "keras":
        return input_names(difference, dialect)
    if re.fullmatch(r"layers\['[^'/]*'\]\.name", difference.path):
        if dialect != "keras":
            return Comparison("[each.name for each in {}.layers]")
        # What is no layer stands among the operations only.
        listed = "layers" if its in CATALOGUE else "operations"
        return Comparison(f"[each.name for each in {{}}.{listed} {_BUT_INPUTS}]")
    if difference.path.startswith("layers") and its in CATALOGUE and its != "InputLayer":
        return Comparison(f"[each.name for each in {{}}._flatten_layers() {_BUT_INPUTS}]")
    return WHOLE_CONFIG


def input_names(difference: Difference, dialect: str) -> Comparison:
    """The names of the model's inputs."""
    if dialect != "keras" or not named(difference, dialect):
        return WHOLE_CONFIG
    return Comparison("[each._keras_history.operation.name for each in {}.inputs]")


def ends(difference: Difference, dialect: str) -> Comparison:
    """Which layers the inputs of the original come from, once it was cloned."""
    if difference.check == "untouched" and difference.aspect == "input tensor":
        return Comparison("[id(each._keras_history[0]) for each in {}.inputs]")
    return WHOLE_CONFIG


def listed(difference: Difference, dialect: str) -> Comparison:
    """All that is told of each weight."""
    if not difference.aspect.startswith("weight"):
        return NOT_COMPARED
    name = "path" if dialect == "keras" else "name"
    return Comparison(f"[(each.{name}, tuple(each.shape), str(each.dtype), each.trainable) for each in {{}}.weights]")


def asked(difference: Difference, dialect: str) -> Comparison:
    """What a clone function was asked for."""
    return Comparison(_ASKED[difference.aspect], how="asked")


def nesting(difference: Difference, dialect: str) -> Comparison:
    """The nesting of what a model gives, or of what a model or a layer in it is declared to give."""
    if ".steps[" not in difference.path:
        return RUN
    name = difference.first.name if difference.first is not None else ""
    if dialect != "keras" or not name or "/" in name:
        return NOT_COMPARED
    return Comparison(f"keras.tree.map_structure(lambda each: 0, {{}}.get_layer({_written(name)}).output)", sure=False)


_COMPARISONS: Mapping[str, Comparison | Callable[[Difference, str], Comparison]] = {
    "": NOT_COMPARED,
    "apart": apart,
    "arguments": arguments,
    "asked": asked,
    "attribute": attribute,
    "call order": call_order,
    "calls": calls,
    "compiled": compiled,
    "config": WHOLE_CONFIG,
    "ends": ends,
    "input names": input_names,
    "is a model": Comparison(_IS_A_MODEL, how="assert"),
    "kept": Comparison("all(map(np.array_equal, clone.get_weights(), model.get_weights()))", how="kept"),
    "kind": kind,
    "kinds": kinds,
    "layers": layers,
    "listed": listed,
    "names": names,
    "nesting": nesting,
    "numbers": RUN_ON_NUMBERS,
    "optimizer": optimizer,
    "raises": Comparison(how="raises"),
    "run": RUN,
    "setting": setting,
    "trainable": trainable,
    "unreached": unreached,
    "variables": variables,
    "warns": Comparison(how="warns"),
    "weight values": Comparison("model.get_weights()", how="weights"),
}
"""By the name that the table of aspects has for it."""


def comparison(difference: Difference, dialect: str) -> Comparison:
    """What shows a difference; where two clones differ, nothing does."""
    found = _COMPARISONS[aspect_of(difference).shown if difference.check != "again" else ""]
    return found if isinstance(found, Comparison) else found(difference, dialect)
