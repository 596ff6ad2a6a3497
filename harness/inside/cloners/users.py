"""Cloners of the user's own: what their names say, and how the function behind a name is imported.

A name is `module:function`, with the folder before it that the module is imported from, where that is not on the path
already: `folder/module:function`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import traceback
import types
from typing import Any, Callable, NamedTuple

from ...observation import Failure
from ..failures import encodable
from ..frameworks.interface import Framework

NO_MODEL = "NoModel"
"""The type of the failure of a cloner that gives something else than a model."""

_NAME = re.compile(
    r"(?:(?P<folder>.*)/)?(?P<module>[\w-]+(?:\.[\w-]+)*)"
    r":(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
)
_MOST = 10


class UsersCloner(NamedTuple):
    """The function of a name."""

    folder: str
    module: str
    function: str

    @property
    def name(self) -> str:
        """The whole name."""
        return "%s%s:%s" % (self.folder + "/" if self.folder else "", self.module, self.function)

    @property
    def short(self) -> str:
        """The same without the folder."""
        return "%s:%s" % (self.module, self.function)


def is_users(name: str) -> bool:
    """Whether a cloner is a user's own: no other has a colon in its name."""
    return ":" in name


def users_cloner(name: str) -> UsersCloner | None:
    """The parts of the name of a user's cloner; None for any other name."""
    match = _NAME.fullmatch(name)
    return None if match is None else UsersCloner(match["folder"] or "", match["module"], match["function"])


def problem(name: str) -> str:
    """Why the function of that name cannot be called with a model; "" where it can be."""
    try:
        function(name)
    except CannotBeCalled as error:
        return encodable(str(error))
    return ""


class CannotBeCalled(ValueError):
    """A name stands for no function of a model; the message says what is wrong, where, and what to do."""


def function(name: str) -> Callable[..., Any]:
    """The function of that name. Its module is imported once."""
    cloner = users_cloner(name)
    if cloner is None:
        raise CannotBeCalled("%s: expected module:function or FILE.py:function" % name)
    try:
        return _function(cloner)
    except CannotBeCalled as error:
        raise CannotBeCalled("%s: %s" % (cloner.short, error)) from None


def _function(cloner: UsersCloner) -> Callable[..., Any]:
    value: Any = _imported(cloner)
    for part in cloner.function.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise CannotBeCalled("there is no %s in %s%s" % (part, cloner.module, _functions(value))) from None
    if not callable(value):
        advice = "name a function that takes a model and gives its clone"
        raise CannotBeCalled("%s is of the type %s: %s" % (cloner.function, type(value).__name__, advice))
    try:
        inspect.signature(value).bind(None)
    except TypeError as error:
        raise CannotBeCalled(
            "it is called with a model and nothing else, and is %s%s (%s): name a function of one's own that calls it"
            % (cloner.function, inspect.signature(value), error)
        ) from None
    except ValueError:  # a function that is written in C may not say what it takes
        pass
    result: Callable[..., Any] = value
    return result


def _imported(cloner: UsersCloner) -> types.ModuleType:
    if cloner.folder and cloner.folder not in sys.path:
        sys.path.insert(0, cloner.folder)
    try:
        module = importlib.import_module(cloner.module)
    except BaseException as error:  # a module may end in anything, SystemExit among it
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if "importlib" not in frame.filename][1:]
        place = " (%s, line %s)" % (own[-1].filename, own[-1].lineno) if own else ""
        advice = "; it is not in the current folder: name FILE.py:function, or put its folder on the PYTHONPATH"
        reason = "%s: %s%s%s" % (type(error).__name__, error, place, "" if cloner.folder else advice)
        raise CannotBeCalled("%s cannot be imported: %s" % (cloner.module, reason)) from None
    file = getattr(module, "__file__", None)
    if cloner.folder and file and not os.path.realpath(file).startswith(os.path.realpath(cloner.folder) + os.sep):
        problem = "another module of the name %s is imported already, from %s: give it another name"
        raise CannotBeCalled(problem % (cloner.module, file))
    return module


def _functions(holder: Any) -> str:
    """The functions that there are."""
    items = vars(holder).items()
    names = [name for name, value in items if name[:1] != "_" and isinstance(value, types.FunctionType)]
    return "; it has %s" % ", ".join(names[:_MOST]) if names else ""


def no_model(name: str, clone: Any, framework: Framework) -> Failure | None:
    """The failure of a user's cloner that gave something else than a model whose graph Keras knows; None of a model."""
    if framework.is_graph(clone):
        return None
    cloner, kind = users_cloner(name), type(clone)
    text = kind.__name__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__name__)
    text = "a %s: return a Functional or Sequential model of %s" % (text, framework.keras.__name__)
    return Failure(NO_MODEL, encodable("%s gave %s" % (cloner.short if cloner else name, text)))
