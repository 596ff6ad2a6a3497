"""What a class loses of its arguments when an object is revived from its config.

A text makes an object under the name `made`. It is revived by `from_config(get_config())`, and through JSON. An
argument is lost where a fact that it changes is another in the revived object. What two objects of the same text, or
two revivals, do not have in common says nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, NamedTuple

from .build import script
from .facts import NAMED, same_fact
from .facts import Facts as Walk
from .frameworks.interface import Framework
from .layers import Layers
from .observer import Observer
from .warned import unheard

Facts = dict[str, str]
"""What an object holds, by the expression that reads it of the object."""

_LONGEST = 300
_COUNTED = re.compile(r"(_\d+)+(?='$)")
_HELD = re.compile(r"(list|tuple|dict) of [1-9]")


class Lost(NamedTuple):
    """What a revived object does not have; without a path, it cannot be revived at all."""

    path: str
    made: str
    revived: str

    @property
    def said(self) -> str:
        return "%s is %s, not %s" % (self.path[1:], self.revived, self.made) if self.path else self.revived


class Answer(NamedTuple):
    """What one construction comes to: why it cannot be made, what is lost, and whether it changes anything."""

    refused: str = ""
    lost: tuple[Lost, ...] = ()
    changes: bool = False


class _Seen(NamedTuple):
    """Two objects of one text and two revivals, or why it cannot be revived."""

    made: list[Facts]
    revived: list[Facts]
    crash: str = ""


class Audit:
    """Makes objects of classes, which may be in `names`. Keeps what it saw of the last one without arguments."""

    def __init__(self, framework: Framework, names: dict[str, Any] | None = None) -> None:
        self._framework = framework
        self._names = names or {}
        self._plain = "", _Seen([], [])

    def answer(self, plain: str, text: str) -> Answer:
        """What the construction of a text comes to, beside that of the `plain` one."""
        try:
            if self._plain[0] != plain:
                self._plain = plain, self._seen(plain)
            seen = self._plain[1] if text == plain else self._seen(text)
        except Exception as error:  # whatever Keras says to it
            return Answer(refused=_said(error))
        facts, revived = seen.made[0], seen.revived
        changed = [path for path in facts if self._is_changed(path, seen)]
        if seen.crash:
            return Answer(lost=(Lost("", "", seen.crash),), changes=bool(changed))
        lost = [path for path in changed if self._is_lost(path, seen)]
        lost.sort(key=lambda path: (" of " in facts[path], 2 * path.count("._") + path.count("["), len(path)))
        told = (Lost(path, facts[path].split(NAMED)[0], revived[0][path].split(NAMED)[0]) for path in lost)
        return Answer(lost=tuple(told), changes=bool(changed))

    def _is_changed(self, path: str, seen: _Seen) -> bool:
        """Whether the arguments have changed a fact, each time."""
        fact = seen.made[0][path]
        same = any(same_fact(fact, facts.get(path)) for facts in self._plain[1].made)
        return not same and same_fact(fact, seen.made[1].get(path))

    def _is_lost(self, path: str, seen: _Seen) -> bool:
        """Whether a changed fact is in each revival as it is there without the arguments, or is drawn without them."""
        plain = self._plain[1]
        if any(path not in facts or same_fact(facts[path], seen.made[0][path]) for facts in seen.revived):
            return False
        if _HELD.match(seen.revived[0][path]):  # what it holds is told by itself
            return False
        back = same_fact(seen.revived[0][path], (*plain.revived, *plain.made)[0].get(path))
        return back or not same_fact(plain.made[0].get(path), plain.made[1].get(path))

    def _seen(self, text: str) -> _Seen:
        made: Any = None
        facts: list[Facts] = []
        for seed in (1, 0):
            self._begin(seed)
            with script(text) as module:
                module.__dict__.update(self._names)
                exec(compile(text, "<class>", "exec"), module.__dict__)  # noqa: S102 - the user named the class
                made = module.made
            facts.insert(0, self._facts(made))
        try:
            return _Seen(facts, [self._revived(_from_config, made, 2), self._revived(self._through_json, made, 3)])
        except NotImplementedError:
            raise
        except Exception as error:  # whatever Keras says to it
            return _Seen(facts, [], _said(error))

    def _begin(self, seed: int) -> None:
        """Count names from the beginning, and draw random numbers anew."""
        self._framework.forget_names()
        self._framework.reseed(seed)

    def _revived(self, revive: Callable[[Any], Any], made: Any, seed: int) -> Facts:
        self._begin(seed)
        revived = revive(made)
        if type(revived) is not type(made):
            raise TypeError("it is a %s" % type(revived).__name__)
        return self._facts(revived)

    def _through_json(self, made: Any) -> Any:
        saving = self._framework.keras.saving
        written = json.loads(json.dumps(saving.serialize_keras_object(made)))
        return saving.deserialize_keras_object(written, custom_objects={type(made).__name__: type(made)})

    def _facts(self, thing: Any) -> Facts:
        framework, observer = self._framework, Observer(self._framework, 0)
        observer.private = True
        layers = Layers(thing, observer)
        variables = [*framework.weights(thing)[0], *thing.variables] if framework.is_layer(thing) else []
        with unheard():
            walked = Walk(layers, variables, observer)
        found: Facts = {}
        paths = [""]
        for place in layers.places:
            holder = thing if place.inside < 0 else layers.places[place.inside].layer
            paths.append(paths[1 + place.inside] + _where(holder, place.layer))
        for path, owner, facts in zip(paths, layers.objects(), walked.of):
            found.update((path + where, fact) for where, fact in facts.items())
            for name in ("name", "trainable"):
                if hasattr(owner, name):
                    found["%s.%s" % (path, name)] = _COUNTED.sub("", repr(getattr(owner, name)))
        return found


def _from_config(made: Any) -> Any:
    return type(made).from_config(made.get_config())


def _where(holder: Any, layer: Any) -> str:
    """The expression that reads a layer of its holder."""
    for name, value in [("layers", getattr(holder, "layers", None)), *vars(holder).items()]:
        if value is layer:
            return ".%s" % name
        for number, item in enumerate(value if isinstance(value, (list, tuple)) else ()):
            if item is layer:
                return ".%s[%d]" % (name, number)
    return ".?"


def _said(error: Exception) -> str:
    """An exception in a line; of one around another, what that said."""
    text = str(error).rpartition("Exception encountered: ")[2]
    return ("%s: %s" % (type(error).__name__, " ".join(text.split())))[:_LONGEST]
