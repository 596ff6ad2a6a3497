"""What a class loses of its arguments when an object is revived from its config.

A text makes an object under the name `example`. It is revived by `from_config(get_config())`, and through JSON. An
argument is lost where a fact that it changes is another in the revived object. What two objects of the same text, or
two revivals, do not have in common says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..inside.build import script
from ..inside.facts import Facts as Walk
from ..inside.frameworks.interface import Framework
from ..inside.layers import Layers
from ..inside.observer import Observer
from ..inside.warned import unheard
from ..observation import Fact, same_fact

Facts = dict[str, Fact]
"""What an object holds, by the path to it."""

_COUNTED = re.compile(r"(_\d+)+(?='$)")
_PRIVATE = re.compile(
    r"_(?!.*__)(?!(?:self_.*|tracke[dr]|auto_(?:get_)?config|call_has_context_arg|call_spec|saved_model_\w*_spec|init_\w+"
    r"|name_scope_on_declaration|functional|output_coordinates|tensor_usage_count|network_nodes|feed_inputs"
    r"|feed_input_names|feed_input_shapes)$)[^_]"
)
"""A private attribute, but for what Keras and TensorFlow note of how an object was made, is called and is followed."""
_CONTAINER = re.compile(r"(list|tuple|dict) of [1-9]")


class LostFact(NamedTuple):
    """What a revived object does not have; without a path, it cannot be revived at all."""

    path: str
    original: str
    revived: str

    @property
    def message(self) -> str:
        return f"{self.path[1:]} is {self.revived}, not {self.original}" if self.path else self.revived


class Construction(NamedTuple):
    """What one construction comes to: why it cannot be made, what is lost, and whether it changes anything."""

    refused: str = ""
    lost: tuple[LostFact, ...] = ()
    changes: bool = False


class _Observed(NamedTuple):
    """The facts of two objects of one text and of two revivals, or why it cannot be revived."""

    originals: list[Facts]
    revived: list[Facts]
    crash: str = ""


class Audit:
    """Makes objects of a class. Keeps what it saw of the last one without arguments."""

    def __init__(self, framework: Framework, kind: Any) -> None:
        self._framework = framework
        self._names = {kind.__name__: kind}
        self._plain = "", _Observed([], [])

    def answer(self, plain: str, text: str) -> Construction:
        """What the construction of a text comes to, beside that of the `plain` one."""
        try:
            if self._plain[0] != plain:
                self._plain = plain, self._observe(plain)
            observed = self._plain[1] if text == plain else self._observe(text)
        except Exception as error:  # whatever Keras says to it
            return Construction(refused=_one_line(error))
        facts, revived = observed.originals[0], observed.revived
        changed = [path for path in facts if self._is_changed(path, observed)]
        if observed.crash:
            return Construction(lost=(LostFact("", "", observed.crash),), changes=bool(changed))
        lost = [path for path in changed if self._is_lost(path, observed)]
        lost.sort(key=lambda path: (" of " in facts[path].text, 2 * path.count("._") + path.count("["), len(path)))
        lost_facts = (LostFact(path, facts[path].text, revived[0][path].text) for path in lost)
        return Construction(lost=tuple(lost_facts), changes=bool(changed))

    def _is_changed(self, path: str, observed: _Observed) -> bool:
        """Whether the arguments have changed a fact, each time."""
        fact = observed.originals[0][path]
        unchanged = any(same_fact(fact, facts.get(path)) for facts in self._plain[1].originals)
        return not unchanged and same_fact(fact, observed.originals[1].get(path))

    def _is_lost(self, path: str, observed: _Observed) -> bool:
        """Whether a changed fact is in each revival as it is there without the arguments, or is drawn without them."""
        plain = self._plain[1]
        if any(path not in facts or same_fact(facts[path], observed.originals[0][path]) for facts in observed.revived):
            return False
        if _CONTAINER.match(observed.revived[0][path].text):  # its items are facts of their own
            return False
        back = same_fact(observed.revived[0][path], (*plain.revived, *plain.originals)[0].get(path))
        return back or not same_fact(plain.originals[0].get(path), plain.originals[1].get(path))

    def _observe(self, text: str) -> _Observed:
        def construct() -> Any:
            with script(text) as module:
                module.__dict__.update(self._names)
                exec(compile(text, "<class>", "exec"), module.__dict__)
                return module.example

        def from_config() -> Any:
            return type(example).from_config(example.get_config())

        def through_json() -> Any:
            saving, kind = self._framework.keras.saving, type(example)
            written = json.loads(json.dumps(saving.serialize_keras_object(example)))
            revived = saving.deserialize_keras_object(written, custom_objects={kind.__name__: kind})
            if type(revived) is not kind:
                raise TypeError(f"it is a {type(revived).__name__}")
            return revived

        (_, again), (example, facts) = self._make(construct, 1), self._make(construct, 0)
        try:
            revived = [self._make(from_config, 2), self._make(through_json, 3)]
        except NotImplementedError:
            raise
        except Exception as error:  # whatever Keras says to it
            return _Observed([facts, again], [], _one_line(error))
        return _Observed([facts, again], [facts for _, facts in revived])

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
        facts_by_path: Facts = {}
        for path, owner, facts in zip(paths, layers.objects(), walked.of, strict=False):
            facts_by_path.update((path + where, fact) for where, fact in facts.items())
            for name in ("name", "trainable"):
                if hasattr(owner, name):
                    facts_by_path[f"{path}.{name}"] = Fact(_COUNTED.sub("", repr(getattr(owner, name))))
        return thing, facts_by_path


def _one_line(error: Exception) -> str:
    """An exception in a line; of one around another, what that said."""
    text = str(error).rpartition("Exception encountered: ")[2]
    return f"{type(error).__name__}: {' '.join(text.split())}"
