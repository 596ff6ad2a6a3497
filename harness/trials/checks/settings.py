"""The settings of a layer: its config, and what it has learned. A part of the check of structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from clonediff.harness.subjects.observation import LayerSeen
from clonediff.harness.trials.checks import holdings
from clonediff.harness.trials.checks.check import Aspects, Comparison, loses, trains
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Spread, Thing, Turn
from clonediff.harness.trials.checks.places import named
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Place

_TOLD_ELSEWHERE = frozenset(["name", "trainable", "build_config", "compile_config"])
_BUILT_ON = frozenset(["query_shape", "key_shape", "value_shape"])
"""Shapes that a layer was built on, which its calls tell as well: a clone on other inputs is built from the config."""
_OF_THE_GRAPH = frozenset(["layers", "input_layers", "output_layers", "build_input_shape"])

WHOLE_CONFIG = Comparison("{}.get_config()", sure=False)
"""What is compared where nothing tells a difference alone."""

_NO_PLAIN_DATA = ("activity_regularizer", "function", "mask", "output_shape")
"""Settings whose attribute is compared, since the config has only a description of it."""


def _config(difference: Difference, dialect: str) -> Comparison:
    """A setting of a layer, as its config has it."""
    layer = named(difference, dialect)
    found = re.fullmatch(r"layers\['[^']*'\]\.config\.(\w+)", difference.path)
    if found is None or difference.first is None or not layer:
        return WHOLE_CONFIG
    setting = found[1]
    if setting in _NO_PLAIN_DATA:
        attribute = f"{layer}.{'_output_shape' if setting == 'output_shape' else setting}"
        if all(told.startswith("function ") for told in (difference.expected, difference.found)):
            return Comparison(f"{attribute}.__code__")
        return Comparison(f"type({attribute})", sure=False)
    if difference.first.kind == "InputLayer":
        # By its tensor: the clone may have another name for it.
        told = f"each._keras_history[0].get_config().get({json.dumps(setting)})"
        return Comparison(f"[{told} for each in {{}}.inputs]")
    return Comparison(f"{layer}.get_config().get({json.dumps(setting)})")


_SETTING = "the setting {name} of {a} is {change}{inside}"
_OF_ALL_INPUTS = {"InputLayer": ("config.sparse", "InputLayer")}
"""The options of an input are lost together, where a clone gets inputs of its own."""

_CHANGES_RESULTS: dict[str, Any] = {
    "changes": (Thing.SETTINGS, Thing.CONTENT, Thing.RESULTS, Thing.BUILD),
    "shows": (Thing.CONTENT,),
    "turn": Turn.SETTINGS,
    "shown": _config,
}
_CHANGES_TRAINING = {**_CHANGES_RESULTS, "changes": (Thing.SETTINGS, Thing.CONTENT)}
_OF_ANY_LAYER = ("config.autocast", "config.dtype", "config.dynamic", "config.quantization_config")

ASPECTS = Aspects(
    "structure",
    loses(("config.optional", holdings.OPTION), quiet=True, same_as=_OF_ALL_INPUTS, **_CHANGES_RESULTS),
    loses(("config.ragged", holdings.OPTION), same_as=_OF_ALL_INPUTS, **_CHANGES_RESULTS),
    loses(("config.sparse", holdings.OPTION), **_CHANGES_RESULTS),
    loses(
        ("config.batch_input_shape", _SETTING),
        same_as={"InputLayer": ("name", "InputLayer")},
        any_layer=True,
        **_CHANGES_RESULTS,
    ),
    loses(
        ("config.vocabulary_size", _SETTING),
        same_as={"": ("attribute.vocabulary", "")},
        any_layer=True,
        **_CHANGES_RESULTS,
    ),
    loses(*((name, _SETTING) for name in _OF_ANY_LAYER), any_layer=True, **_CHANGES_RESULTS),
    trains(("config.activity_regularizer", _SETTING), any_layer=True, **_CHANGES_TRAINING),
    trains(("config.*_regularizer", _SETTING), ("config.*_constraint", _SETTING), **_CHANGES_TRAINING),
    loses(("config.*", _SETTING), **_CHANGES_RESULTS),
)


def _is_of_a_mask(cause: Difference, effect: Difference, flow: Flow) -> bool:
    return effect.path.endswith("['mask']")


def _is_written_uncast(cause: Difference, effect: Difference, flow: Flow) -> bool:
    no_mask = effect.path.endswith("['mask']") and {effect.expected, effect.found} == {MISSING, "null"}
    return no_mask or effect.path.endswith("['training']")


def _is_drawn(cause: Difference, effect: Difference, flow: Flow) -> bool:
    return effect.check in ("outputs", "masks") and effect.path.startswith("training")


def _is_a_loss_of_weights(cause: Difference, effect: Difference, flow: Flow) -> bool:
    frame = effect.raised.frame if effect.raised is not None else ""
    return cause.aspect != "config.activity_regularizer" and frame.endswith(":_loss_for_variable")


LINKS = (
    # `tf_keras` writes what a mask is into several settings.
    Link("config.mask", "config.mask_*", Spread.HERE),
    # Keras calls a model with the masks of its inputs, and a Sequential its layers with the masks before them.
    Link("config.mask|attribute.supports_masking", "call.kwargs*", Spread.DOWNSTREAM, _is_of_a_mask),
    # Keras 3 writes down `training`, or that there is no mask, only where it casts no tensor.
    Link("config.dtype|attribute.autocast|attribute.*dtype*", "call.kwargs*", Spread.DOWNSTREAM, _is_written_uncast),
    # Operations give what they are called on.
    *(Link(f"config.{option}", f"output {option}", Spread.DOWNSTREAM) for option in holdings.OPTIONS),
    # What can be left out in the original cannot in the clone.
    Link("config.optional|input optional", "*raises", Spread.ANYWHERE, lambda _, effect, flow: "None" in effect.found),
    # A layer without a seed takes one from the framework, and the next layer gets another.
    Link("*.seed", "*", Spread.ANYWHERE, _is_drawn),
    # The config of what holds a layer has the config of that layer.
    Link("config.*_regularizer|config.*_constraint", "config.*", Spread.OUTWARDS),
    # What cannot be called as a regularizer fails where losses of weights are added.
    Link("config.*_regularizer", "raises", Spread.ANYWHERE, _is_a_loss_of_weights),
)


def settings(layer: LayerSeen, twin: LayerSeen, first: Place, path: str) -> Iterator[Difference]:
    """Every setting of a layer that is another in the clone."""
    passed_over = _TOLD_ELSEWHERE | _OF_THE_GRAPH if "layers" in layer.config else _TOLD_ELSEWHERE
    if layer.kind == "MultiHeadAttention":
        passed_over |= _BUILT_ON
    for key in dict.fromkeys((*layer.config, *twin.config)):
        want, have = layer.config.get(key, MISSING), twin.config.get(key, MISSING)
        if want != have and key not in passed_over:
            if key.startswith("."):
                yield holdings.ATTRIBUTES.differs(f"attribute{key}", f"{path}.attribute{key}", want, have, first)
            else:
                yield ASPECTS.differs(f"config.{key}", f"{path}.config.{key}", want, have, first)
