"""What to try for the arguments of a class, as source text: what is drawn for an argument of the name, or its default.

Whether a class takes a value, Keras says. A value that may be the default itself in another form is left out.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from clonediff.harness.observation import AuditedClass, Parameter
from clonediff.strategies import values
from clonediff.strategies.layers import CATALOGUE

Arguments: TypeAlias = Mapping[str, str]
"""Arguments by name, as source text."""
Values = Mapping[str, tuple[str, ...]]

_MOST, _COMBINED = 4, 24
"""So many values are tried for an argument, and so many ways to make a class of what it needs."""
_ANY_WORD = '"mine"'
_ANYTHING = ("2", "0.5", _ANY_WORD)
_OF_ALL: Values = {
    "name": (_ANY_WORD,),
    "trainable": ("False",),
    "dtype": ('"float64"', 'keras.dtype_policies.DTypePolicy("mixed_bfloat16")'),
    "autocast": ("False",),
    "activity_regularizer": ('"l2"',),
    "stateful": ("True",),
    "sparse": ("True",),
    "ragged": ("True",),
    "seed": ("7",),
}


def _bases(audited: AuditedClass) -> list[dict[str, str]]:
    """What the catalogue makes a class of Keras' own with, as far as that is the same for all tensors."""
    package, _, name = audited.name.rpartition(".")
    kind = CATALOGUE.get(name) if package.endswith("keras.layers") else None
    arguments = [dict(base) for base in kind.bases] if kind is not None else []
    return [base for base in arguments if not any("<" in text for text in base.values())]


def _options(audited: AuditedClass, name: str) -> tuple[str, ...]:
    """The values of an argument in those."""
    return tuple(dict.fromkeys(base[name] for base in _bases(audited) if name in base))


def bases(audited: AuditedClass, more: Values) -> Iterator[dict[str, str]]:
    """The arguments that a class may be made with where none is away from its default, the fewest first."""
    needed = [parameter.name for parameter in audited.constructor if parameter.required]
    choices = [
        more.get(name, ()) + _options(audited, name) or _plain(values.values(name, required=True)) or _ANYTHING
        for name in needed
    ]
    for chosen in itertools.islice(itertools.product(*choices), _COMBINED):
        yield dict(zip(needed, chosen, strict=True))
    yield from _bases(audited)


def alternatives(audited: AuditedClass, parameter: Parameter, base: Mapping[str, str], more: Values) -> tuple[str, ...]:
    """The values of an argument that are worth trying, away from its default and from what the base has."""
    name = parameter.name
    if name not in more and (name in values.NOT_DRAWN - _OF_ALL.keys() or (audited.is_model and name == "compile")):
        return ()  # how a model is compiled is no part of its config: a file has it beside that
    read = _read(base.get(name, repr(parameter.default)))
    candidates: list[str] = list(more.get(name, ()))
    if type(read) is int and name in base:  # the size of a small model: most go with twice as much
        candidates.append(repr(2 * read))
    if isinstance(read, (list, tuple)) and name in base and read and type(read[-1]) is int:
        candidates.append(repr(type(read)((*read[:-1], 2 * read[-1]))))
    if type(read) is bool:
        candidates.append(repr(not read))
    elif name in _OF_ALL:
        candidates += _OF_ALL[name]
    else:
        candidates += _options(audited, name)
        candidates += values.values(name, read)
        candidates += [_ANY_WORD] if isinstance(read, str) else []
    away = [value for value in dict.fromkeys(_plain(candidates)) if _normal(_read(value)) != _normal(read)]
    if audited.is_model:  # it is made of numbers and words
        away = [value for value in away if "layers." not in value]
    return tuple(away[:_MOST])


def _plain(texts: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """The values without functions and classes of one's own, which a config may name and nobody finds."""
    return tuple(text for text in texts if "<" not in text and "lambda" not in text)


def _read(text: str) -> Any:
    """A plain value, or the text of an object."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _normal(value: Any) -> Any:
    """What a value comes to once it is normalised: a tuple of twos is as good as a two."""
    if isinstance(value, (list, tuple)) and value:
        inner = [_normal(item) for item in value]
        return inner[0] if all(item == inner[0] for item in inner) else tuple(inner)
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    return float(value) if isinstance(value, (int, float)) else repr(value)
