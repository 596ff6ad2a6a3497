"""Faults in a clone at rest: names, flags, policies, variables. And in the original, which is not to be touched."""

from __future__ import annotations

from typing import Any

from .. import Seat
from .rewiring import faithful, layers_of


def trainable_forgotten(model: Any, seat: Seat) -> Any:
    """weights: lets every layer of the clone train, frozen or not."""
    clone = faithful(model, seat)
    for layer in [clone] + layers_of(clone, seat):
        if not getattr(layer, "trainable", True):
            layer.trainable = True
    return clone


def weights_copied(model: Any, seat: Seat) -> Any:
    """own: begins with the original's weights instead of fresh ones."""
    clone = faithful(model, seat)
    clone.set_weights(model.get_weights())
    return clone


def layer_renamed(model: Any, seat: Seat) -> Any:
    """structure: gives the last layer another name."""
    clone = faithful(model, seat)
    layer = seat.framework.members(clone)[-1]
    if "_name" in vars(layer):
        layer._name = layer.name + "_clone"
    else:
        layer.name = layer.name + "_clone"
    return clone


def policy_changed(model: Any, seat: Seat) -> Any:
    """structure: lets layers with weights compute in half precision."""
    clone = faithful(model, seat)
    for layer in layers_of(clone, seat):
        if getattr(layer, "weights", None) and not seat.framework.is_graph(layer):
            seat.framework.set_policy(layer, "mixed_float16")
            break
    return clone


def masking_support_lost(model: Any, seat: Seat) -> Any:
    """structure: no layer without weights passes masks on."""
    clone = faithful(model, seat)
    for layer in layers_of(clone, seat):
        if not getattr(layer, "weights", None) and getattr(layer, "supports_masking", False):
            if "Masking" not in type(layer).__name__ and not seat.framework.is_graph(layer):
                layer.supports_masking = False
    return clone


def setting_lost(model: Any, seat: Seat) -> Any:
    """structure: doubles every rate, size of a step or slope that a layer has, as if its config had lost it."""
    clone = faithful(model, seat)
    for layer in layers_of(clone, seat):
        for name in ("rate", "stddev", "epsilon", "negative_slope", "momentum"):
            if type(getattr(layer, name, None)) is float:
                setattr(layer, name, getattr(layer, name) * 0.5)
    return clone


def seed_shared(model: Any, seat: Seat) -> Any:
    """own: draws random numbers from the original's seed generator."""
    clone = faithful(model, seat)
    for ours, theirs in zip(layers_of(clone, seat), layers_of(model, seat)):
        for mine, original in zip(getattr(ours, "_seed_generators", ()), getattr(theirs, "_seed_generators", ())):
            mine.state = original.state
    return clone


def original_frozen(model: Any, seat: Seat) -> Any:
    """untouched: freezes the last layer of the original that has weights."""
    clone = faithful(model, seat)
    for layer in reversed(layers_of(model, seat)):
        if getattr(layer, "weights", None):
            layer.trainable = not layer.trainable
            break
    return clone


def original_reset(model: Any, seat: Seat) -> Any:
    """untouched: sets the weights of the original to zero."""
    clone = faithful(model, seat)
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
