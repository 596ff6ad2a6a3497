"""The classes of a package, a module or a file that have a config, and what the constructor of each takes.

Nothing is made here.
"""

from __future__ import annotations

import inspect
import re
from operator import attrgetter
from typing import Any

import msgspec

from ..observation import AuditedClass, Classes, Parameter
from .frameworks import framework
from .other_layers import named
from .signatures import OTHERS, as_data, documents, parameters_of, words_of

_BASES = attrgetter(
    *("layers.Layer", "losses.Loss", "metrics.Metric", "optimizers.Optimizer", "constraints.Constraint", "Model"),
    *("optimizers.schedules.LearningRateSchedule", "initializers.Initializer", "regularizers.Regularizer"),
)
"""The classes of Keras that others are made of."""
_SKIPPED = re.compile(r"_|src$|legacy$|backend$|wrappers$")
"""Modules that have other names of the same classes."""


def classes(target: str) -> Classes:
    """The classes with a config that a package, a module, a file or a name in one has."""
    kinds = _classes(target)
    generation = max((generation_of(kind) for _, kind in kinds), default="keras")
    keras = framework(generation).keras
    return Classes(generation, tuple(audited_class(name, kind, keras) for name, kind in kinds))


def _classes(target: str) -> list[tuple[str, Any]]:
    """The classes, each once, by the first of its names."""
    kinds: dict[int, tuple[str, Any]] = {}
    modules = [target]
    for module in modules:
        for name, thing in named(module):
            word = re.split("[.:]", name)[-1]
            if inspect.ismodule(thing):
                if thing.__name__.startswith(module + ".") and not _SKIPPED.match(word) and name not in modules:
                    modules.append(name)
            elif isinstance(thing, type) and hasattr(thing, "from_config") and word == thing.__name__:
                kinds.setdefault(id(thing), (name, thing))
    return list(kinds.values())


def audited_class(name: str, kind: Any, keras: Any) -> AuditedClass:
    """A class with the arguments that its constructor names, and those of the bases that it hands others on to.

    What a base within Keras takes is left out where the class does not document it.
    """
    parameters_by_name: dict[str, dict[str, Any]] = {}
    words: set[str] = set()
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = parameters_of(base.__init__, 1)
        of_keras = base.__module__.partition(".")[0] in ("keras", "tf_keras") and base not in _BASES(keras)
        for parameter in parameters:
            argument = parameter.name
            hidden = parameter.default is parameter.empty or argument in words
            hidden = base is not kind and (hidden or (of_keras and not documents(kind, argument)))
            if not (hidden or parameter.kind in OTHERS or argument.startswith("_")):
                parameters_by_name.setdefault(argument, as_data(parameter))
        words |= words_of(base.__init__)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    constructor = msgspec.convert(list(parameters_by_name.values()), tuple[Parameter, ...])
    return AuditedClass(name, issubclass(kind, keras.Model), constructor)


def generation_of(kind: Any) -> str:
    """The generation that a class is of: "tf_keras" where it has a base there, else "keras"."""
    return "tf_keras" if any(base.__module__.startswith("tf_keras.") for base in kind.__mro__) else "keras"
