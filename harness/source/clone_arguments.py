"""What `clone_model` is given, as a person would type it."""

from __future__ import annotations

MODEL = "model"
CALL_FUNCTION = "call_function"
CALLS_PLAINLY = f"def {CALL_FUNCTION}(layer, *args, **kwargs):\n    return layer(*args, **kwargs)\n"
"""The definition of a call function that changes nothing."""
