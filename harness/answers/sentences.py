"""Explain a cause to a user: the layer, the argument, both values, the consequences."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator

from clonediff.harness.answers.user_causes import colliding_names, fact_name
from clonediff.harness.observation import Failure, Observation, Structure, Variable
from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.checks.paths import full_name
from clonediff.harness.trials.triage import title
from clonediff.reports.records import CRASH, NAME, OUTPUT, PROPERTY, TRAINING, Cause, Difference, Place, Severity

_HEADLINES: tuple[tuple[Severity, dict[str, str], str], ...] = (
    (CRASH, {"check": "made"}, "cannot be cloned"),
    (CRASH, {"change": "no clone"}, "{clone} cannot be created"),
    (CRASH, {"run": ""}, "{clone} rejects the original's weights"),
    (CRASH, {"run": "trained"}, "{clone} crashes when trained"),
    (CRASH, {"run": "training"}, "{clone} crashes when called in training mode"),
    (CRASH, {}, "{clone} crashes when called"),
    # No run showed it: it shows when weights are set, or the clone is called.
    (OUTPUT, {"run": "", "change": "(clone|original) dependent"}, "{clone} uses variables of the original"),
    (OUTPUT, {"run": "", "part": "state"}, "{clone} starts with a different state"),
    (OUTPUT, {"run": "", "part": "weight|copied"}, "{clone} has different weights"),
    (OUTPUT, {"run": ""}, "{clone} has different inputs or outputs"),
    (OUTPUT, {"run": "training"}, "{clone} gives wrong outputs in training"),
    (OUTPUT, {}, "{clone} gives wrong outputs"),
    (TRAINING, {"aspect": "compiled"}, "{clone} is not compiled"),
    (TRAINING, {"check": "own"}, "{clone} shares objects with the original"),
    (TRAINING, {}, "{clone} trains differently"),
    (PROPERTY, {}, "{clone} differs in a property"),
    (NAME, {}, "{clone} has a different name"),
)
"""A severity, patterns for the fields of a difference, and its effect; the first match counts."""
_FACT_PARTS = ("config", "attribute", "compiled")
_FUNCTION = re.compile(r"function (\S+) [0-9a-f]+")
_DIGEST = re.compile(r"(array of .*): [0-9a-f]+")
_HASH = re.compile(r", [0-9a-f]{24}(?=\))")
_KERAS_ADDITIONS = re.compile(
    r"\x1b\[\d*m|^\s*Exception encountered when calling (?:layer )?.*$(?=\s*\S)"
    r"|(?s:\s*(?:(?:Call arguments|Arguments) received by |Full (?:object )?config:|[Cc]onfig[:=] ?\{).*)",
    re.MULTILINE,
)
"""Colours, call arguments and configs that Keras adds to messages."""
_LONG_DICT = re.compile(r"\{'.{80,}", re.DOTALL)
_NO_ATTRIBUTE = ("attribute", "nothing")
_MAX_LENGTH = 300
_MAX_LISTED = 4


def headline(cause: Cause) -> str:
    """The worst effect of a cause on the user, in a few words."""
    items = [item for item in cause.differences if item.severity is cause.severity] or [cause.root]
    difference = next((item for item in items if item.run), items[0])
    if difference.check == "untouched":
        return "cloning changes the original"
    clone = "a second clone" if difference.check == "again" else "the clone"
    if cause.severity is OUTPUT and _is_about_seed(difference):
        return f"{clone} draws different random numbers"
    if cause.severity is PROPERTY and fact_name(difference).startswith("metrics"):
        return f"the metrics of {clone} have different settings"
    return next(
        text.format(clone=clone)
        for severity, patterns, text in _HEADLINES
        if severity is cause.severity
        and all(re.fullmatch(pattern, getattr(difference, field)) for field, pattern in patterns.items())
    )


def _is_about_seed(difference: Difference) -> bool:
    return difference.part == "state" and difference.expected.startswith(("random_position", "seed_generator"))


def layer_name(place: Place | None) -> str:
    """The class and the name of a layer; "" for the model."""
    return "" if place is None or not place.name or place.layer < 0 else f"{place.kind} `{place.name}`"


def sentence(cause: Cause, failure: Failure | None = None) -> str:
    """A cause's root as a sentence; without a clone, `failure` is the exception."""
    root, layer = cause.root, layer_name(cause.root.first)
    if names := colliding_names(cause):
        return f"the weights {' and '.join(names)} have the same name in the clone"
    clone = "a second clone" if root.model == "again" else "the clone"
    text = re.sub("^A model(?= cannot)", "The model", title(cause, layer))
    if root.check == "sharing" and root.name.startswith("_compile_config"):
        return "An object that was passed to `compile` twice is two objects in the clone"
    if root.raised is not None:
        if root.raised.frame.endswith(":compile_from_config"):
            text = "`clone_model` cannot compile the clone"
        return f"{text}: {root.raised.type}: {message_of(failure.message if failure else root.raised.message)}"
    if _is_about_seed(root):
        return f"{layer} has a seed in the model but not in {clone}"
    if root.part in _FACT_PARTS and root.aspect != "compiled" and root.check != "untouched":
        is_compiled = aspect_of(root).role == "compiled"
        items = [item for item in cause.differences if (item.part, item.first, item.run) == (root.part, root.first, "")]
        facts = dict.fromkeys(f"`{fact_name(item)}` {_values_text(item, clone)}" for item in items)
        return f"{'compile settings' if is_compiled else layer or 'the model'}: {_enumeration(list(facts))}"
    text += f": {layer}" if layer not in text else ""
    values = (root.expected, root.found)
    has_no_values = any(value.lower() in ("", "true", "false", "nothing") for value in values) or root.digests
    if has_no_values or any(len(value) > _MAX_LENGTH // 3 or value.startswith(("{", "[{")) for value in values):
        return text
    return f"{text}: {root.expected} in the model, {root.found} in {clone}"


def _values_text(difference: Difference, clone: str) -> str:
    values = (difference.expected, difference.found)
    expected, found = (_HASH.sub("", _FUNCTION.sub(r"the function `\1`", value)) for value in values)
    if expected == found:
        return f"is {expected} in the model, and another object of that name in {clone}"
    if _DIGEST.fullmatch(expected) and _DIGEST.fullmatch(found):
        return f"holds different numbers in {clone}"
    lost = "missing" if found in ("nothing", "null") else found
    return f"is {'missing' if expected == 'nothing' else expected} in the model, {lost} in {clone}"


def consequences(cause: Cause, original: Observation) -> Iterator[str]:
    """Yield the consequences of a cause for a user, the worst last."""
    model, differences = original.structure, cause.differences
    if colliding_names(cause):
        yield "the clone cannot be saved as HDF5: `name already exists`"
    flags = [item for item in differences if (item.part, item.change) == ("weight", "trainable")]
    if flags and "trainable" in (cause.root.part, cause.root.change):
        verb = "trains" if flags[0].found in ("true", "True") else "does not train"
        weights = (model.weights[int(re.findall(r"\d+", item.location)[-1])] for item in flags)
        yield f"the clone {verb} {_enumeration([_variable_name(model, weight) for weight in weights])}"
    for difference in differences:
        if (difference.part, difference.change) == ("weight", "order"):
            yield _order_sentence(model, difference)
        elif difference.check == "weights" and difference.raised is not None and difference is not cause.root:
            message = message_of(difference.raised.message)
            yield f"clone.set_weights(model.get_weights()) raises {difference.raised.type}: {message}"
    attributes = [item for item in differences if (item.part, item.found) == _NO_ATTRIBUTE]
    missing = attributes or [item for item in differences if item.change == "missing"]
    lost_parts = list(dict.fromkeys(map(_lost_part, missing)))
    if len(lost_parts) > 1:
        yield f"the clone lacks {_enumeration(lost_parts)}"
    if cause.root.part == "kind" and not layer_name(cause.root.first):
        yield f"the clone lacks the methods and attributes of `{cause.root.expected}`, such as a `train_step`"
    is_refused = any(difference.check == "weights" and difference.raised is not None for difference in differences)
    if cause.severity <= TRAINING and cause.root.check not in ("made", "untouched") and not (flags or is_refused):
        yield headline(cause)
    if cause.root.name == "input_spec" and cause.root.expected == "None":
        yield "the clone accepts only inputs of the size of the model's first call"


def _lost_part(difference: Difference) -> str:
    if difference.part == "attribute":
        return f"`{layer_name(difference.first) or 'model'}.{fact_name(difference)}`"
    return layer_name(difference.first) if difference.part == "layer" else difference.expected.partition(" ")[0]


def _order_sentence(model: Structure, difference: Difference) -> str:
    order = json.loads(difference.found)
    pairs = ((model.weights[index], model.weights[other]) for index, other in enumerate(order) if index != other)
    swapped = ((_variable_name(model, old), _variable_name(model, new)) for old, new in pairs if old.shape == new.shape)
    example = next((f": set_weights assigns the values of {new} to {old}" for old, new in swapped), "")
    return f"the clone lists its weights in a different order{example}"


def _variable_name(model: Structure, variable: Variable) -> str:
    """The name of a weight, after the name of its layer."""
    return f"{full_name(model, variable.owner)}/{variable.name.rpartition('/')[2].removesuffix(':0')}"


def _enumeration(names: list[str]) -> str:
    count = len(names) - _MAX_LISTED
    return ", ".join(names[:_MAX_LISTED]) + (f" and {count} more" if count > 0 else "")


def message_of(text: str) -> str:
    """The first sentences of a message, without `_KERAS_ADDITIONS`."""
    text = " ".join(_LONG_DICT.sub("{...}", _KERAS_ADDITIONS.sub("", text)).replace(" at 0x>", ">").split())
    sentences = re.match(rf".{{,{_MAX_LENGTH}}}$|.{{100,{_MAX_LENGTH}}}(?<=\.)(?= )", text)
    return sentences[0] if sentences else textwrap.shorten(text, _MAX_LENGTH, placeholder=" ...")
