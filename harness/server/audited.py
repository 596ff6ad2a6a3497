"""Which arguments of its constructor a class loses in its config: what is tried, and an answer for each argument.

Whether a class takes a value, Keras says. A text makes an object under the name `example`. It is revived by
`from_config(get_config())`, and through JSON. An argument is lost where a fact that it changes is another in the
revived object. What two objects of the same text, or two revivals, do not have in common says nothing.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from clonediff.harness.inside.facts import Facts as Walk
from clonediff.harness.inside.frameworks import framework as framework_of
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.layers import Layers
from clonediff.harness.inside.observer import Observer
from clonediff.harness.inside.packages import KERAS, root_of
from clonediff.harness.inside.script_module import script_module
from clonediff.harness.inside.warning_recorder import silenced
from clonediff.harness.observation import ArgumentAudited, ClassAudited, Fact, same_fact
from clonediff.harness.server.signatures import constructor, named
from clonediff.strategies import values
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.layers import CATALOGUE

Values = Mapping[str, Sequence[str]]
"""Values by the name of an argument, as source text."""

_MOST, _COMBINED = 4, 24
"""The most values for an argument, and the most ways to make a class of what it needs."""
_ANY_WORD = '"mine"'
_ANYTHING = ("2", "0.5", _ANY_WORD)
_OF_ALL: Values = {
    "name": (_ANY_WORD,),
    "dtype": ('"float64"', 'keras.dtype_policies.DTypePolicy("mixed_bfloat16")'),
    "activity_regularizer": ('"l2"',),
    "seed": ("7",),
    **dict.fromkeys(("trainable", "autocast"), ("False",)),
    **dict.fromkeys(("stateful", "sparse", "ragged"), ("True",)),
}
_LOST_BY_LAYER = "autocast"  # the base of all layers loses it, which is no fault of a class
_SIGNATURE = re.compile(r"required (?:positional|keyword)|nexpected keyword|nrecognized keyword")
_BASES = attrgetter(
    *("layers.Layer", "losses.Loss", "metrics.Metric", "optimizers.Optimizer", "constraints.Constraint", "Model"),
    *("optimizers.schedules.LearningRateSchedule", "initializers.Initializer", "regularizers.Regularizer"),
)
"""The classes of Keras that others are made of."""
_SKIPPED = re.compile(r"_|src$|legacy$|backend$|wrappers$")
"""Modules that have other names of the same classes."""


def classes(target: str) -> tuple[str, list[str]]:
    """The classes with a config that a target has, each once, by the first of its names; and their generation."""
    kinds: dict[Any, str] = {}
    modules = [target]
    for module in modules:
        for name, thing in named(module):
            word = re.split("[.:]", name)[-1]
            if inspect.ismodule(thing):
                if thing.__name__.startswith(module + ".") and not _SKIPPED.match(word) and name not in modules:
                    modules.append(name)
            elif isinstance(thing, type) and hasattr(thing, "from_config") and word == thing.__name__:
                kinds.setdefault(thing, name)
    return max(map(generation_of, kinds), default="keras"), list(kinds.values())


def generation_of(kind: Any) -> str:
    """The generation that a class is of: "tf_keras" where it has a base there, else "keras"."""
    return "tf_keras" if any(base.__module__.startswith("tf_keras.") for base in kind.__mro__) else "keras"


def audited_by_name(name: str, framework: Framework) -> ClassAudited:
    ((_, kind),) = named(name)
    return audited(name, kind, {}, framework)


def audited(name: str, kind: Any, more: Values, framework: Framework | None = None) -> ClassAudited:
    """The answers for all arguments of a class; `more` has values that are tried first."""
    auditor = _Auditor(kind, more, framework or framework_of(generation_of(kind)))
    base, plain = auditor.base()
    if plain.refused:
        return ClassAudited(name, reason=f"it cannot be made, or has no config: {plain.refused}")
    if plain.crash and not _SIGNATURE.search(plain.crash):  # it may be the value
        return ClassAudited(name, reason=f"no arguments are known with which it can be made: {plain.crash}")
    if plain.lost:
        return ClassAudited(name, (ArgumentAudited("", "lost", reason=plain.lost),))
    return ClassAudited(name, tuple(auditor.argument(parameter, base) for parameter in auditor.parameters))


class _Auditor:
    def __init__(self, kind: Any, more: Values, framework: Framework) -> None:
        self._kind, self._more, self._audit = kind, more, Audit(framework, kind)
        self._dialect = DIALECTS[framework.generation]
        bases_of_all = _BASES(framework.keras)
        self.parameters = constructor(
            kind, framework.keras, lambda base: root_of(base) in KERAS and base not in bases_of_all
        )
        # What the catalogue makes a layer of Keras with, as far as that is the same for all tensors.
        own = CATALOGUE.get(kind.__name__) if vars(framework.keras.layers).get(kind.__name__) is kind else None
        bases = own.bases if own is not None else ()
        self._bases = [dict(base) for base in bases if not any("<" in text for _, text in base)]

    def base(self) -> tuple[dict[str, str], Construction]:
        """The arguments that the class is made with, the fewest that it takes and that can be revived."""
        possible = refused = None
        for base in self._possible_bases():
            answer = self._answer(base, base)
            if not answer.refused and not answer.lost:
                return base, answer
            if answer.refused:
                refused = refused or (base, answer)
            else:
                possible = possible or (base, answer)
        return possible or refused or ({}, Construction(refused="no arguments are known that it takes"))

    def argument(self, parameter: dict[str, Any], base: dict[str, str]) -> ArgumentAudited:
        """Whether an argument is lost: by the values that are worth trying, away from its default and the base."""
        name, kept = parameter["name"], ""
        companion, value = values.NEEDS.get(name, ("", ""))
        if any(other["name"] == companion for other in self.parameters):
            base = {**base, companion: value}
        default = _read(base.get(name, repr(parameter.get("default"))))
        for text in self._values(name, default):
            answer = self._answer(base, {**base, name: text})
            if answer.lost:
                return ArgumentAudited(name, "lost", text, answer.lost)
            kept = kept or (text if answer.changes else "")
        return ArgumentAudited(name, "kept" if kept else "cannot tell", kept)

    def _possible_bases(self) -> Iterator[dict[str, str]]:
        needed = [parameter["name"] for parameter in self.parameters if parameter.get("required")]
        known = ((name, (*self._more.get(name, ()), *self._of_bases(name))) for name in needed)
        choices = [own or _plain(values.values(name, required=True)) or _ANYTHING for name, own in known]
        for chosen in itertools.islice(itertools.product(*choices), _COMBINED):
            yield dict(zip(needed, chosen, strict=False))
        yield from self._bases

    def _values(self, name: str, default: Any) -> list[str]:
        of_layer = name == _LOST_BY_LAYER and self._kind.__name__ != "Layer"
        if name not in self._more and (of_layer or name in values.NOT_DRAWN - _OF_ALL.keys()):
            return []
        candidates = [*self._more.get(name, ())]
        if type(default) is bool:
            candidates.append(repr(not default))
        elif name in _OF_ALL:
            candidates += _OF_ALL[name]
        else:
            candidates += [*self._of_bases(name), *values.values(name, default)]
            candidates += [_ANY_WORD] if isinstance(default, str) else []
        return [text for text in dict.fromkeys(_plain(candidates)) if _read(text) != default][:_MOST]

    def _of_bases(self, name: str) -> list[str]:
        return [base[name] for base in self._bases if name in base]

    def _answer(self, base: dict[str, str], arguments: dict[str, str]) -> Construction:
        return self._audit.answer(self._script(base), self._script(arguments))

    def _script(self, arguments: dict[str, str]) -> str:
        written = ", ".join(f"{argument}={text}" for argument, text in arguments.items())
        text = self._dialect.spell(f"example = {self._kind.__name__}({written})\n")
        return self._dialect.head(f"{text}keras.") + text


def _plain(texts: Sequence[str]) -> list[str]:
    """The values without functions and classes of the script, which a config may name and nothing finds."""
    return [text for text in texts if "<" not in text and "lambda" not in text]


def _read(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


# -- what one object comes to

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


class Construction(NamedTuple):
    """What one construction comes to: why it cannot be made or revived, what is lost, and whether it changes a fact."""

    refused: str = ""
    crash: str = ""
    lost: str = ""
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
            return Construction(crash=observed.crash, lost=observed.crash, changes=bool(changed))
        lost = [path for path in changed if self._is_lost(path, observed)]
        lost.sort(key=lambda path: (" of " in facts[path].text, 2 * path.count("._") + path.count("["), len(path)))
        messages = [f"{path[1:]} is {revived[0][path].text}, not {facts[path].text}" for path in lost[:1]]
        return Construction(lost="".join(messages), changes=bool(changed))

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
            with script_module(text) as module:
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
        with silenced():
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
