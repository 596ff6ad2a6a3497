"""The classes of a package, a module or a file that have a config: what sort each is, and what its constructor takes.

Nothing is made here.
"""

from __future__ import annotations

import inspect
import re
from operator import attrgetter
from typing import Any, Iterator

from .capabilities import OTHERS, documents, parameters_of, said_parameter, words_of
from .frameworks.interface import Framework
from .other_layers import named

_SORTS = {
    "model": "Model",
    "layer": "layers.Layer",
    "loss": "losses.Loss",
    "metric": "metrics.Metric",
    "schedule": "optimizers.schedules.LearningRateSchedule",
    "optimizer": "optimizers.Optimizer",
    "initializer": "initializers.Initializer",
    "regularizer": "regularizers.Regularizer",
    "constraint": "constraints.Constraint",
}
"""By a base of its class, as Keras calls it, the first that it has."""
_SKIPPED = re.compile(r"_|src$|legacy$|backend$|wrappers$")
"""Modules that say nothing new."""


def audited_classes(target: str, framework: Framework) -> list[dict[str, Any]]:
    """The classes of a target, as `AuditedClass` declares them: each once, by the first of its names."""
    found: dict[int, dict[str, Any]] = {}
    for name, kind in _classes(target, set()):
        own = re.split("[.:]", name)[-1]
        if id(kind) not in found and (kind.__name__ == own or name == target):
            found[id(kind)] = dict(audited_class(kind, framework), name=name)
    return list(found.values())


def audited_class(kind: Any, framework: Framework) -> dict[str, Any]:
    """What there is to say of one class."""
    bases = {sort: attrgetter(path)(framework.keras) for sort, path in _SORTS.items()}
    sort = next((sort for sort, base in bases.items() if issubclass(kind, base)), "object")
    return {"name": kind.__name__, "sort": sort, "constructor": list(_constructor(kind, [*bases.values()]))}


def generation_of_target(target: str) -> str:
    """The generation that the classes of a target are of: "tf_keras" where one of them is, else "keras"."""
    return (
        "tf_keras" if any(generation_of_class(kind) == "tf_keras" for _, kind in _classes(target, set())) else "keras"
    )


def generation_of_class(kind: Any) -> str:
    """The generation that a class is of: "tf_keras" where it has a base there, else "keras"."""
    packages = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return "tf_keras" if "tf_keras" in packages else "keras"


def _classes(name: str, seen: set[str]) -> Iterator[tuple[str, Any]]:
    modules = []
    for path, each in named(name):
        if inspect.ismodule(each):
            if each.__name__.startswith(name + ".") and not _SKIPPED.match(path.rpartition(".")[2]):
                modules.append(path)
        elif isinstance(each, type) and callable(getattr(each, "get_config", None)) and hasattr(each, "from_config"):
            yield path, each
    for path in modules:
        if path not in seen:
            seen.add(path)
            yield from _classes(path, seen)


def _constructor(kind: Any, roots: list[Any]) -> Iterator[dict[str, Any]]:
    """The arguments that the constructor names, and those of the bases that it hands others on to.

    What a base within Keras takes is left out where the class does not document it.
    """
    seen: set[str] = set()
    said: set[str] = set()
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = parameters_of(base.__init__, 1) or []
        for parameter in parameters:
            name, inherited = parameter.name, base is not kind
            hidden = inherited and (parameter.default is parameter.empty or name in said)
            hidden = hidden or (inherited and _is_of_keras(base) and base not in roots and not documents(kind, name))
            if parameter.kind in OTHERS or name in seen or hidden or name.startswith("_"):
                continue
            seen.add(name)
            yield said_parameter(parameter)
        said |= words_of(base.__init__)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return


def _is_of_keras(kind: Any) -> bool:
    return kind.__module__.partition(".")[0] in ("keras", "tf_keras")
