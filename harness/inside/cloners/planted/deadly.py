"""Faults that take the process with them, for testing what is left of a campaign then."""

from __future__ import annotations

import os
from typing import Any

from .. import TrialContext
from .rewiring import faithful, layers_of


def aborts(model: Any, context: TrialContext) -> Any:
    """made: aborts on a layer that pools."""
    for layer in layers_of(model, context):
        if "Pooling" in type(layer).__name__:
            os.abort()
    return faithful(model, context)


FAULTS = (aborts,)
