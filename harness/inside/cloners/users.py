"""Cloners of the user's own: what their names say, and how the function behind a name is imported.

A name is `module:function`, with the folder before it that the module is imported from, where that is not on the path
already: `folder/module:function`. Where such a cloner promises less than `clone_model`, or other things, the name ends
in what it is held to: `module:function[outputs,weights]`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import traceback
import types
from typing import Any, Callable, NamedTuple, Tuple

from ..failures import encodable
from ..frameworks.interface import Framework

VALUES = "values"
"""What a cloner may promise that no check is called by: the clone has the values of the original's weights."""
EVERY_CHECK = "all"
"""What stands for every check."""
NO_MODEL = "NoModel"
"""The type of the failure of a cloner that gives something else than a model."""

_NAME = re.compile(
    r"(?:(?P<folder>.*)/)?(?P<module>[\w-]+(?:\.[\w-]+)*)"
    r":(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\[(?P<promises>[\w,]+)\])?"
)
_CLONING = ("clone_model", "_clone_functional_model", "_clone_sequential_model")
_MOST = 10


class UsersCloner(NamedTuple):
    """The function of a name, and what it is held to: () is all that `clone_model` promises."""

    folder: str
    module: str
    function: str
    promises: Tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The name without what it is held to."""
        return "%s%s:%s" % (self.folder + "/" if self.folder else "", self.module, self.function)

    @property
    def short(self) -> str:
        """The same without the folder."""
        return "%s:%s" % (self.module, self.function)

    @property
    def name(self) -> str:
        """The whole name."""
        return self.code + ("[%s]" % ",".join(self.promises) if self.promises else "")

    @property
    def brings_values(self) -> bool:
        """Whether its clone is to begin with the values of the original's weights."""
        return VALUES in self.promises

    def promises_check(self, check: str) -> bool:
        """Whether it is held to a check. Any cloner is to make a clone."""
        return check == "made" or not self.promises or EVERY_CHECK in self.promises or check in self.promises


def is_users(name: str) -> bool:
    """Whether a cloner is a user's own: no other has a colon in its name."""
    return ":" in name


def users_cloner(name: str) -> UsersCloner | None:
    """What the name of a user's cloner says; None for any other name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    promises = tuple(filter(None, (found["promises"] or "").split(",")))
    return UsersCloner(found["folder"] or "", found["module"], found["function"], promises)


def short_name(name: str) -> str:
    """The name of any cloner; that of a user's own without its folder and what it promises."""
    its = users_cloner(name)
    return name if its is None else its.short


def as_asked(asked: str, found: str) -> str:
    """The cloner that is asked for instead of the one that something was found with.

    Where that is the same function, and it is not said what it is to be held to, that is what it was held to.
    """
    one, other = users_cloner(asked), users_cloner(found)
    if one is None or other is None or one.promises or one.code != other.code:
        return asked
    return found


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


class CallsOfKeras:
    """A scope that notes whether the `clone_model` of Keras is called in it, whoever calls that."""

    def __init__(self, framework: Framework) -> None:
        module = sys.modules[framework.keras.models.clone_model.__module__]
        functions = [vars(module).get(name) for name in _CLONING]
        self._codes = {each.__code__ for each in functions if isinstance(each, types.FunctionType)}
        self._before: Any = None
        self._looks = False
        self.seen = False

    def __enter__(self) -> CallsOfKeras:
        """Begin to look, unless a profiler does that is no function of Python, which could not be put back."""
        self._before = sys.getprofile()
        self._looks = self._before is None or callable(self._before)
        if self._looks:
            sys.setprofile(self._look)
        return self

    def __exit__(self, *error: Any) -> None:
        """End it."""
        if self._looks:
            sys.setprofile(self._before)

    def _look(self, frame: Any, event: str, argument: Any) -> None:
        if self._before is not None:  # who counts calls counts on
            self._before(frame, event, argument)
        if event == "call" and frame.f_code in self._codes:
            self.seen = True
            sys.setprofile(self._before)  # nothing more is to be known
