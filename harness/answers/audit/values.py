"""What to try for the arguments of a class: what is drawn for an argument of the name, or of its default.

Whether a class takes a value, Keras says. A value that may be the default itself in another form is left out. Of a
model of `keras_hub`, `keras_hub.txt` has a call that makes a small one.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from clonediff.harness.answers.audit.classes import AuditedClass
from clonediff.harness.drawing.drawable_kinds import value_of
from clonediff.strategies.graph import Form, Function, Made, Seq, Value, leaves
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT, arguments, objects
from clonediff.strategies.kinds.arguments import NOT_GIVEN, made
from clonediff.strategies.kinds.kind import NO_PLAIN_DEFAULT, Parameter

Values = Mapping[str, tuple[Value, ...]]
_HUB = "keras_hub.models"

_MOST, _COMBINED = 4, 24
"""So many values are tried for an argument, and so many ways to make a class of what it needs."""
_ANY_WORD = "mine"
_OF_ALL: Values = {
    "name": (_ANY_WORD,),
    "trainable": (False,),
    "dtype": ("float64", made("dtype_policies.DTypePolicy", name="mixed_bfloat16")),
    "autocast": (False,),
    "activity_regularizer": ("l2",),
    "stateful": (True,),
    "sparse": (True,),
    "ragged": (True,),
    "seed": (7,),
}


def _options(audited: AuditedClass) -> Values:
    """What the catalogue has on a class of Keras' own."""
    package, _, name = audited.name.rpartition(".")
    if name not in CATALOGUE or not package.endswith("keras.layers"):
        return {}
    options = CATALOGUE[name].options.items()
    return {name: tuple(value for value in values if value != LEFT_OUT) for name, values in options}


def bases(audited: AuditedClass, more: Values) -> Iterator[dict[str, Value]]:
    """The arguments that a class may be made with where none is away from its default, the fewest first."""
    options = _options(audited)
    needed = [parameter for parameter in audited.constructor if parameter.required]
    choices = []
    for parameter in needed:
        known = more.get(parameter.name, ()) + options.get(parameter.name, ())
        by_name = tuple(value for value in objects.values_of(audited.sort, parameter) if not _is_own(value))
        choices.append(known or by_name or (2, 0.5, _ANY_WORD))
    for chosen in itertools.islice(itertools.product(*choices), _COMBINED):
        yield dict(zip([parameter.name for parameter in needed], chosen, strict=True))
    for number in (0, 1, -1):
        yield {name: values[number % len(values)] for name, values in options.items() if values}


def tried(audited: AuditedClass, parameter: Parameter, base: Mapping[str, Any], more: Values) -> tuple[Value, ...]:
    """The values of an argument that are worth trying, away from its default and from what the base has."""
    name = parameter.name
    if name not in more and (name in NOT_GIVEN.keys() - _OF_ALL or (audited.sort, name) == ("model", "compile")):
        return ()  # how a model is compiled is no part of its config: a file has it beside that
    default = base.get(name, None if parameter.default == NO_PLAIN_DEFAULT else parameter.default)
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
        found += [value for value in _options(audited).get(name, ()) if value != "each"]
        found += objects.values_of(audited.sort, parameter)
        found += arguments.values(name, None if parameter.required else default)
        found += [_ANY_WORD] if type(default) is str else []
    away = [value for value in dict.fromkeys(found) if _plain(value) != _plain(default) and not _is_own(value)]
    if audited.sort == "model":  # it is made of numbers and words
        away = [value for value in away if not any(isinstance(leaf, Made) for leaf in leaves(value))]
    return tuple(away[:_MOST])


def is_guessed(audited: AuditedClass, parameter: Parameter) -> bool:
    """Whether nothing says what an argument can be, so that Keras may take a value that is none for it."""
    name = parameter.name
    if name in _OF_ALL or name in _options(audited) or arguments.of_name(name) or objects.of_name(audited.sort, name):
        return False
    return parameter.required or parameter.default in (None, NO_PLAIN_DEFAULT)


def _is_own(value: Value) -> bool:
    """Whether it is a function or a class of one's own, which a config may name and nobody finds."""
    return any(isinstance(leaf, (Function, Form)) for leaf in leaves(value))


def _plain(value: Any) -> Any:
    """What a value comes to once it is normalised: a tuple of twos is as good as a two."""
    if isinstance(value, Seq) and value.items:
        items = [_plain(item) for item in value.items]
        return items[0] if all(item == items[0] for item in items) else tuple(items)
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    return float(value) if isinstance(value, (int, float)) else value


class Text(str):
    """A value that is written already."""

    __slots__ = ()


Arguments: TypeAlias = Mapping[str, Value | Text]


def _arguments(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg or "": keyword.value for keyword in call.keywords}


_TEXT = Path(__file__).with_name("keras_hub.txt").read_text(encoding="utf-8")
_CALLS = [node.value for node in ast.parse(_TEXT).body if isinstance(node, ast.Expr)]
CALLS = {ast.unparse(call.func): _arguments(call) for call in _CALLS if isinstance(call, ast.Call)}
"""The arguments of a model of each class."""


def small(name: str) -> Text:
    """The call that makes a small model of a class."""
    return _written(ast.Call(ast.Name(name), [], []))


def made_with(kinds: Sequence[AuditedClass]) -> dict[str, Arguments]:
    """The arguments of each class of keras_hub that needs some, by its name."""
    found: dict[str, Arguments] = {}
    for kind in kinds:
        name = kind.name.rpartition(".")[2]
        if kind.name == f"{_HUB}.{name}" and name in CALLS and any(each.required for each in kind.constructor):
            found[kind.name] = {key: _value(key, node) for key, node in CALLS[name].items()}
    return found


def _value(name: str, node: ast.expr) -> Value | Text:
    """An argument; of a number, the audit tries a larger one."""
    try:
        return value_of(ast.literal_eval(node), name)
    except ValueError:
        return _written(node)


def _written(node: ast.expr) -> Text:
    if not isinstance(node, ast.Call):
        return Text(ast.unparse(node))
    name = ast.unparse(node.func)
    arguments = {**CALLS.get(name, {}), **_arguments(node)}
    written = ", ".join(f"{key}={_written(value)}" for key, value in arguments.items())
    return Text(f"{name if '.' in name else f'{_HUB}.{name}'}({written})")
