"""What is wrong with a clone, in words of the user's own model: the layer, the argument, both values, what it does."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator

from clonediff.harness.answers.folding import colliding, fact_name
from clonediff.harness.observation import Failure, Observation, Shape, Variable
from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.checks.places import full_name
from clonediff.harness.trials.triage import title
from clonediff.reports.records import COMPUTES, CRASHES, NAME, PROPERTY, TRAINS, Cause, Difference, Place, Severity

_HAPPENS: tuple[tuple[Severity, dict[str, str], str], ...] = (
    (CRASHES, {"check": "made"}, "cannot be cloned"),
    (CRASHES, {"change": "no clone"}, "{clone} cannot be made"),
    (CRASHES, {"run": ""}, "{clone} does not take the original's weights"),
    (CRASHES, {"run": "trained"}, "{clone} crashes when trained"),
    (CRASHES, {"run": "training"}, "{clone} crashes when called in training mode"),
    (CRASHES, {}, "{clone} crashes when called"),
    # Without a run it was not seen to compute anything else: whoever sets its weights, or calls it, meets it there.
    (COMPUTES, {"run": "", "change": "(clone|original) dependent"}, "{clone} computes with variables of the original"),
    (COMPUTES, {"run": "", "part": "state"}, "{clone} begins with another state"),
    (COMPUTES, {"run": "", "part": "weight|copied"}, "{clone} has other weights"),
    (COMPUTES, {"run": ""}, "{clone} has other inputs or outputs"),
    (COMPUTES, {"run": "training"}, "{clone} computes something else in training"),
    (COMPUTES, {}, "{clone} computes something else"),
    (TRAINS, {"aspect": "compiled"}, "{clone} is not compiled"),
    (TRAINS, {"check": "own"}, "{clone} shares objects with the original"),
    (TRAINS, {}, "{clone} trains differently"),
    (PROPERTY, {}, "{clone} differs in a property"),
    (NAME, {}, "{clone} has another name"),
)
"""What a difference does to whoever uses the clone: the first row whose patterns its fields match."""
_FACTS = ("config", "attribute", "compiled")
_FUNCTION = re.compile(r"function (\S+) [0-9a-f]+")
_DIGEST = re.compile(r"(array of .*): [0-9a-f]+")
_HASH = re.compile(r", [0-9a-f]{24}(?=\))")
_NOISE = re.compile(
    r"\x1b\[\d*m|^\s*Exception encountered when calling (?:layer )?.*$(?=\s*\S)"
    r"|(?s:\s*(?:(?:Call arguments|Arguments) received by |Full (?:object )?config:|[Cc]onfig[:=] ?\{).*)",
    re.MULTILINE,
)
"""What Keras puts around a message: colours, the call, configs."""
_LONG_DICT = re.compile(r"\{'.{80,}", re.DOTALL)
_NO_ATTRIBUTE = ("attribute", "nothing")
_LONGEST = 300
_MOST = 4


def happens(cause: Cause) -> str:
    """What a cause does to whoever uses the clone, as concretely as a run shows it."""
    worst = [one for one in cause.differences if one.severity is cause.severity] or [cause.root]
    one = next((one for one in worst if one.run), worst[0])
    if one.check == "untouched":
        return "cloning changes the original"
    clone = "a second clone" if one.check == "again" else "the clone"
    if cause.severity is COMPUTES and _is_seed(one):
        return f"{clone} draws other random numbers"
    if cause.severity is PROPERTY and fact_name(one).startswith("metrics"):
        return f"the metrics of {clone} have other settings"
    rows = ((fields, words) for severity, fields, words in _HAPPENS if severity is cause.severity)
    has = (words for fields, words in rows if all(re.fullmatch(fields[name], getattr(one, name)) for name in fields))
    return next(has).format(clone=clone)


def _is_seed(difference: Difference) -> bool:
    return difference.part == "state" and difference.expected.startswith(("random_position", "seed_generator"))


def named(place: Place | None) -> str:
    """A layer by its class and name; "" for the model."""
    return "" if place is None or not place.name or place.layer < 0 else f"{place.kind} `{place.name}`"


def sentence(cause: Cause, failure: Failure | None = None) -> str:
    """The cause itself, never what follows from it. `failure` is why there is no clone, in full."""
    root, layer = cause.root, named(cause.root.first)
    if names := colliding(cause):
        return f"the weights {' and '.join(names)} have one name in the clone"
    clone = "a second clone" if root.model == "again" else "the clone"
    text = re.sub("^A model(?= cannot)", "The model", title(cause, layer))
    if root.check == "sharing" and root.name.startswith("_compile_config"):
        return "One object that the model is compiled with twice is two objects in the clone"
    if root.raised is not None:
        if root.raised.frame.endswith(":compile_from_config"):
            text = "The model is compiled, and `clone_model` cannot compile the clone"
        return f"{text}: {root.raised.type}: {message_of(failure.message if failure else root.raised.message)}"
    if _is_seed(root):
        return f"{layer} has a seed in the model, and none in {clone}"
    if root.part in _FACTS and root.aspect != "compiled" and root.check != "untouched":
        compiled = aspect_of(root).role == "compiled"
        alike = [one for one in cause.differences if (one.part, one.first, one.run) == (root.part, root.first, "")]
        facts = dict.fromkeys(f"`{fact_name(one)}` {_sides(one, clone)}" for one in alike)
        return f"{'what the model is compiled with' if compiled else layer or 'the model'}: {_some(list(facts))}"
    text += f": {layer}" if layer not in text else ""
    values = (root.expected, root.found)
    in_words = any(value.lower() in ("", "true", "false", "nothing") for value in values) or root.digests
    if in_words or any(len(value) > _LONGEST // 3 or value.startswith(("{", "[{")) for value in values):
        return text
    return f"{text}: {root.expected} in the model, {root.found} in {clone}"


def _sides(root: Difference, clone: str) -> str:
    """Both values."""
    expected, found = (_HASH.sub("", _FUNCTION.sub(r"the function `\1`", side)) for side in (root.expected, root.found))
    of_arrays = _DIGEST.fullmatch(expected) and _DIGEST.fullmatch(found)
    if expected == found:
        return f"is {expected} in the model, and another one of that name in {clone}"
    if of_arrays:
        return f"holds other numbers in {clone}"
    lost = "missing" if found in ("nothing", "null") else found
    return f"is {'missing' if expected == 'nothing' else expected} in the model, {lost} in {clone}"


def effects(cause: Cause, original: Observation) -> Iterator[str]:
    """What follows from the cause for a user, the worst last."""
    shape, differences = original.shape, cause.differences
    if colliding(cause):
        yield "the clone cannot be saved as HDF5: `name already exists`"
    flags = [one for one in differences if (one.part, one.change) == ("weight", "trainable")]
    if flags and "trainable" in (cause.root.part, cause.root.change):
        word = "trains" if flags[0].found in ("true", "True") else "does not train"
        weights = (shape.weights[int(re.findall(r"\d+", one.within)[-1])] for one in flags)
        yield f"the clone {word} {_some([_variable(shape, weight) for weight in weights])}"
    for difference in differences:
        if (difference.part, difference.change) == ("weight", "order"):
            yield _reordered(shape, difference)
        elif difference.check == "weights" and difference.raised is not None and difference is not cause.root:
            message = message_of(difference.raised.message)
            yield f"clone.set_weights(model.get_weights()) raises {difference.raised.type}: {message}"
    attributes = [one for one in differences if (one.part, one.found) == _NO_ATTRIBUTE]
    lost = [_of_model(one) for one in attributes or differences if one in attributes or one.change == "missing"]
    if len(set(lost)) > 1:
        yield f"the clone lacks {_some(list(dict.fromkeys(lost)))}"
    if cause.root.part == "kind" and not named(cause.root.first):
        yield f"the clone has no methods and attributes of `{cause.root.expected}`, such as a `train_step`"
    refused = any(difference.check == "weights" and difference.raised is not None for difference in differences)
    if cause.severity <= TRAINS and cause.root.check not in ("made", "untouched") and not (flags or refused):
        yield happens(cause)
    if cause.root.name == "input_spec" and cause.root.expected == "None":
        yield "the clone takes only inputs of the size of its first call"


def _of_model(difference: Difference) -> str:
    if difference.part == "attribute":
        return f"`{named(difference.first) or 'model'}.{fact_name(difference)}`"
    return named(difference.first) if difference.part == "layer" else difference.expected.partition(" ")[0]


def _reordered(shape: Shape, difference: Difference) -> str:
    """In another order; and which weight `set_weights` gives the value of another one, where that has its shape."""
    order = json.loads(difference.found)
    pairs = ((shape.weights[index], shape.weights[other]) for index, other in enumerate(order) if index != other)
    alike = ((_variable(shape, ours), _variable(shape, other)) for ours, other in pairs if ours.shape == other.shape)
    swapped = next((f": set_weights gives {ours} the values of {other}" for ours, other in alike), "")
    return f"the weights of the clone come in another order{swapped}"


def _variable(shape: Shape, variable: Variable) -> str:
    """A weight by the layer that has it, and its name there."""
    return f"{full_name(shape, variable.owner)}/{variable.name.rpartition('/')[2].removesuffix(':0')}"


def _some(names: list[str]) -> str:
    rest = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {rest} more" if rest > 0 else "")


def message_of(text: str) -> str:
    """What an exception says, without the words around it and the configs in it: whole sentences, if there are any."""
    text = " ".join(_LONG_DICT.sub("{...}", _NOISE.sub("", text)).replace(" at 0x>", ">").split())
    sentences = re.match(rf".{{,{_LONGEST}}}$|.{{100,{_LONGEST}}}(?<=\.)(?= )", text)
    return sentences[0] if sentences else textwrap.shorten(text, _LONGEST, placeholder=" ...")
