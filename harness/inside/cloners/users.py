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
    """What the name of a user's cloner says; None for any other name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return UsersCloner(found["folder"] or "", found["module"], found["function"])


def short_name(name: str) -> str:
    """The name of any cloner; that of a user's own without its folder."""
    its = users_cloner(name)
    return name if its is None else its.short


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
    its = users_cloner(name)
    if its is None:
        raise CannotBeCalled("%s: expected module:function or FILE.py:function" % name)
    found: Any = _imported(its)
    for part in its.function.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            there = _there(found)
            raise CannotBeCalled("%s: there is no %s in %s%s" % (its.short, part, its.module, there)) from None
        except Exception as error:  # a module that imports its parts when they are asked for may raise anything
            said = "%s of %s cannot be had: %s: %s" % (part, its.module, type(error).__name__, error)
            raise CannotBeCalled("%s: %s" % (its.short, said)) from None
    if not callable(found):
        what = "%s is of the type %s" % (its.function, type(found).__name__)
        raise CannotBeCalled("%s: %s: name a function that takes a model and gives its clone" % (its.short, what))
    try:
        inspect.signature(found).bind(None)
    except TypeError as error:
        takes = "%s%s" % (its.function, inspect.signature(found))
        raise CannotBeCalled(
            "%s: it is called with a model and nothing else, and is %s (%s): name a function of one's own that calls it"
            % (its.short, takes, error)
        ) from None
    except ValueError:  # a function that is written in C may not say what it takes
        pass
    taken: Callable[..., Any] = found
    return taken


def _imported(its: UsersCloner) -> types.ModuleType:
    if its.folder and its.folder not in sys.path:
        sys.path.insert(0, its.folder)
    try:
        module = importlib.import_module(its.module)
    except BaseException as error:  # a module may end in anything, SystemExit among it
        where = [each for each in traceback.extract_tb(error.__traceback__) if "importlib" not in each.filename][1:]
        at = " (%s, line %s)" % (where[-1].filename, where[-1].lineno) if where else ""
        said = "%s cannot be imported: %s: %s" % (its.module, type(error).__name__, error)
        raise CannotBeCalled("%s: %s%s%s" % (its.short, said, at, _how(its))) from None
    file = getattr(module, "__file__", None)
    if its.folder and file and not os.path.realpath(file).startswith(os.path.realpath(its.folder) + os.sep):
        said = "another module of the name %s is imported already, from %s" % (its.module, file)
        raise CannotBeCalled("%s: %s: give it another name" % (its.short, said))
    return module


def _how(its: UsersCloner) -> str:
    if its.folder:
        return ""
    return "; it is not in the current folder: name FILE.py:function, or put its folder on the PYTHONPATH"


def _there(holder: Any) -> str:
    """The functions that there are."""
    names = [
        name
        for name, value in vars(holder).items()
        if not name.startswith("_") and isinstance(value, types.FunctionType)
    ]
    return "; it has %s" % ", ".join(names[:_MOST]) if names else ""


def no_model(name: str, clone: Any, framework: Framework) -> dict[str, Any] | None:
    """The failure of a user's cloner that gave something else than a model whose graph Keras knows; None of a model."""
    if framework.is_graph(clone):
        return None
    its = users_cloner(name)
    kind = type(clone)
    what = kind.__name__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__name__)
    package = framework.keras.__name__
    if isinstance(clone, framework.keras.models.Model):
        said = "a subclassed model (%s): Keras knows no graph of it to compare" % what
    else:
        said = "a %s: return a Functional or Sequential model of %s" % (what, package)
    message = "%s gave %s" % (its.short if its else name, said)
    return {"type": NO_MODEL, "message": encodable(message), "frames": []}
