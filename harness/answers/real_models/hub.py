"""The models of `keras_hub`, made small by a rule that goes by the names of arguments, with exceptions.

A class of a later release is tried as soon as the rule knows its arguments; where it does not, that is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clonediff.harness.answers.real_models.recipe import Called, MadeObject, Recipe, Value, script
from clonediff.harness.answers.real_models.small import EXCEPTIONS, IN_PARTS, NOT_TRIED, SIZES, SMALL
from clonediff.harness.subjects.outcomes import ModelClass

SUITE = "keras_hub"
MODULE = "keras_hub.models"


def recipes(classes: Iterable[ModelClass]) -> list[Recipe]:
    """A recipe for each class that is a whole model: backbones first, then the tasks that are made of them."""
    by_name = {each.name: each for each in classes}
    chosen = [each for each in by_name.values() if _is_whole(each)]
    return [_recipe(each, by_name) for each in sorted(chosen, key=lambda each: (bool(each.made_of), each.name))]


def _is_whole(kind: ModelClass) -> bool:
    """Whether a class makes a model by itself, and is no base of others."""
    return kind.name not in IN_PARTS and bool(kind.needs)


def _recipe(kind: ModelClass, classes: Mapping[str, ModelClass]) -> Recipe:
    name = f"{SUITE}:{kind.name}"
    not_tried = NOT_TRIED.get(kind.name) or NOT_TRIED.get(kind.made_of)
    if not_tried is not None:
        return Recipe(name, "keras", unable=not_tried)
    try:
        call = called(kind.name, classes)
        source = script("\n".join(("import keras", "import keras_hub", *_rooms(call))), call)
    except UnknownArgumentError as error:
        return Recipe(name, "keras", unable=str(error))
    sizes = SIZES.get(kind.name) or SIZES.get(kind.made_of) or {}
    return Recipe(name, "keras", source, tuple(sizes.items()))


def _rooms(call: Called) -> list[str]:
    """The imports of modules that keras_hub does not import by itself."""
    inside = [each for value in call.arguments.values() if isinstance(value, Called) for each in _rooms(value)]
    own = call.name.rpartition(".")[0]
    return list(dict.fromkeys([f"import {own}", *inside] if ".src." in own else inside))


class UnknownArgumentError(ValueError):
    """An argument that a constructor needs, and of which neither the rule nor an exception says what it is to be."""


def called(name: str, classes: Mapping[str, ModelClass], other: Mapping[str, Value] | None = None) -> Called:
    """The call that makes a small model of a class, with `other` arguments than usual."""
    kind = classes.get(name)
    if kind is None:
        raise UnknownArgumentError(f"{MODULE} has no {name}, of which it is made")
    own = {**EXCEPTIONS.get(name, {}), **(other or {})}
    arguments: dict[str, Value] = {}
    for argument in kind.takes:
        if argument in own:
            arguments[argument] = own[argument]
        elif argument == "backbone" and kind.made_of:
            arguments[argument] = MadeObject(kind.made_of)
        elif argument in SMALL:
            arguments[argument] = SMALL[argument]
        elif argument in kind.needs and argument == "preprocessor":
            arguments[argument] = None
        elif argument in kind.needs:
            raise UnknownArgumentError(f"nobody says what {name} is to get as `{argument}`")
    arguments.update((key, value) for key, value in own.items() if key not in arguments)  # those of **kwargs
    return Called(f"{MODULE}.{name}", {key: _made(value, classes) for key, value in arguments.items()})


def _made(value: Value, classes: Mapping[str, ModelClass]) -> Value:
    if isinstance(value, MadeObject):
        if value.room:
            return Called(f"{value.room}.{value.kind}", value.arguments)
        return called(value.kind, classes, value.arguments)
    return value
