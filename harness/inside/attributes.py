"""Which attributes of an object are facts of it.

Public attributes and properties are, of each class; private ones are of the user's classes. Those of Keras say how it
works inside: they are facts where a constructor takes what they hold, or where that is an object of the user's.
"""

from __future__ import annotations

import collections
import copyreg
import re
import types
from typing import Any

from clonediff.harness.inside.canonical import codes_of
from clonediff.harness.inside.packages import BACKENDS, is_of_backend, is_users, once_a_class, root_of

OPAQUE = BACKENDS | {"builtins", "threading", "_thread"}
"""Packages whose objects are one value each: their attributes are those of a machine."""
PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), type(Ellipsis)])
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)


def names_of(owner: Any, private: re.Pattern[str] | None) -> tuple[set[str], set[str]]:
    """The names of what an object holds that are facts, further `private` ones among them; and of all that it holds."""
    kind, attributes = type(owner), getattr(owner, "__dict__", {})
    names, held = set(slots(kind)), {*attributes, *slots(kind)}
    own, of_packages, arguments = is_users(kind), names_of_packages(kind), constructor_arguments(kind)
    for name, value in attributes.items():
        if type(name) is not str:
            continue
        if (
            name[:1] != "_"
            or (private is not None and private.match(name))
            or (own and name[:2] != "__" and name not in of_packages)
            or is_of_users(value)
        ):
            names.add(name)
        elif name[1:] in arguments:
            public = name[1:] in attributes or hasattr(kind, name[1:])
            names.update(() if public and type(value) in PLAIN else (name,))  # a property may give a copy of the others
    return names, held


def is_of_users(value: Any) -> bool:
    """Whether it is an object of a user's class or a user's function, as the schedule of an optimizer may be."""
    kind = type(value)
    if kind is types.FunctionType:
        return is_users(value)
    return kind not in PLAIN and is_users(kind) and not isinstance(value, CONTAINERS)


@once_a_class
def slots(kind: Any) -> tuple[str, ...]:
    """The names of the slots of a class and of its bases; private ones of the user's classes alone."""
    names: list[str] = copyreg._slotnames(kind) if root_of(kind) not in OPAQUE else []  # type: ignore[attr-defined]
    return tuple(name for name in names if name[:1] != "_" or is_users(kind))


@once_a_class
def properties(kind: Any) -> tuple[str, ...]:
    """The public properties of a class; not what the class itself answers, such as a registry of presets."""
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        # `submodules` of TensorFlow is all once more, and `torch_params` of Keras on torch all variables.
        if root_of(base) not in OPAQUE and not is_of_backend(base):
            members.update((name, value) for name, value in vars(base).items() if name[:1] != "_")
    names = [name for name, value in members.items() if isinstance(value, property)]
    return tuple(name for name in names if getattr(kind, name, None) is members[name])


@once_a_class
def constructor_arguments(kind: Any) -> frozenset[str]:
    """What the constructors of a class and of its bases take by name: a layer may keep it under a private name."""
    names: set[str] = set()
    for code in (code for base in kind.__mro__ for code in codes_of(vars(base).get("__init__"))):
        names.update(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])
    return frozenset(names)


@once_a_class
def names_of_packages(kind: Any) -> frozenset[str]:
    """The names in the code of those bases of a class that are not the user's: they have their attributes from it."""
    return frozenset().union(*(_names_in(base) for base in kind.__mro__ if not is_users(base)))


@once_a_class
def _names_in(kind: Any) -> frozenset[str]:
    names: set[str] = set(vars(kind))
    for member in vars(kind).values():
        waiting = codes_of(member)
        while waiting:
            code = waiting.pop()
            names.update(code.co_names, (item for item in code.co_consts if type(item) is str))
            waiting += [item for item in code.co_consts if isinstance(item, types.CodeType)]
    return frozenset(names)


@once_a_class
def is_value(kind: Any) -> bool:
    """Whether objects of a class only hold what their config has, and do nothing, as an `InputSpec` does."""
    methods = {name for base in kind.__mro__[:-1] for name, item in vars(base).items() if callable(item)}
    public = {name for name in methods if name[0] != "_"}
    return "get_config" in methods and "__call__" not in methods and public <= {"get_config", "from_config"}
