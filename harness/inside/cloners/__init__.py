"""Cloners by name: anything that takes a model and promises an equal one.

A cloner is called with a model and a `TrialContext`, which says which framework the model belongs to and which
classes and functions its source defines. A cloner of a downstream project is a plain function of the model.
A name with a colon in it stands for such a function, which `users` imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..frameworks.interface import Framework
from .users import function, is_users


class TrialContext:
    """What a cloner may know of its trial: the framework and the custom objects.

    `arguments` is what `clone_model` is given beside the model, made anew each time that it is asked for.
    """

    def __init__(
        self, framework: Framework, known: dict[str, Any], arguments: Callable[[], dict[str, Any]] = dict
    ) -> None:
        self.framework = framework
        self.known = known
        self.arguments = arguments


Cloner = Callable[[Any, TrialContext], Any]


def upstream(model: Any, context: TrialContext) -> Any:
    """The release's own `clone_model`, untouched."""
    return context.framework.keras.models.clone_model(model, **context.arguments())


def fixed(model: Any, context: TrialContext) -> Any:
    """Our fixed `clone_model` for the generation, imported here since it needs the Keras that is loaded."""
    from ...fixed import clone_model

    return clone_model(model, **context.arguments())


CLONERS: dict[str, Cloner] = {
    "upstream": upstream,
    "fixed": fixed,
}


def cloner(name: str) -> Cloner:
    """The cloner of that name."""
    if name in CLONERS:
        return CLONERS[name]
    if is_users(name):
        return as_cloner(function(name))
    raise KeyError("unknown cloner {!r}: choose one of {}".format(name, ", ".join(sorted(CLONERS))))


def as_cloner(function: Callable[..., Any]) -> Cloner:
    """A plain function of a model, and of what `clone_model` is given, as a cloner."""
    return lambda model, context: function(model, **context.arguments())


def chosen_cloners(names: Any) -> dict[str, Cloner]:
    """Cloners by name, of their names or of functions."""
    if isinstance(names, Mapping):
        return {name: as_cloner(value) if callable(value) else cloner(value) for name, value in names.items()}
    return {name: cloner(name) for name in names}


def clone_model_by(cloner: Cloner, context: TrialContext) -> Callable[..., Any]:
    """A cloner as the `clone_model` that a function of the script calls, with whatever arguments."""
    return lambda model, **options: cloner(model, TrialContext(context.framework, context.known, lambda: options))


def call_cloner(cloner: Cloner, model: Any, context: TrialContext) -> Any:
    """Call a cloner. The frames in a failure are those below this."""
    return cloner(model, context)
