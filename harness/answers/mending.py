"""What a user can write to mend a model that does not clone: the line for `get_config`, the decorator, `**kwargs`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clonediff.harness.answers.folding import colliding
from clonediff.harness.trials.triage import makes_a_clone
from clonediff.reports.records import Cause, Difference
from clonediff.strategies.layers import CATALOGUE

_REGISTER = "@keras.saving.register_keras_serializable()"
_SCOPE = "clone within `keras.saving.custom_object_scope({{'{name}': {name}}})`"
_CRASHES = (
    (
        r"(?P<kind>\w+)\.__init__\(\) got an unexpected keyword argument '(?P<name>\w+)'",
        "let `{kind}.__init__` take `**kwargs` and pass them on: `super().__init__(**kwargs)`; "
        "`from_config` gives it `{name}`, which Keras writes into each config, so do not pass `{name}` yourself",
    ),
    (
        r"(?:arguments passed to (?P<kind>\w+): |argument not understood:', )(?P<name>.*)",
        "let `__init__` take {name} by name, or write a `from_config` that uses it; if `get_config` leaves it out, "
        "its value is lost",
    ),
    (r"Could not parse config: <function", ""),  # a function that is registered is refused, too
    (r"Lambda layer with a Python `lambda` inside", "replace the Lambda by a layer of a class of your own"),
    (
        r"Python `?lambda|'__lambda__'|<lambda>|identifier: \{'value'|config format for \{'value'",
        f"replace the lambda by a function with {_REGISTER} above it",
    ),
    (
        r"(?:(?:locate|Unknown) [a-z ]+:? |(?:identifier|activation function):? '?\{.*?'config': )'(?P<name>\w+)'",
        f"write {_REGISTER} above `{{name}}`, or {_SCOPE}",
    ),
)
"""What an exception says, and what to write: the first row counts."""
_MISSING = re.compile(r"(?P<kind>\w+)\.__init__\(\) missing \d+ required positional arguments?: (?P<names>.*)")


class Own(NamedTuple):
    """The classes of the user's own of which a model has objects, by name, and the names of all that is registered."""

    classes: Mapping[str, type]
    registered: frozenset[str]


class Advice(NamedTuple):
    """What to do, "" where nothing is known; and whether the fault is that of the user's own class or function."""

    text: str = ""
    own: bool = False


def advice(cause: Cause, message: str, own: Own) -> Advice:
    """How to mend the user's own part of a cause."""
    root = cause.root
    if colliding(cause):
        names = '`add_weight(name=f"{self.name}_scale")`'
        return Advice(f"save the clone as a .keras file, or name weights after their layer: {names}")
    if not makes_a_clone([cause]):
        return _of_a_crash(message, own)
    if root.part == "trainable" and root.found == "true":
        what = "the clone" if root.first is None or root.first.layer < 0 else "the layer in the clone"
        return Advice(f"freeze {what} again before you set its weights and compile it: `.trainable = False`")
    if root.change == "constraint" or (root.part, root.expected) == ("losses", "0"):
        return Advice("set it in the constructor: what is set on a built layer takes effect in clones")
    if root.check == "outputs" and root.first and root.first.kind in own.classes:
        text = "create the variables that it uses with `self.add_weight`, and write its settings into `get_config`"
        return Advice(f"in `{root.first.kind}`, {text}", own=True)
    return _of_config(cause, own) if root.part in ("attribute", "compiled") else Advice()


def _of_a_crash(message: str, own: Own) -> Advice:
    if (missing := _MISSING.search(message)) and missing["kind"] in own.classes:
        return Advice(_for_config(own.classes[missing["kind"]], re.findall(r"'(\w+)'", missing["names"])), own=True)
    for pattern, text in _CRASHES:
        if match := re.search(pattern, message):
            named = match.groupdict()
            if named.get("kind") in CATALOGUE:
                break
            words = _SCOPE if named.get("name") in own.registered else text
            return Advice(words.format(**named), own=bool(named))
    return Advice()


def _of_config(cause: Cause, own: Own) -> Advice:
    """The line for the config of a class of the user's own, which loses an argument."""
    root = cause.root
    owner = _owner(root, own)
    if owner is None or root.change != "":
        return Advice()
    if root.found.startswith(("__", "dict of", "{class_name")):  # it came back as `get_config` wrote it
        value = f"config['{root.name.rpartition('.')[2]}']"
        lines = f"`{value} = keras.saving.deserialize_keras_object({value})`, `return cls(**config)`"
        return Advice(f"write `{owner.__name__}.from_config`: {lines}", own=True)
    alike = (one for one in cause.differences if (one.part, one.first) == (root.part, root.first))
    return Advice(_for_config(owner, dict.fromkeys(one.name.rpartition(".")[2] for one in alike)), own=True)


def _owner(root: Difference, own: Own) -> type | None:
    """The user's class whose attribute it is: of the layer, or of what the model is compiled with."""
    if "." not in root.name and root.first and root.first.kind in own.classes:
        return own.classes[root.first.kind]
    last = root.name.rpartition(".")[2]
    if root.name.startswith(("loss", "metrics", "optimizer", "_compile_config", "compiled")):
        return next((owner for owner in own.classes.values() if _argument(owner, last)), None)
    return None


def _argument(owner: type, name: str) -> str:
    """The argument of its constructor that an attribute is of; "" where none is."""
    parameters = inspect.signature(owner.__init__).parameters  # type: ignore[misc]
    return next((each for each in (name, name.lstrip("_")) if each in parameters), "")


def _for_config(owner: type, names: Iterable[str]) -> str:
    """What to write so that the config has these attributes."""
    kind = owner.__name__
    arguments = {name: _argument(owner, name) for name in names}
    items = ", ".join(f'"{argument}": self.{name}' for name, argument in arguments.items() if argument)
    if not items:
        listed = ", ".join(f"`{name}`" for name in arguments)
        return f"take {listed} in `{kind}.__init__` and write it into `{kind}.get_config`; else set it on the clone"
    if any("get_config" in vars(each) for each in owner.__mro__ if each.__module__ == owner.__module__):
        return f"add to what `{kind}.get_config` returns: `{items}`"
    return f"give `{kind}` a `get_config`: `return {{**super().get_config(), {items}}}`"
