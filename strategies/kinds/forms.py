"""Forms: the ways to give a function or an object, for each sort of what an argument takes.

A form is data, a key of the tables here, so that a graph from a file can hold no other code. How each is written is in
`clonediff.harness.source.forms`. What can be given plainly, by a name, a config or an instance of Keras, is among the
values of the argument itself (`clonediff.strategies.kinds.arguments`).
"""

from __future__ import annotations

from collections.abc import Mapping

from clonediff.strategies.graph import Form, Value

FUNCTIONS = (
    *("registered", "named", "namesake", "lambda", "keyword", "closure", "variable"),
    *("partial", "method", "callable"),
)
"""A function of one's own, the simplest first: with the name of one of Keras', with a default that is given by keyword
only, with a number or a variable of Keras around it; an object that can be called, or its method."""
OBJECTS = (
    *("registered class", "class", "keeps a list", "copies a list", "empties a list", "callable class"),
    *("shared", "changed"),
)
"""An object of a class of one's own, and what its constructor does with a list; one that can be called, with a config,
but of no class of Keras; one that all its owners share; one that is changed when the model is made."""

_CLASSES = tuple(each for each in OBJECTS if each not in ("callable class", "shared", "changed"))
"""A metric and an optimizer have a state, and so one owner. A policy of dtypes does not change."""

FORMS: Mapping[str, tuple[str, ...]] = {
    "activation": (
        *("registered", "of ops", "of ops, other default", "of ops alone", *FUNCTIONS[1:]),
        *(*OBJECTS, "partial of Keras", "config of a layer"),
    ),
    "initializer": (
        *("registered", "of ops", "of random", *FUNCTIONS[1:]),
        *(each for each in OBJECTS if each != "changed"),
        *("seed generator", "array"),
    ),
    "regularizer": ("registered", "of ops", *FUNCTIONS[1:], *OBJECTS),
    "constraint": ("registered", "of ops", *FUNCTIONS[1:], *OBJECTS),
    "loss": (*FUNCTIONS, *_CLASSES, "changed"),
    "metric": (*FUNCTIONS, *_CLASSES),
    "optimizer": _CLASSES,
    "policy": ("shared", *_CLASSES),
    "schedule": (*_CLASSES, "changed"),
}
"""The forms of each sort, the simplest first. An initializer that is changed once it was called has no meaning."""

SHARED = ("shared", "changed")
"""The forms that a layer is given for all its arguments of the sort, so that one object has several owners."""


OF_LAYERS = ("activation", "initializer", "regularizer", "constraint")
"""The sorts that an argument of a layer takes."""


def sort_of(argument: str) -> str:
    """The sort of what an argument of a layer takes, by its name; "" where that has no forms."""
    if argument == "dtype":
        return "policy"
    return next((sort for sort in OF_LAYERS if argument == sort or argument.endswith(f"_{sort}")), "")


def forms_of(argument: str) -> tuple[Form, ...]:
    """All forms in which an argument can be given, the simplest first."""
    sort = sort_of(argument)
    return tuple(Form(sort, form) for form in FORMS.get(sort, ()))


def can_be_set(argument: str, value: Value) -> bool:
    """Whether an argument of a layer may be left out, and the value be its attribute before the layer is built."""
    return sort_of(argument) != "" and isinstance(value, Form) and value.form not in _READ


_READ = ("config of a layer", "array")
"""The forms of which a constructor makes something else."""


def is_shared(value: Value) -> bool:
    """Whether it is an object that several owners are to have."""
    return isinstance(value, Form) and value.form in SHARED
