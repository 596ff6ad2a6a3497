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
"""What an object holds, by the path to it."""

_COUNTED = re.compile(r"(_\d+)+(?='$)")
_PRIVATE = re.compile(
    r"_(?!.*__)(?!(?:self_.*|tracke[dr]|auto_(?:get_)?config|call_has_context_arg|call_spec|saved_model_\w*_spec|init_\w+"
    r"|name_scope_on_declaration|functional|output_coordinates|tensor_usage_count|network_nodes|feed_inputs"
    r"|feed_input_names|feed_input_shapes)$)[^_]"
)
"""A private attribute, but for what Keras and TensorFlow note of how an object was made, is called and is followed."""
_CONTAINER = re.compile(r"(list|tuple|dict) of [1-9]")


class Lost(NamedTuple):
    """What a revived object does not have; without a path, it cannot be revived at all."""

    path: str
    made: str
    revived: str

    @property
    def message(self) -> str:
        return f"{self.path[1:]} is {self.revived}, not {self.made}" if self.path else self.revived


class Answer(NamedTuple):
    """What one construction comes to: why it cannot be made, what is lost, and whether it changes anything."""

    refused: str = ""
    lost: tuple[Lost, ...] = ()
    changes: bool = False


class _Seen(NamedTuple):
    """The facts of two objects of one text and of two revivals, or why it cannot be revived."""

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
            return Answer(refused=_one_line(error))
        facts, revived = seen.made[0], seen.revived
        changed = [path for path in facts if self._is_changed(path, seen)]
        if seen.crash:
            return Answer(lost=(Lost("", "", seen.crash),), changes=bool(changed))
        lost = [path for path in changed if self._is_lost(path, seen)]
        lost.sort(key=lambda path: (" of " in facts[path], 2 * path.count("._") + path.count("["), len(path)))
        found = (Lost(path, facts[path].split(NAMED)[0], revived[0][path].split(NAMED)[0]) for path in lost)
        return Answer(lost=tuple(found), changes=bool(changed))

    def _is_changed(self, path: str, seen: _Seen) -> bool:
        """Whether the arguments have changed a fact, each time."""
        fact = seen.made[0][path]
        unchanged = any(same_fact(fact, facts.get(path)) for facts in self._plain[1].made)
        return not unchanged and same_fact(fact, seen.made[1].get(path))

    def _is_lost(self, path: str, seen: _Seen) -> bool:
        """Whether a changed fact is in each revival as it is there without the arguments, or is drawn without them."""
        plain = self._plain[1]
        if any(path not in facts or same_fact(facts[path], seen.made[0][path]) for facts in seen.revived):
            return False
        if _CONTAINER.match(seen.revived[0][path]):  # its items are facts of their own
            return False
        back = same_fact(seen.revived[0][path], (*plain.revived, *plain.made)[0].get(path))
        return back or not same_fact(plain.made[0].get(path), plain.made[1].get(path))

    def _seen(self, text: str) -> _Seen:
        def construct() -> Any:
            with script(text) as module:
                module.__dict__.update(self._names)
                exec(compile(text, "<class>", "exec"), module.__dict__)  # noqa: S102 - the user named the class
                return module.made

        def through_json() -> Any:
            saving, kind = self._framework.keras.saving, type(made)
            written = json.loads(json.dumps(saving.serialize_keras_object(made)))
            revived = saving.deserialize_keras_object(written, custom_objects={kind.__name__: kind})
            if type(revived) is not kind:
                raise TypeError(f"it is a {type(revived).__name__}")
            return revived

        (_, again), (made, facts) = self._make(construct, 1), self._make(construct, 0)
        try:
            revived = [self._make(lambda: type(made).from_config(made.get_config()), 2), self._make(through_json, 3)]
        except NotImplementedError:
            raise
        except Exception as error:  # whatever Keras says to it
            return _Seen([facts, again], [], _one_line(error))
        return _Seen([facts, again], [facts for _, facts in revived])

    def _make(self, make: Callable[[], Any], seed: int) -> tuple[Any, Facts]:
        """An object and its facts; names are counted from the beginning, and random numbers drawn anew."""
        framework, observer = self._framework, Observer(self._framework, 0)
        framework.forget_names()
        framework.reseed(seed)
        thing = make()
        observer.private = _PRIVATE
        layers = Layers(thing, observer)
        variables = [*framework.weights(thing)[0], *thing.variables] if isinstance(thing, framework.layer_class) else []
        with unheard():
            walked = Walk(layers, variables, observer)
        paths = [""]
        for place in layers.places:
            name = f"layers[{place.layer.name!r}]" if place.role == "layers" else place.role
            paths.append(f"{paths[1 + place.inside]}.{name}")
        found: Facts = {}
        for path, owner, facts in zip(paths, layers.objects(), walked.of):
            found.update((path + where, fact) for where, fact in facts.items())
            for name in ("name", "trainable"):
                if hasattr(owner, name):
                    found[f"{path}.{name}"] = _COUNTED.sub("", repr(getattr(owner, name)))
        return thing, found


def _one_line(error: Exception) -> str:
    """An exception in a line; of one around another, what that said."""
    text = str(error).rpartition("Exception encountered: ")[2]
    return f"{type(error).__name__}: {' '.join(text.split())}"
