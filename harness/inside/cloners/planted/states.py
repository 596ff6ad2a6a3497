"""Planted faults in what a clone owes to what was done to the model before it was cloned."""

from __future__ import annotations

from typing import Any

from .. import TrialContext


def state_not_compiled(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: the clone of a compiled model is not compiled."""
    if getattr(original, "compiled", False):
        clone.compiled = False


def state_compiled_otherwise(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: the clone is compiled without the loss."""
    if getattr(original, "compiled", False):
        clone.compile(optimizer=type(clone.optimizer).from_config(clone.optimizer.get_config()))


def state_optimizer_shared(original: Any, clone: Any, context: TrialContext) -> None:
    """own: the clone is compiled with the original's optimizer."""
    if getattr(original, "compiled", False):
        clone.optimizer = original.optimizer


def state_optimizer_stepped(original: Any, clone: Any, context: TrialContext) -> None:
    """untouched: the original's optimizer is a step on."""
    if getattr(original, "optimizer", None) is not None:
        original.optimizer.iterations.assign(original.optimizer.iterations + 1)
