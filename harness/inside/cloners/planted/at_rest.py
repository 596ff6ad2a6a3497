"""Faults in a clone at rest: names, flags, policies, variables. And in the original, which is not to be touched."""

from __future__ import annotations

from typing import Any

from .. import TrialContext
from .rewiring import layers_of


def trainable_forgotten(model: Any, clone: Any, context: TrialContext) -> None:
    """weights: lets every layer of the clone train, frozen or not."""
    for layer in [clone] + layers_of(clone, context):
        if not getattr(layer, "trainable", True):
            layer.trainable = True


def weights_copied(model: Any, clone: Any, context: TrialContext) -> None:
    """own: begins with the original's weights instead of fresh ones."""
    clone.set_weights(model.get_weights())


def layer_renamed(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: gives the last layer another name."""
    layer = context.framework.members(clone)[-1]
    if "_name" in vars(layer):
        layer._name = layer.name + "_clone"
    else:
        layer.name = layer.name + "_clone"


def policy_changed(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: lets layers with weights compute in half precision."""
    for layer in layers_of(clone, context):
        if getattr(layer, "weights", None) and not context.framework.is_graph(layer):
            context.framework.set_policy(layer, "mixed_float16")
            break


def masking_support_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: no layer without weights passes masks on."""
    for layer in layers_of(clone, context):
        if not getattr(layer, "weights", None) and getattr(layer, "supports_masking", False):
            if "Masking" not in type(layer).__name__ and not context.framework.is_graph(layer):
                layer.supports_masking = False


def setting_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: doubles every rate, size of a step or slope that a layer has, as if its config had lost it."""
    for layer in layers_of(clone, context):
        for name in ("rate", "stddev", "epsilon", "negative_slope", "momentum"):
            if type(getattr(layer, name, None)) is float:
                setattr(layer, name, getattr(layer, name) * 0.5)


def seed_shared(model: Any, clone: Any, context: TrialContext) -> None:
    """own: draws random numbers from the original's seed generator."""
    for ours, theirs in zip(layers_of(clone, context), layers_of(model, context)):
        for mine, original in zip(getattr(ours, "_seed_generators", ()), getattr(theirs, "_seed_generators", ())):
            mine.state = original.state


def original_frozen(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: freezes the last layer of the original that has weights."""
    for layer in reversed(layers_of(model, context)):
        if getattr(layer, "weights", None):
            layer.trainable = not layer.trainable
            break


def original_reset(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: sets the weights of the original to zero."""
    model.set_weights([weight * 0 for weight in model.get_weights()])
