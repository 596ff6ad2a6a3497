"""Finds cloners by name: functions from a model and arguments to a clone.

A name with a colon names a user's function, which the module `users` imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clonediff.harness.inside.cloners.users import import_cloner, is_users_cloner
from clonediff.harness.inside.frameworks.interface import Framework

Cloner = Callable[..., Any]


def chosen_cloners(names: Any, framework: Framework) -> dict[str, Cloner]:
    """The cloners to call, by name; `names` may map a name to a function."""
    chosen = names if isinstance(names, Mapping) else {name: name for name in names}
    return {name: value if callable(value) else _cloner(value, framework) for name, value in chosen.items()}


def _cloner(name: str, framework: Framework) -> Any:
    if name == "upstream":
        return framework.keras.models.clone_model
    if name == "fixed":
        from clonediff.harness.fixed import clone_model  # importing it imports TensorFlow

        return clone_model
    if is_users_cloner(name):
        return import_cloner(name)
    raise KeyError(f"unknown cloner {name!r}: choose fixed or upstream")


def call_cloner(cloner: Cloner, model: Any, arguments: dict[str, Any]) -> Any:
    """Call a cloner. A failure has the frames below this function."""
    return cloner(model, **arguments)
