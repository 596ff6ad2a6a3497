"""Compares settings, `compile` arguments and attributes, at any depth.

The check `structure` reports values that differ; the check `sharing` reports attributes that share an object.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from clonediff.harness.observation import NO_LAYER, Fact, LayerRecord, Structure, is_same_fact
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.aspects import Aspect, ComparisonName, Role, find_row
from clonediff.harness.trials.checks.paths import is_within, path_of, place
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import NAME, PROPERTY, TRAINING, Difference, Part, Severity


def _row(comparison: ComparisonName, names: str, role: Role, severity: Severity, **fields: Any) -> Aspect:
    part: Part = "config" if comparison == "setting" else "attribute"
    sentence = fields.pop("sentence", f"the {comparison} {{name}} of {{a}} is {{how}}{{inside}}")
    return Aspect("structure", role, severity, part, "", sentence, comparison, names=names, **fields)


_setting = functools.partial(_row, "setting")
_attribute = functools.partial(_row, "attribute")
_compiled = functools.partial(Aspect, "structure", "compiled", TRAINING, "compiled", "", comparison="compiled")
_OPTION_TITLE = "{a} that is {was}{name} is {now}{name}{inside}"
_DTYPE_NAMES = "dtype|compute_dtype|variable_dtype|dtype_policy*"
SETTINGS = (
    _setting("optional", "quiet", PROPERTY, sentence=_OPTION_TITLE, shared_name="config.sparse"),
    _setting("ragged|sparse", "chosen", PROPERTY, sentence=_OPTION_TITLE, shared_name="config.sparse"),
    _setting("activity_regularizer", "chosen", TRAINING, any_layer=True),
    _setting("*_regularizer|*_constraint", "chosen", TRAINING),
    _setting("vocabulary_size", "chosen", PROPERTY, any_layer=True, shared_name="attribute.vocabulary"),
    _setting("dtype", "chosen", PROPERTY, any_layer=True, topic="dtype"),
    _setting("autocast", "chosen", PROPERTY, any_layer=True, topic="autocast"),
    _setting("batch_input_shape|dynamic|quantization_config", "chosen", PROPERTY, any_layer=True),
    _setting("*trainable", "chosen", PROPERTY, topic="flag"),
    _setting("*", "chosen", PROPERTY),
    _compiled("a model that is {was}compiled is {now}compiled{inside}"),
    _compiled("a compile argument of a model is {how}{inside}: {name}", any_layer=True, names="*"),
    _attribute("autocast|_autocast", "derived", PROPERTY, any_layer=True, topic="autocast"),
    _attribute(_DTYPE_NAMES, "derived", PROPERTY, any_layer=True, topic="dtype", shared_name="attribute.dtype_policy"),
)
"""Rows whose differences explain differences of other rows in a layer."""
_COMPILE_NAMES = "compiled_*|jit_compile|loss|loss.*|metrics*|optimizer*|run_eagerly|steps_*"
_TENSOR_NAMES = "input|inputs|input_shape|input_spec*|output|outputs|output_shape"
ATTRIBUTES = (
    _attribute("supports_masking|vocabulary|use_cudnn", "derived", PROPERTY, any_layer=True),
    _attribute("path", "derived", NAME, sentence="{a} has another path{inside}", any_layer=True),
    _attribute(_TENSOR_NAMES, "quiet", PROPERTY, any_layer=True, topic="ends"),
    _attribute("batch_*|losses", "quiet", PROPERTY, any_layer=True),
    _attribute(_COMPILE_NAMES, "compiled", PROPERTY),
    _attribute("_compile_config*", "compiled", TRAINING),
    _attribute("input*|output*", "derived", PROPERTY, topic="ends"),
    _attribute("*trainable*", "derived", PROPERTY, topic="flag"),
    _attribute("*", "derived", PROPERTY),
)
_SHARED_TITLE = "{a} shares {name} in only one of the two models"
SHARED_ATTRIBUTE = Aspect("sharing", "chosen", PROPERTY, ("unshared", "merged"), "", _SHARED_TITLE, "", True, "*")

INDEX = re.compile(r"\[(?:'[^']*'|\"[^\"]*\"|[^\[\]'\"]*)\]")

_CALL_ATTRIBUTES = ("input", "output", "input_shape", "output_shape", "losses", "updates", "state_updates")
"""Attributes that also depend on calls outside the graph."""
_SPECS = ("input_spec", "state_spec", "constants_spec")
"""Further attributes of layers that depend on such calls."""
_FALSE_IF_MISSING = ("is_awq_calibrated", "is_gptq_calibrated")
"""Attributes that Keras sets when it loads weights; a missing one counts as False."""
_WEIGHT_ATTRIBUTES = ("is_adapted", "bin_boundaries")
"""Attributes that the comparison of weights, or of configs, covers."""
_MODEL_ATTRIBUTES = (
    *("input_names", "output_names"),  # compared with the inputs and outputs
    *("history", "train_function", "train_tf_function", "test_function", "predict_function"),
    *("stop_training", "stop_evaluating", "stop_predicting"),
)
"""Attributes that are compared elsewhere, or that training or prediction sets."""
_INPUT_ATTRIBUTES = ("is_placeholder", "batch_size")
"""Attributes that record how an input was created; a clone has new inputs."""

_Key = tuple[Part, str]
"""A part (config, `compile` arguments or attributes), and the path in it."""
_TRAINABLE: _Key = ("config", "trainable")
_NO_CONFIG: _Key = ("config", "get_config")
"""The key of the only fact about a config that cannot be read."""
_MISSING = Fact(MISSING)


class _UnequalFacts(NamedTuple):
    """A fact of a layer, or the model (-1), that differs."""

    layer: int
    part: Part
    path: str
    expected: Fact
    found: Fact

    @property
    def name(self) -> str:
        """The path without indices and keys: "kernel_initializer.seed"."""
        return INDEX.sub("", self.path)

    def difference(self, pair: Pair, row: Aspect, expected: str, found: str, **fields: Any) -> Difference:
        original = pair.structures[0]
        path = ".".join(filter(None, (path_of(original, self.layer), self.part, self.path)))
        expression = f".{self.path}" if self.part == "attribute" else self.path
        return row.difference(path, expected, found, place(original, self.layer), expression=expression, **fields)


def check_facts(pair: Pair) -> Iterator[Difference]:
    for mismatch in _mismatches(pair):
        expected, found = mismatch.expected, mismatch.found
        if not (expected.first_place or found.first_place):
            row = find_row((*SETTINGS, *ATTRIBUTES), mismatch.part, "", mismatch.name)
            yield mismatch.difference(pair, row, *_texts(pair, expected, found), part=mismatch.part, name=mismatch.name)


def check_shared_facts(pair: Pair) -> Iterator[Difference]:
    for mismatch in _mismatches(pair):
        expected, found = mismatch.expected, mismatch.found
        if _MISSING not in (expected, found) and (expected.first_place or found.first_place):
            part: Part = "unshared" if expected.first_place else "merged"
            facts = expected, found
            texts = [_describe(pair, fact, fact) if fact.first_place else "one of its own" for fact in facts]
            yield mismatch.difference(pair, SHARED_ATTRIBUTE, *texts, part=part, name=mismatch.name)


def _texts(pair: Pair, expected: Fact, found: Fact) -> tuple[str, str]:
    """Texts of two facts; if equal, the second begins with "another"."""
    texts = _describe(pair, expected, found), _describe(pair, found, expected)
    return texts if texts[0] != texts[1] else (texts[0], f"another {texts[1]}")


def _describe(pair: Pair, fact: Fact, other: Fact) -> str:
    model = pair.structures[0]
    if fact.first_place is not None:
        return f"the same as {path_of(model, fact.first_place[0])}{fact.first_place[1]}"
    if fact.layer is not None and other.layer is not None and fact.layer > NO_LAYER:
        return path_of(model, fact.layer)
    if fact.variable is not None and other.variable is not None and fact.variable > NO_LAYER:
        states = fact.variable - len(model.weights)
        return f"weights[{fact.variable}]" if states < 0 else f"states[{states}]"
    if fact.tensor is not None and other.tensor is not None and fact.tensor[0] > NO_LAYER:
        return pair.tensor_name(fact.tensor)
    return fact.text


@functools.lru_cache(maxsize=4)
def _mismatches(pair: Pair) -> tuple[_UnequalFacts, ...]:
    """All facts that differ, cached for several checks."""
    original, clone = pair.structures
    mismatches = list(_mismatches_of(pair, -1, original, clone))
    for index, counterpart_index in pair.layers.pairs:
        layer, counterpart = original.layers[index], clone.layers[counterpart_index]
        if layer.kind == counterpart.kind:
            mismatches += _mismatches_of(pair, index, layer, counterpart)
    return tuple(mismatches)


def _mismatches_of(
    pair: Pair, index: int, layer: LayerRecord | Structure, counterpart: LayerRecord | Structure
) -> Iterator[_UnequalFacts]:
    """The outermost facts of a layer or model that differ."""
    expected, found = _settings(layer), _settings(counterpart)
    if layer.attributes and counterpart.attributes and layer.kind == counterpart.kind:
        expected |= _facts_by_key("attribute", layer.attributes)
        found |= _facts_by_key("attribute", {path: _align(fact, pair) for path, fact in counterpart.attributes.items()})
    ignored = [*_ignored_attributes(layer)]
    if not (_has_all_calls(layer) and _has_all_calls(counterpart)):
        ignored += (*_CALL_ATTRIBUTES, *(_SPECS if index >= 0 else ()))
    excluded = [_TRAINABLE, *(("attribute", path) for path in ignored)]
    if _NO_CONFIG in expected.keys() ^ found.keys():
        excluded += [key for key in (*expected, *found) if key[0] == "config" and key != _NO_CONFIG]
    for key in sorted({*expected, *found}) if expected != found else ():
        facts = expected.get(key, _MISSING), found.get(key, _MISSING)
        part, path = key
        if is_same_fact(*facts) or any(part == outer_part and is_within(path, outer) for outer_part, outer in excluded):
            continue
        excluded.append(key)
        if not (path in _FALSE_IF_MISSING and {fact.text for fact in facts} == {"False", MISSING}):
            yield _UnequalFacts(index, part, path, *facts)


def _ignored_attributes(layer: LayerRecord | Structure) -> tuple[str, ...]:
    """The attributes that may differ, or are compared elsewhere."""
    if isinstance(layer, Structure) or layer.is_model:
        return _MODEL_ATTRIBUTES
    if layer.is_custom:
        return ()
    return (*_WEIGHT_ATTRIBUTES, *(_INPUT_ATTRIBUTES if layer.kind == "InputLayer" else ()))


def _align(fact: Fact, pair: Pair) -> Fact:
    """Replace the clone's indices in a fact by the original's; an index without counterpart is below `NO_LAYER`."""
    if fact.references == (None, None, None, None) and not fact.layer_names:
        return fact
    layers, variables = pair.original_layers, pair.original_variables

    def original_index(numbers: dict[int, int], number: int) -> int:
        return numbers.get(number, NO_LAYER - 1 - number)

    first = fact.first_place
    return replace(
        fact,
        layer=None if fact.layer is None else original_index(layers, fact.layer),
        variable=None if fact.variable is None else original_index(variables, fact.variable),
        tensor=None if fact.tensor is None else pair.original_tensor(fact.tensor),
        first_place=None if first is None else (original_index(layers, first[0]), first[1]),
        layer_names=tuple((stem, layers.get(number, NO_LAYER)) for stem, number in fact.layer_names),
    )


def _settings(layer: LayerRecord | Structure) -> dict[_Key, Fact]:
    """The config and state of a layer, or the `compile` arguments of a model."""
    if isinstance(layer, Structure):
        is_compiled = Fact(str(layer.compiled is not None).lower())
        compiled = {name: Fact(text) for name, text in (layer.compiled or {}).items()}
        return {("compiled", ""): is_compiled, **_facts_by_key("compiled", compiled)}
    facts = {name: Fact(text) for name, text in layer.config.items()}
    attributes = {name: fact for name, fact in facts.items() if name.startswith(".")}
    settings = {name: fact for name, fact in facts.items() if name not in attributes}
    return {**_facts_by_key("config", settings), **_facts_by_key("attribute", attributes)}


def _facts_by_key(part: Part, facts: dict[str, Fact]) -> dict[_Key, Fact]:
    return {(part, name.removeprefix(".")): fact for name, fact in facts.items()}


def _has_all_calls(layer: LayerRecord | Structure) -> bool:
    """Whether all calls of a layer are in this model; False for the model."""
    return isinstance(layer, LayerRecord) and layer.node_counts[0] == len(layer.calls)
