"""Parses names of users' cloners, and imports the functions.

A name is `module:function`, or `folder/module:function` if the folder is not on the import path.
"""

from __future__ import annotations

import importlib
import inspect
import operator
import os
import re
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from clonediff.harness.inside.failures import escape_surrogates
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.observation import Failure

NO_MODEL = "NoModel"
"""The type of a failure: the cloner returned no model."""

_NAME = re.compile(
    r"(?:(?P<folder>.*)/)?(?P<module>[\w-]+(?:\.[\w-]+)*)"
    r":(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
)


class ClonerName(NamedTuple):
    folder: str
    module: str
    function: str

    @property
    def name(self) -> str:
        return "{}{}:{}".format(self.folder + "/" if self.folder else "", self.module, self.function)

    @property
    def short_name(self) -> str:
        return f"{self.module}:{self.function}"


def is_users_cloner(name: str) -> bool:
    """Whether a cloner is a user's function, whose name has a colon."""
    return ":" in name


def parse_cloner_name(name: str) -> ClonerName | None:
    """The parts of the name of a user's cloner, or None."""
    match = _NAME.fullmatch(name)
    return None if match is None else ClonerName(match["folder"] or "", match["module"], match["function"])


class ClonerError(ValueError):
    """A cloner's name does not name a function that takes a model."""


def cloner_problem(name: str) -> str:
    """Why a cloner cannot be called with a model, or ""."""
    try:
        import_cloner(name)
    except ClonerError as error:
        return escape_surrogates(str(error))
    return ""


def import_cloner(name: str) -> Callable[..., Any]:
    cloner = parse_cloner_name(name)
    if cloner is None:
        raise ClonerError(f"{name}: expected module:function or FILE.py:function")
    try:
        module = import_from(cloner.module, cloner.folder)
        value: Callable[..., Any] = operator.attrgetter(cloner.function)(module)
        if not isinstance(value, types.BuiltinFunctionType):  # its signature may be unknown
            inspect.signature(value).bind(None)
    except (AttributeError, ImportError, TypeError) as error:
        message = "%s: %s: name a function that takes a model and nothing else, and returns its clone"
        raise ClonerError(message % (cloner.short_name, error)) from None
    return value


def import_from(name: str, folder: str = "") -> types.ModuleType:
    if folder and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # a module may raise anything, such as SystemExit
        frames = traceback.extract_tb(error.__traceback__)
        user_frames = [frame for frame in frames if "importlib" not in frame.filename][1:]
        place = f" ({user_frames[-1].filename}, line {user_frames[-1].lineno})" if user_frames else ""
        advice = "" if folder else "; name FILE.py, or put its folder on the PYTHONPATH"
        reason = f"{type(error).__name__}: {error}{place}{advice}"
        raise ImportError(f"{name} cannot be imported: {reason}", name=name) from error
    file = getattr(module, "__file__", None)
    if folder and file and not os.path.realpath(file).startswith(os.path.realpath(folder) + os.sep):
        message = "another module named %s is already imported, from %s: rename your module"
        raise ImportError(message % (name, file), name=name)
    return module


def record_replacement(clone_function: Callable[[Any], Any], replacements: dict[str, str], layer: Any) -> Any:
    """Call a clone function; record the layer if its class or config changes."""
    copy = clone_function(layer)
    if copy is layer or type(copy) is not type(layer) or str(copy.get_config()) != str(layer.get_config()):
        replacements[layer.name] = f"{type(layer).__name__}, now {type(copy).__name__}"
    return copy


def no_model_failure(name: str, clone: Any, framework: Framework) -> Failure | None:
    """The failure if a cloner returned no model with a graph, or None."""
    if framework.is_graph(clone):
        return None
    cloner = parse_cloner_name(name)
    cls = type(clone)
    text = cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"
    text = f"an object of class {text}: return a Functional or Sequential model of {framework.keras.__name__}"
    return Failure(NO_MODEL, escape_surrogates(f"{cloner.short_name if cloner else name} returned {text}"))
