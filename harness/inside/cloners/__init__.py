"""Cloners by name: functions that take a model, and what `clone_model` is given beside it, and promise an equal one.

A name with a colon in it stands for a function of a downstream project, which `users` imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clonediff.harness.inside.cloners.users import function, is_users
from clonediff.harness.inside.frameworks.interface import Framework

Cloner = Callable[..., Any]


def chosen_cloners(names: Any, framework: Framework) -> dict[str, Cloner]:
    """Cloners by name, of their names or of functions."""
    chosen = names if isinstance(names, Mapping) else {name: name for name in names}
    return {name: value if callable(value) else _cloner(value, framework) for name, value in chosen.items()}


def _cloner(name: str, framework: Framework) -> Cloner:
    if name == "upstream":
        cloner: Cloner = framework.keras.models.clone_model
        return cloner
    if name == "fixed":
        from clonediff.harness.fixed import clone_model  # it needs the Keras that is loaded

        return clone_model
    if is_users(name):
        return function(name)
    raise KeyError(f"unknown cloner {name!r}: choose one of fixed, upstream")


def call_cloner(cloner: Cloner, model: Any, arguments: dict[str, Any]) -> Any:
    """Call a cloner. The frames in a failure are those below this."""
    return cloner(model, **arguments)
