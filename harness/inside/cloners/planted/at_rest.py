"""Faults in a clone at rest: names, flags, policies, variables. And in the original, which is not to be touched."""

from __future__ import annotations

from typing import Any

from .. import TrialContext
from .rewiring import faithful, layers_of


def trainable_forgotten(model: Any, context: TrialContext) -> Any:
    """weights: lets every layer of the clone train, frozen or not."""
    clone = faithful(model, context)
    for layer in [clone] + layers_of(clone, context):
        if not getattr(layer, "trainable", True):
            layer.trainable = True
    return clone


def weights_copied(model: Any, context: TrialContext) -> Any:
    """own: begins with the original's weights instead of fresh ones."""
    clone = faithful(model, context)
    clone.set_weights(model.get_weights())
    return clone


def layer_renamed(model: Any, context: TrialContext) -> Any:
    """structure: gives the last layer another name."""
    clone = faithful(model, context)
    layer = context.framework.members(clone)[-1]
    if "_name" in vars(layer):
        layer._name = layer.name + "_clone"
    else:
        layer.name = layer.name + "_clone"
    return clone


def policy_changed(model: Any, context: TrialContext) -> Any:
    """structure: lets layers with weights compute in half precision."""
    clone = faithful(model, context)
    for layer in layers_of(clone, context):
        if getattr(layer, "weights", None) and not context.framework.is_graph(layer):
            context.framework.set_policy(layer, "mixed_float16")
            break
    return clone


def masking_support_lost(model: Any, context: TrialContext) -> Any:
    """structure: no layer without weights passes masks on."""
    clone = faithful(model, context)
    for layer in layers_of(clone, context):
        if not getattr(layer, "weights", None) and getattr(layer, "supports_masking", False):
            if "Masking" not in type(layer).__name__ and not context.framework.is_graph(layer):
                layer.supports_masking = False
    return clone


def setting_lost(model: Any, context: TrialContext) -> Any:
    """structure: doubles every rate, size of a step or slope that a layer has, as if its config had lost it."""
    clone = faithful(model, context)
    for layer in layers_of(clone, context):
        for name in ("rate", "stddev", "epsilon", "negative_slope", "momentum"):
            if type(getattr(layer, name, None)) is float:
                setattr(layer, name, getattr(layer, name) * 0.5)
    return clone


def seed_shared(model: Any, context: TrialContext) -> Any:
    """own: draws random numbers from the original's seed generator."""
    clone = faithful(model, context)
    for ours, theirs in zip(layers_of(clone, context), layers_of(model, context)):
        for mine, original in zip(getattr(ours, "_seed_generators", ()), getattr(theirs, "_seed_generators", ())):
            mine.state = original.state
    return clone


def original_frozen(model: Any, context: TrialContext) -> Any:
    """untouched: freezes the last layer of the original that has weights."""
    clone = faithful(model, context)
    for layer in reversed(layers_of(model, context)):
        if getattr(layer, "weights", None):
            layer.trainable = not layer.trainable
            break
    return clone


def original_reset(model: Any, context: TrialContext) -> Any:
    """untouched: sets the weights of the original to zero."""
    clone = faithful(model, context)
    model.set_weights([weight * 0 for weight in model.get_weights()])
    return clone


FAULTS = (
    trainable_forgotten,
    weights_copied,
    layer_renamed,
    policy_changed,
    masking_support_lost,
    setting_lost,
    seed_shared,
    original_frozen,
    original_reset,
)
