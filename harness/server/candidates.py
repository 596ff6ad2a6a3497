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

from ..inside.failures import CANDIDATE_FILE, failure
from ..inside.frameworks.interface import Framework


def cloning(framework: Framework, code: str) -> dict[str, Any]:
    """What the release has for cloning and, where `code` is given, what came of putting it in its place."""
    module = sys.modules[framework.keras.models.clone_model.__module__]
    package = sys.modules[module.__name__.partition(".")[0]]
    names = vars(module)
    functions = {name: value for name, value in names.items() if isinstance(value, types.FunctionType)}
    own = {name: value for name, value in functions.items() if value.__module__ == module.__name__}
    folder = os.path.dirname(os.path.realpath(package.__file__ or ""))
    about: dict[str, Any] = {"module": module.__name__, "package": folder, "functions": sorted(own)}
    if code:
        try:
            put_in_place(names, code)
        except BaseException as error:  # a module may end in anything, SystemExit among it
            return {**about, "failure": failure(error, below="put_in_place")}
        about["replaced"] = sorted(name for name, before in own.items() if names.get(name) is not before)
        refer_to_new({id(own[name]): names[name] for name in about["replaced"] if name in names})
    return about


def put_in_place(names: dict[str, Any], code: str) -> None:
    """Run the code in the namespace of a module."""
    exec(compile(code, CANDIDATE_FILE, "exec", dont_inherit=True), names)  # noqa: S102 - what it is for


def refer_to_new(new: dict[int, Any]) -> None:
    """Let every module that holds a replaced function hold the `new` one: `keras.models` in Keras 3 is another."""
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if isinstance(module, types.ModuleType) else ():
            if id(value) in new:
                vars(module)[name] = new[id(value)]
