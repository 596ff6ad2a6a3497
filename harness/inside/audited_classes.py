"""The classes of a package, a module or a file that have a config: what sort each is, and what its constructor takes.

Nothing is made here.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, Iterator

from .capabilities import OTHERS, documents, parameters_of, said_parameter, words_of
from .frameworks.interface import Framework
from .other_layers import named

_SORTS = (
    ("model", "Model"),
    ("layer", "layers.Layer"),
    ("loss", "losses.Loss"),
    ("metric", "metrics.Metric"),
    ("schedule", "optimizers.schedules.LearningRateSchedule"),
    ("optimizer", "optimizers.Optimizer"),
    ("initializer", "initializers.Initializer"),
    ("regularizer", "regularizers.Regularizer"),
    ("constraint", "constraints.Constraint"),
)
"""By a base of its class, as Keras calls it, the first that it has."""
_SKIPPED = re.compile(r"_|src$|legacy$|backend$|wrappers$")
"""Modules that say nothing new."""
_QUOTED = re.compile(r"""["'`]([\w/.-]+)["'`]""")


def audited_classes(target: str, framework: Framework) -> list[dict[str, Any]]:
    """The classes of a target, as `AuditedClass` declares them: each once, by the first of its names."""
    found: list[dict[str, Any]] = []
    known: set[int] = set()
    for name, kind in _classes(target, set()):
        own = re.split("[.:]", name)[-1]
        if id(kind) not in known and (kind.__name__ == own or name == target):
            known.add(id(kind))
            found.append(dict(audited_class(kind, framework), name=name))
    return found


def audited_class(kind: Any, framework: Framework) -> dict[str, Any]:
    """What there is to say of one class."""
    return {
        "name": "%s.%s" % (kind.__module__, kind.__qualname__),
        "sort": _sort(kind, framework.keras),
        "constructor": list(_constructor(kind, framework.keras)),
        "call": _call(kind),
    }


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
            for found in _classes(path, seen):
                yield found


def _sort(kind: Any, keras: Any) -> str:
    for sort, path in _SORTS:
        base = _of_keras(path, keras)
        if isinstance(base, type) and issubclass(kind, base):
            return sort
    return "object"


def _of_keras(path: str, keras: Any) -> Any:
    found: Any = keras
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _constructor(kind: Any, keras: Any) -> Iterator[dict[str, Any]]:
    """The arguments that the constructor names, and those of the bases that it hands others on to."""
    seen: set[str] = set()
    said: set[str] = set()
    roots = {_of_keras(path, keras): "keras." + path for _, path in _SORTS}
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = parameters_of(base.__init__, 1)
        if parameters is None:
            return
        for parameter in parameters:
            inherited = base is not kind
            given = (
                parameter.name in seen or parameter.name in said or (inherited and parameter.default is inspect._empty)
            )
            if parameter.kind in OTHERS or given or parameter.name.startswith("_"):
                continue
            seen.add(parameter.name)
            told = said_parameter(parameter)
            told["annotation"] = "" if parameter.annotation is parameter.empty else _annotation(parameter.annotation)
            told["words"] = _documented_words(base, parameter)
            if inherited:
                told["base"] = roots.get(base) or "%s.%s" % (base.__module__, base.__qualname__)
                told["hidden"] = base not in roots and not documents(kind, parameter.name)
            yield told
        said |= words_of(base.__init__)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return


def _annotation(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _documented_words(kind: Any, parameter: Any) -> list[str]:
    """The words in quotes that its documentation has for an argument that is a text by default."""
    if not isinstance(parameter.default, str):
        return []
    text = "%s\n%s" % (kind.__doc__ or "", kind.__init__.__doc__ or "")
    told = re.search(r"^(\s*)`?%s`?:(.*(?:\n(?:\1\s+\S.*|\s*))*)" % re.escape(parameter.name), text, re.MULTILINE)
    words = dict.fromkeys(_QUOTED.findall(told.group(2)) if told else [])
    return [word for word in words if word != parameter.default and word not in ("None", "True", "False")]


def _call(kind: Any) -> list[str] | None:
    """The arguments that a call has to be given, None where it takes any number."""
    parameters = parameters_of(getattr(kind, "call", None), 1) if hasattr(kind, "call") else None
    if parameters is None or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    return [each.name for each in parameters if each.default is each.empty and each.kind not in OTHERS]
