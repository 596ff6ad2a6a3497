"""Selects which attributes of an object are compared.

Public attributes and properties are compared for every class, private attributes for user-defined classes. A private
attribute of a Keras class is compared only if it holds a constructor argument or a user-defined object.
"""

from __future__ import annotations

import collections
import copyreg
import re
import types
from typing import Any

from clonediff.harness.inside.canonical import code_objects
from clonediff.harness.inside.packages import BACKENDS, cached_per_class, is_backend_class, is_user_defined, package_of

OPAQUE_PACKAGES = BACKENDS | {"builtins", "threading", "_thread"}
"""Packages whose objects are compared as a whole, without their attributes."""
PLAIN_TYPES = frozenset([bool, int, float, complex, str, bytes, type(None), type(Ellipsis)])
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)


def attribute_names(owner: Any, private_pattern: re.Pattern[str] | None) -> tuple[set[str], set[str]]:
    """The attributes to compare, and all. `private_pattern` adds private ones."""
    cls, attributes = type(owner), getattr(owner, "__dict__", {})
    names = set(slots(cls))
    all_names = {*attributes, *slots(cls)}
    is_custom = is_user_defined(cls)
    library_names = names_in_libraries(cls)
    arguments = constructor_arguments(cls)
    for name, value in attributes.items():
        if type(name) is not str:
            continue
        if (
            name[:1] != "_"
            or (private_pattern is not None and private_pattern.match(name))
            or (is_custom and name[:2] != "__" and name not in library_names)
            or is_user_object(value)
        ):
            names.add(name)
        elif name[1:] in arguments:
            has_public_name = name[1:] in attributes or hasattr(cls, name[1:])
            if not (has_public_name and type(value) in PLAIN_TYPES):  # a property may copy other values
                names.add(name)
    return names, all_names


def is_user_object(value: Any) -> bool:
    """Whether a value is a user's function, or an object of a user's class."""
    cls = type(value)
    if cls is types.FunctionType:
        return is_user_defined(value)
    return cls not in PLAIN_TYPES and is_user_defined(cls) and not isinstance(value, CONTAINERS)


@cached_per_class
def slots(cls: Any) -> tuple[str, ...]:
    """The slots of a class and its bases; private ones only of users' classes."""
    names: Any = [] if package_of(cls) in OPAQUE_PACKAGES else copyreg._slotnames(cls)  # type: ignore[attr-defined]
    return tuple(name for name in names if name[:1] != "_" or is_user_defined(cls))


@cached_per_class
def properties(cls: Any) -> tuple[str, ...]:
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        # `submodules` repeats all layers, `torch_params` all variables.
        if package_of(base) not in OPAQUE_PACKAGES and not is_backend_class(base):
            members.update((name, value) for name, value in vars(base).items() if name[:1] != "_")
    names = [name for name, value in members.items() if isinstance(value, property)]
    return tuple(name for name in names if getattr(cls, name, None) is members[name])


@cached_per_class
def constructor_arguments(cls: Any) -> frozenset[str]:
    """The constructor arguments of a class and its bases."""
    names: set[str] = set()
    for code in (code for base in cls.__mro__ for code in code_objects(vars(base).get("__init__"))):
        names.update(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])
    return frozenset(names)


@cached_per_class
def names_in_libraries(cls: Any) -> frozenset[str]:
    """All names in the code of a class's library bases."""
    return frozenset().union(*(_names_in(base) for base in cls.__mro__ if not is_user_defined(base)))


@cached_per_class
def _names_in(cls: Any) -> frozenset[str]:
    names: set[str] = set(vars(cls))
    for member in vars(cls).values():
        pending = code_objects(member)
        while pending:
            code = pending.pop()
            names.update(code.co_names, (item for item in code.co_consts if type(item) is str))
            pending += [item for item in code.co_consts if isinstance(item, types.CodeType)]
    return frozenset(names)


@cached_per_class
def holds_only_settings(cls: Any) -> bool:
    """Whether objects of a class only hold settings."""
    methods = {name for base in cls.__mro__[:-1] for name, item in vars(base).items() if callable(item)}
    public = {name for name in methods if name[0] != "_"}
    return "get_config" in methods and "__call__" not in methods and public <= {"get_config", "from_config"}
