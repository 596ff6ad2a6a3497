"""What to try for the arguments of a class: by name, by what the annotation and the documentation say, by the default.

Whether a class takes a value, Keras says. A value that may be the default itself in another form is left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clonediff.harness.subjects.outcomes import AuditedClass, AuditedParameter
from clonediff.strategies.graph import Form, Function, Items, Made, Named, Seq, Value, leaves
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT, NO_SENSE, Kind, Spec, arguments, objects
from clonediff.strategies.kinds.arguments import NOT_GIVEN, SAID_OTHERWISE, made, values
from clonediff.strategies.kinds.kind import NO_PLAIN_DEFAULT
from clonediff.strategies.kinds.objects import values_of

MOST = 4
"""So many values are tried for an argument."""
_COMBINED = 24
"""So many ways are tried to make a class of what it needs."""

ANY_WORD = "mine"

_OF_ALL: Mapping[str, tuple[Value, ...]] = {
    "name": (ANY_WORD,),
    "trainable": (False,),
    "dtype": ("float64", made("dtype_policies.DTypePolicy", name="mixed_bfloat16")),
    "autocast": (False,),
    "activity_regularizer": ("l2",),
    "stateful": (True,),
    "sparse": (True,),
    "ragged": (True,),
    "seed": (7,),
}
_SHAPES: tuple[tuple[tuple[int, ...], str], ...] = (
    *(((3, 4), "float32"), ((4, 4, 3), "float32"), ((4,), "float32"), ((4, 4, 4, 2), "float32")),
    *(((3, 4), "int32"), ((4,), "int32"), ((3,), "string")),
)
"""What a layer is called on, beside the batch."""
_LITERAL = re.compile(r"Literal\[(.*)\]")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_OR_NOT = ("None", "Optional", "Union", "typing")
_BY_TYPE: Mapping[str, tuple[Value, ...]] = {"bool": (True,), "int": (2, 3), "float": (0.5, 2.0), "str": (ANY_WORD,)}


def kind_of(audited: AuditedClass) -> Kind | None:
    """What the catalogue has on a class of Keras' own."""
    package, _, name = audited.name.rpartition(".")
    return CATALOGUE.get(name) if package.endswith("keras.layers") else None


def proposals(audited: AuditedClass) -> list[dict[str, Any]]:
    """How a layer may be called, likely ways first."""
    kind = kind_of(audited)
    if kind is not None:
        counts = [(count, "list" if kind.listed(count) else "each" if count > 1 else "one") for count, _ in kind.forms]
    else:
        needed = len(audited.call or ())
        counts = [(needed, "each")] if needed > 1 else [(1, "one"), (2, "list")]
    found = []
    for (shape, dtype), (count, how) in itertools.product(_SHAPES, dict.fromkeys(counts)):
        found.append({"tensors": [{"shape": shape, "dtype": dtype}] * count, "given": how})
    return found


def bases(audited: AuditedClass, more: Mapping[str, tuple[Value, ...]]) -> Iterator[dict[str, Value]]:
    """The arguments that a class may be made with where none is away from its default, the fewest first."""
    needed = [each for each in audited.constructor if each.required]
    choices = [_needed(audited, each, more) for each in needed]
    for chosen in itertools.islice(itertools.product(*choices), _COMBINED):
        yield dict(zip([each.name for each in needed], chosen, strict=True))
    kind = kind_of(audited)
    if kind is not None:
        yield from _of_catalogue(kind)


def _needed(
    audited: AuditedClass, parameter: AuditedParameter, more: Mapping[str, tuple[Value, ...]]
) -> tuple[Value, ...]:
    kind = kind_of(audited)
    told = () if kind is None else tuple(each for each in kind.options.get(parameter.name, ()) if each != LEFT_OUT)
    if parameter.name in more or told:
        return more.get(parameter.name, ()) + told
    said = _said(parameter)
    if not said and parameter.annotation and is_guessed(audited, parameter):
        return ()
    by_name = tuple(each for each in values_of(audited.sort, parameter) if not _is_own(each))
    return said or by_name or (2, 0.5, ANY_WORD)


def _of_catalogue(kind: Kind) -> Iterator[dict[str, Value]]:
    """A layer of Keras with a value for each of its options."""
    full = {name: next((each for each in tried if each != LEFT_OUT), None) for name, tried in kind.options.items()}
    first = {name: tried[0] for name, tried in kind.options.items() if tried}
    for drawn, (shape, dtype) in itertools.product((first, full), _SHAPES):
        args: dict[str, Value] | None = dict(drawn)
        if kind.arrange is not None:
            try:
                args = kind.arrange((Spec(shape, dtype),) * kind.takes[0], drawn)
            except NO_SENSE:
                continue
        if args is not None and not any(part in args for part in kind.parts):
            yield {name: value for name, value in args.items() if value != LEFT_OUT}


