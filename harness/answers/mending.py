"""What a user can write to mend a model that does not clone: the line for `get_config`, the decorator, `**kwargs`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import NamedTuple

from clonediff.harness.trials.triage import makes_a_clone
from clonediff.reports.records import Cause, Difference
from clonediff.strategies.layers import CATALOGUE

_REGISTER = "@keras.saving.register_keras_serializable()"
_SCOPE = "clone within `keras.saving.custom_object_scope({{'{name}': {name}}})`"
_CRASHES = (
    (
        r"(?P<kind>\w+)\.__init__\(\) got an unexpected keyword argument '(?P<name>\w+)'",
        "let `{kind}.__init__` take `**kwargs` and pass them on: `super().__init__(**kwargs)`; "
        "`from_config` gives it `{name}`, which Keras writes into each config",
    ),
    (
        r"(?:arguments passed to (?P<kind>\w+): |argument not understood:', )(?P<name>.*)",
        "`__init__` does not take {name}: leave it out of `get_config`, or take it",
    ),
    (
        r"(?P<kind>\w+)\.get_config\(\) missing 1 required positional argument: 'self'",
        "give `compile` an object, `{kind}()`, and not the class",
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
    """What to do, and whether the fault is that of the user's own class or function."""

    text: str
    own: bool = True


def advice(cause: Cause, message: str, own: Own) -> Advice | None:
    """How to mend the user's own part of a cause; None where nothing of theirs can."""
    root = cause.root
    if not makes_a_clone([cause]):
        return _of_a_crash(message, own)
    if root.within.endswith("optimizer.built"):
        return Advice("compile the clone anew before you thaw more of it", own=False)
    if root.aspect == "compiled":
        return Advice("compile the clone, too: `clone.compile(...)`", own=False)
    if root.part == "trainable" and root.found == "true":
        what = "the clone" if root.first is None or root.first.layer < 0 else "it in the clone"
        return Advice(f"freeze {what} again before you compile: `.trainable = False`", own=False)
    if root.change == "constraint" or (root.part, root.expected) == ("losses", "0"):
        text = "give a regularizer or a constraint to the constructor: set on a built layer, it takes effect in clones"
        return Advice(text, own=False)
    return _of_config(cause, own) if root.part in ("attribute", "compiled") else None


def _of_a_crash(message: str, own: Own) -> Advice | None:
    if (missing := _MISSING.search(message)) and missing["kind"] in own.classes:
        return _for_config(own.classes[missing["kind"]], re.findall(r"'(\w+)'", missing["names"]))
    rows = ((re.search(pattern, message), text) for pattern, text in _CRASHES)
    match, text = next((row for row in rows if row[0]), (None, ""))
    if match is None or not text:
        return None
    named = match.groupdict()
    if named.get("kind") in CATALOGUE:
        return None
    if named.get("name") in own.registered:
        text = _SCOPE
    return Advice(text.format(**named), own=bool(named))


def _of_config(cause: Cause, own: Own) -> Advice | None:
    """The line for the config of a class of the user's own, which loses an argument."""
    root = cause.root
    owner = _owner(root, own)
    if owner is None:
        return None
    place = root.first
    lost = [one.name.rpartition(".")[2] for one in cause.differences if one.part == root.part and one.first == place]
    return _for_config(owner, list(dict.fromkeys(lost))) if root.change == "" else None


def _owner(root: Difference, own: Own) -> type | None:
    """The user's class whose attribute it is: of the layer, or of what the model is compiled with."""
    kind = root.first.kind if root.first else ""
    last = root.name.rpartition(".")[2]
    if "." not in root.name and kind in own.classes:
        return own.classes[kind]
    if root.name.startswith(("loss", "metrics", "optimizer", "_compile_config", "compiled")):
        return next((owner for owner in own.classes.values() if _argument(owner, last)), None)
    return None


def _argument(owner: type, name: str) -> str:
    """The argument of its constructor that an attribute is of; "" where none is."""
    parameters = inspect.signature(owner.__init__).parameters  # type: ignore[misc]
    return next((each for each in (name, name.lstrip("_")) if each in parameters), "")


def _for_config(owner: type, names: list[str]) -> Advice:
    kind = owner.__name__
    arguments = {name: _argument(owner, name) for name in names}
    items = ", ".join(f'"{argument}": self.{name}' for name, argument in arguments.items() if argument)
    has_one = any("get_config" in vars(each) for each in owner.__mro__ if each.__module__ == owner.__module__)
    if not items:
        listed = ", ".join(f"`{name}`" for name in names)
        return Advice(
            f"take {listed} in `{kind}.__init__` and write it into `{kind}.get_config`; else set it on the clone"
        )
    if has_one:
        return Advice(f"add to what `{kind}.get_config` returns: `{items}`")
    return Advice(f"give `{kind}` a `get_config`: `return {{**super().get_config(), {items}}}`")
