"""A proposed fix in the place of the release's own cloning functions, in the process of that release.

Owns which module of a release holds them, and how other code takes their place: it runs in that module's own
namespace, as if it had been typed into the file, and whatever else in the package refers to a function that it
replaces refers to the new one. Nothing here undoes that: the process is the candidate's from then on.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

from .failures import CANDIDATE_FILE, failure
from .frameworks.interface import Framework


def cloning(framework: Framework, pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """What the release has for cloning and, where `pieces` are given, what came of putting them in its place.

    A piece is `text` and the `line` of the candidate's file on which it begins.
    """
    module = cloning_module(framework)
    root = sys.modules[module.__name__.partition(".")[0]]
    own = own_functions(module)
    about: dict[str, Any] = {
        "module": module.__name__,
        "file": os.path.realpath(getattr(module, "__file__", None) or ""),
        "package": os.path.dirname(os.path.realpath(getattr(root, "__file__", None) or "")),
        "functions": sorted(own),
    }
    if not pieces:
        return about
    refused = put_in_place(module, pieces)
    if refused is not None:
        about["failure"] = refused
        return about
    replaced = {name for name, before in own.items() if vars(module).get(name) is not before}
    refer_to_new(module, own, replaced)
    about["replaced"] = sorted(replaced)
    return about


def cloning_module(framework: Framework) -> types.ModuleType:
    """The module that defines this release's `clone_model`."""
    keras: Any = framework.keras
    return sys.modules[keras.models.clone_model.__module__]


def own_functions(module: types.ModuleType) -> dict[str, Any]:
    """The functions that a module itself defines, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__
    }


def put_in_place(module: types.ModuleType, pieces: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Run the pieces in the module's namespace; what stopped that, if anything did."""
    try:
        for piece in pieces:
            text = "\n" * (int(piece.get("line", 1)) - 1) + piece["text"]
            exec(compile(text, CANDIDATE_FILE, "exec", dont_inherit=True), vars(module))  # noqa: S102 - what it is for
    except BaseException as error:  # a module may end in anything, SystemExit among it
        return failure(error, below="put_in_place")
    return None


def refer_to_new(module: types.ModuleType, own: dict[str, Any], replaced: set[str]) -> None:
    """Let every module that holds a replaced function hold the new one: `keras.models` in Keras 3 is another."""
    new = {id(own[name]): vars(module)[name] for name in replaced if name in vars(module)}
    for other in list(sys.modules.values()):
        if not isinstance(other, types.ModuleType):
            continue
        for name, value in list(vars(other).items()):
            if id(value) in new:
                vars(other)[name] = new[id(value)]
