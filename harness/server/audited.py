"""Which arguments of its constructor a class loses in its config: what is tried, and an answer for each argument.

Whether a class takes a value, Keras says.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from clonediff.strategies import values
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.layers import CATALOGUE

from ..inside.frameworks import framework as framework_of
from ..inside.frameworks.interface import Framework
from ..observation import ArgumentAudited, ClassAudited
from .audit import Audit, Construction
from .other_layers import named
from .signatures import constructor, is_of

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
    """The answers for a class of a package, a module or a file."""
    ((_, kind),) = named(name)
    return audited(name, kind, {}, framework)


def audited(name: str, kind: Any, more: Values, framework: Framework | None = None) -> ClassAudited:
    """The answers for all arguments of a class; none by name, where an object that is made plainly cannot be revived.

    `more` has values that are tried first.
    """
    auditor = _Auditor(kind, more, framework or framework_of(generation_of(kind)))
    base, plain = auditor.base()
    if plain.refused:
        return ClassAudited(name, reason=f"it cannot be made, or has no config: {plain.refused}")
    if any(not lost.path and not _SIGNATURE.search(lost.revived) for lost in plain.lost):  # it may be the value
        reason = f"no arguments are known with which it can be made: {plain.lost[0].message}"
        return ClassAudited(name, reason=reason)
    if plain.lost:
        return ClassAudited(name, (ArgumentAudited("", "lost", reason=plain.lost[0].message),))
    return ClassAudited(name, tuple(auditor.argument(parameter, base) for parameter in auditor.parameters))


class _Auditor:
    """Asks what objects of a class come to."""

    def __init__(self, kind: Any, more: Values, framework: Framework) -> None:
        self._kind, self._more, self._audit = kind, more, Audit(framework, kind)
        self._dialect = DIALECTS[framework.generation]
        self.parameters = constructor(kind, framework.keras, _only_documented(framework.keras))
        # What the catalogue makes a layer of Keras with, as far as that is the same for all tensors.
        own = CATALOGUE.get(kind.__name__) if vars(framework.keras.layers).get(kind.__name__) is kind else None
        bases = [dict(base) for base in own.bases] if own is not None else []
        self._bases = [base for base in bases if not any("<" in text for text in base.values())]

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
                return ArgumentAudited(name, "lost", text, answer.lost[0].message)
            kept = kept or (text if answer.changes else "")
        return ArgumentAudited(name, "kept" if kept else "cannot tell", kept)

    def _possible_bases(self) -> Iterator[dict[str, str]]:
        needed = [parameter["name"] for parameter in self.parameters if parameter.get("required")]
        choices = [
            (*self._more.get(name, ()), *self._of_bases(name))
            or _plain(values.values(name, required=True))
            or _ANYTHING
            for name in needed
        ]
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
        """The lines that make an object, as `example`."""
        written = ", ".join(f"{argument}={text}" for argument, text in arguments.items())
        text = self._dialect.spell(f"example = {self._kind.__name__}({written})\n")
        return self._dialect.head(f"{text}keras.") + text


def _only_documented(keras: Any) -> Callable[[Any], bool]:
    """Whether what a base within Keras takes is left out where the class does not document it."""
    return lambda base: is_of(keras, base) and base not in _BASES(keras)


def _plain(texts: Sequence[str]) -> list[str]:
    """The values without functions and classes of the script, which a config may name and nothing finds."""
    return [text for text in texts if "<" not in text and "lambda" not in text]


def _read(text: str) -> Any:
    """A plain value, or the text of an object."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