def tried(
    audited: AuditedClass, parameter: AuditedParameter, base: Mapping[str, Any], more: Mapping[str, tuple[Value, ...]]
) -> tuple[Value, ...]:
    """The values of an argument that are worth trying, away from its default and from what the base has."""
    name = parameter.name
    default = base.get(name, None if parameter.default == NO_PLAIN_DEFAULT else parameter.default)
    kind = kind_of(audited)
    found: list[Value] = list(more.get(name, ()))
    if type(default) is int and name in base:  # the size of a small model: most go with twice as much
        found.append(2 * default)
    if isinstance(default, Seq) and name in base and default.items and type(default.items[-1]) is int:
        found.append(replace(default, items=(*default.items[:-1], 2 * default.items[-1])))
    if type(default) is bool:
        found.append(not default)
    elif name in _OF_ALL:
        found += _OF_ALL[name]
    else:
        found += _said(parameter)
        if kind is not None:
            found += [each for each in kind.options.get(name, ()) if each != LEFT_OUT and each != "each"]
        # What is none of the types that an annotation names is no value.
        nothing_else = bool(parameter.annotation) and is_guessed(audited, parameter)
        found += values_of(audited.sort, parameter) if name not in SAID_OTHERWISE and not nothing_else else ()
        found += parameter.words
        if name not in NOT_GIVEN and not nothing_else:
            found += values(name, default if not parameter.required else None)
        if isinstance(default, str):
            found.append(ANY_WORD)
    away = [each for each in dict.fromkeys(found) if _plain(each) != _plain(default) and not _is_own(each)]
    if audited.sort == "model":  # it is made of numbers and words
        away = [each for each in away if not any(isinstance(leaf, Made) for leaf in leaves(each))]
    left_out = name in NOT_GIVEN and name not in (*_OF_ALL, *more)
    # How a model is compiled is no part of its config: a file has it beside that.
    return () if left_out or (audited.sort, name) == ("model", "compile") else tuple(away[:MOST])


def is_guessed(audited: AuditedClass, parameter: AuditedParameter) -> bool:
    """Whether nothing says what an argument can be, so that Keras may take a value that is none for it."""
    kind = kind_of(audited)
    told = (
        _said(parameter) or parameter.words or parameter.name in _OF_ALL,
        kind is not None and parameter.name in kind.options,
        arguments.of_name(parameter.name) or objects.of_name(audited.sort, parameter.name),
        not parameter.required and parameter.default not in (None, NO_PLAIN_DEFAULT),
    )
    return not any(told)


def _is_own(value: Value) -> bool:
    """Whether it is a function or a class of one's own, which a config may name and nobody finds."""
    return any(isinstance(each, (Function, Form)) for each in leaves(value))


def _said(parameter: AuditedParameter) -> tuple[Value, ...]:
    """What the annotation says."""
    literal = _LITERAL.search(parameter.annotation)
    if literal:
        return tuple(one or other for one, other in _QUOTED.findall(literal[1]))
    words = re.findall(r"\w+", parameter.annotation)
    if not set(words) <= {*_BY_TYPE, *_OR_NOT}:
        return ()
    return tuple(itertools.chain.from_iterable(_BY_TYPE.get(word, ()) for word in words))


def _plain(value: Any) -> Any:
    """What a value comes to once it is normalised: a tuple of twos is as good as a two."""
    match value:
        case Seq(items=items) if items:
            inner = [_plain(each) for each in items]
            return inner[0] if all(each == inner[0] for each in inner) else tuple(inner)
        case Items() | Named():
            return value
        case bool() | None | str():
            return repr(value)
    return float(value) if isinstance(value, (int, float)) else value


def named_in(why: str, base: object) -> tuple[Value, ...]:
    """The words that a refusal has in quotes: they may be what Keras takes."""
    words = (one or other for one, other in _QUOTED.findall(why.replace("`", "")))
    return tuple(each for each in dict.fromkeys(words) if each and each != base)[:MOST]


def pairs(
    audited: AuditedClass, parameter: AuditedParameter, why: str, base: Mapping[str, Any], more: Mapping[str, Any]
) -> Iterator[dict[str, Value]]:
    """Other arguments that may make a refused value a good one: those that the refusal names, with a value each."""
    named: Sequence[AuditedParameter] = [
        each for each in audited.constructor if each is not parameter and re.search(rf"\b{re.escape(each.name)}\b", why)
    ]
    for other in named:
        for value in tried(audited, other, base, more):
            yield {other.name: value}
