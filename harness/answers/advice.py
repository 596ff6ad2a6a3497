"""Advise a user how to change a model so that it is cloned faithfully."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clonediff.harness.answers.user_causes import colliding_names
from clonediff.harness.trials.triage import is_clone_made
from clonediff.reports.records import Cause, Difference
from clonediff.strategies.layers import CATALOGUE

_DECORATOR = "@keras.saving.register_keras_serializable()"
_SCOPE_ADVICE = "clone within `keras.saving.custom_object_scope({{'{name}': {name}}})`"
_CRASH_ADVICE = (
    (
        r"(?P<kind>\w+)\.__init__\(\) got an unexpected keyword argument '(?P<name>\w+)'",
        "add `**kwargs` to `{kind}.__init__` and pass them on: `super().__init__(**kwargs)`; "
        "the config of each layer has `name`, `trainable` and `dtype`, so do not pass these in addition to `**kwargs`",
    ),
    (
        r"(?:arguments passed to (?P<kind>\w+): |argument not understood:', )(?P<name>.*)",
        "let `__init__` accept {name} as a keyword argument, or write a `from_config` that uses it; if `get_config` "
        "omits it, its value is lost",
    ),
    (r"Could not parse config: <function", ""),  # Keras rejects registered functions, too
    (r"Lambda layer with a Python `lambda` inside", "replace the Lambda with a custom layer"),
    (
        r"Python `?lambda|'__lambda__'|<lambda>|identifier: \{'value'|config format for \{'value'",
        f"replace the lambda with a function that has {_DECORATOR} above it",
    ),
    (
        r"(?:(?:locate|Unknown) [a-z ]+:? |(?:identifier|activation function):? '?\{.*?'config': )'(?P<name>\w+)'",
        f"write {_DECORATOR} above `{{name}}`, or {_SCOPE_ADVICE}",
    ),
)
"""A pattern for an exception's message, and the advice; the first match counts."""
_MISSING_ARGUMENT = re.compile(r"(?P<kind>\w+)\.__init__\(\) missing \d+ required positional arguments?: (?P<names>.*)")


class UserClasses(NamedTuple):
    """The user's classes by name, and the names of registered objects."""

    classes: Mapping[str, type]
    registered_names: frozenset[str]


class Advice(NamedTuple):
    """What the user can do (or ""), and whether their code is at fault."""

    text: str = ""
    user_fault: bool = False


def advice(cause: Cause, message: str, user_classes: UserClasses) -> Advice:
    """What the user can do about a cause, or an exception with this message."""
    root = cause.root
    if colliding_names(cause):
        names = '`add_weight(name=f"{self.name}_scale")`'
        return Advice(f"save the clone as a .keras file, or name weights after their layer: {names}")
    if not is_clone_made([cause]):
        return _crash_advice(message, user_classes)
    if root.part == "trainable" and root.found == "true":
        part = "the clone" if root.first is None or root.first.layer < 0 else "the layer in the clone"
        return Advice(f"freeze {part} again before you set its weights and compile it: `.trainable = False`")
    if root.change == "constraint" or (root.part, root.expected) == ("losses", "0"):
        return Advice("set it in the constructor: if it is set on a built layer, it takes effect only in clones")
    if root.check == "outputs" and root.first and root.first.kind in user_classes.classes:
        text = "create the variables that it uses with `self.add_weight`, and return its settings from `get_config`"
        return Advice(f"in `{root.first.kind}`, {text}", user_fault=True)
    return _lost_argument_advice(cause, user_classes) if root.part in ("attribute", "compiled") else Advice()


def _crash_advice(message: str, user_classes: UserClasses) -> Advice:
    if (missing := _MISSING_ARGUMENT.search(message)) and missing["kind"] in user_classes.classes:
        names = re.findall(r"'(\w+)'", missing["names"])
        return Advice(_config_advice(user_classes.classes[missing["kind"]], names), user_fault=True)
    for pattern, text in _CRASH_ADVICE:
        if match := re.search(pattern, message):
            groups = match.groupdict()
            if groups.get("kind") in CATALOGUE:
                break
            text = _SCOPE_ADVICE if groups.get("name") in user_classes.registered_names else text
            return Advice(text.format(**groups), user_fault=bool(groups))
    return Advice()


def _lost_argument_advice(cause: Cause, user_classes: UserClasses) -> Advice:
    root = cause.root
    owner = _owner(root, user_classes)
    if owner is None or root.change != "":
        return Advice()
    if root.found.startswith(("__", "dict of", "{class_name")):  # `from_config` has not deserialized the value
        value = f"config['{root.name.rpartition('.')[2]}']"
        lines = f"`{value} = keras.saving.deserialize_keras_object({value})`, `return cls(**config)`"
        return Advice(f"write `{owner.__name__}.from_config`: {lines}", user_fault=True)
    names = (item.name for item in cause.differences if (item.part, item.first) == (root.part, root.first))
    return Advice(_config_advice(owner, dict.fromkeys(name.rpartition(".")[2] for name in names)), user_fault=True)


def _owner(root: Difference, user_classes: UserClasses) -> type | None:
    """The user's class at fault: that of a layer, or of a `compile` argument."""
    if "." not in root.name and root.first and root.first.kind in user_classes.classes:
        return user_classes.classes[root.first.kind]
    attribute = root.name.rpartition(".")[2]
    if root.name.startswith(("loss", "metrics", "optimizer", "_compile_config", "compiled")):
        return next((owner for owner in user_classes.classes.values() if _parameter(owner, attribute)), None)
    return None


def _parameter(owner: type, attribute: str) -> str:
    """The constructor's parameter for an attribute, or ""."""
    parameters = inspect.signature(owner.__init__).parameters  # type: ignore[misc]
    return next((name for name in (attribute, attribute.lstrip("_")) if name in parameters), "")


def _config_advice(owner: type, attributes: Iterable[str]) -> str:
    """What to write so that the config of a class has these attributes."""
    class_name = owner.__name__
    parameters = {attribute: _parameter(owner, attribute) for attribute in attributes}
    items = ", ".join(f'"{parameter}": self.{name}' for name, parameter in parameters.items() if parameter)
    if not items:
        names = ", ".join(f"`{name}`" for name in parameters)
        return f"add {names} to `{class_name}.__init__` and to `{class_name}.get_config`, or set it on the clone"
    if any("get_config" in vars(base) for base in owner.__mro__ if base.__module__ == owner.__module__):
        return f"add to the result of `{class_name}.get_config`: `{items}`"
    return f"write `{class_name}.get_config`: `return {{**super().get_config(), {items}}}`"
