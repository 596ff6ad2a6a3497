"""What is written of a graph."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WrittenGraph:
    """The script that leaves a graph's model in `model`, and what says how it is cloned.

    `arguments` has the expressions that `clone_model` is given, by their names. `asked` is the rest of a script that
    leaves the model that is then asked for in `model`, in the place of the one that is cloned. `builds` is the call by
    which a model that was cloned before it was built is built. `within` has the expressions of the scopes in which it
    is cloned.
    """

    source: str
    arguments: tuple[tuple[str, str], ...] = ()
    asked: str = ""
    builds: str = ""
    within: tuple[str, ...] = ()
