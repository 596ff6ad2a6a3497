"""Faults that take the process with them, for testing what is left of a campaign then."""

from __future__ import annotations

import os
from typing import Any

from .. import TrialContext
from .rewiring import layers_of


def aborts(model: Any, clone: Any, context: TrialContext) -> None:
    """made: aborts on a layer that pools."""
    for layer in layers_of(model, context):
        if "Pooling" in type(layer).__name__:
            os.abort()
