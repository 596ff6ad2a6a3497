"""Planted faults in what `clone_model` does with its other arguments."""

from __future__ import annotations

from typing import Any

from .. import TrialContext


def way_input_tensors(model: Any, context: TrialContext) -> Any:
    """structure: the clone is built upon inputs of its own, whatever tensors it is given."""
    return _without(model, context, "input_tensors")


def way_clone_function(model: Any, context: TrialContext) -> Any:
    """structure: layers are made from their configs, whatever the clone function would give."""
    return _without(model, context, "clone_function")


def way_call_function(model: Any, context: TrialContext) -> Any:
    """structure: layers are called plainly, whatever the call function would do."""
    return _without(model, context, "call_function")


def way_recursive(model: Any, context: TrialContext) -> Any:
    """structure: a model within the model is asked for as one layer."""
    return _without(model, context, "recursive")


def _without(model: Any, context: TrialContext, name: str) -> Any:
    given = context.arguments()
    given.pop(name, None)
    return context.framework.fixed()(model, **given)
