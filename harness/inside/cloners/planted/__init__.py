"""Cloners that are broken on purpose, for testing the checks, and shrinking, against.

Each begins with a clone by our fixed cloner and breaks one thing in it, wherever the model has that thing; on a model
that has it nowhere, the clone is faithful. The first line of each says which check must catch it.
"""

from __future__ import annotations

from typing import Any, Callable

from . import at_rest, behaviour, deadly, graph

_CAUGHT: dict[str, Callable[[Any, Any], Any]] = {
    fault.__name__: fault for module in (graph, behaviour, at_rest) for fault in module.FAULTS
}

PLANTED: dict[str, Callable[[Any, Any], Any]] = {**_CAUGHT, **{fault.__name__: fault for fault in deadly.FAULTS}}
"""The planted faults by name."""

CAUGHT_BY: dict[str, str] = {name: (fault.__doc__ or "").split(":", 1)[0] for name, fault in _CAUGHT.items()}
"""The check that must catch each of them, as its first line says; the deadly ones leave nothing to check."""
