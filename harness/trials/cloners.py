"""Parses names of cloners, and checks that a subject supports them.

`harness/inside/cloners/users.py` documents names of users' cloners.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from clonediff.harness.inside.cloners.users import parse_cloner_name
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.strategies.program import Graph

_ALLOWED_NAMES: set[str] = set()
_MODULE_NAME = re.compile(r"[\w-]+")


def full_name_of_cloner(text: str) -> str:
    """The full name of a user's cloner, with its module's folder."""
    path, colon, function = absolute_name(text).rpartition(".py:")
    file = Path(f"{path}.py")
    if colon and not _MODULE_NAME.fullmatch(file.stem):
        rule = "the name of a module has only letters, digits, _ and -; rename the file"
        raise ValueError(f"{text}: {file.stem!r} cannot be imported: {rule}")
    cloner = parse_cloner_name(f"{path}:{function}" if colon else text)
    if cloner is None:
        raise ValueError(f"expected module:function or FILE.py:function of your own cloner, found {text!r}")
    if colon and not file.is_file():
        raise ValueError(f"{text}: there is no file {file}")
    if not colon:
        folder = os.path.abspath(cloner.folder or os.curdir)
        module = Path(folder, *cloner.module.split("."))
        is_found = cloner.folder or module.with_suffix(".py").is_file() or module.is_dir()
        cloner = cloner._replace(folder=folder if is_found else "")
    return cloner.name


def absolute_name(name: str) -> str:
    """A cloner's name, with the absolute path of a file."""
    path, colon, function = name.partition(".py:")
    if not colon and not name.endswith(".py"):
        return name
    return os.path.abspath(f"{path}.py" if colon else name) + (f":{function}" if colon else "")


def allow_cloners(names: Iterable[str]) -> None:
    _ALLOWED_NAMES.update(cloner.name for cloner in filter(None, map(parse_cloner_name, names)))


def support_problem(cloner: str, process: SubjectProcess, graph: Graph | None = None) -> str:
    """Why a cloner cannot be used with a subject and graph, or ""."""
    user_cloner = parse_cloner_name(cloner)
    if user_cloner is not None:
        name = user_cloner.name
        module = name.rpartition(":")[0] or name.rpartition(".")[0]
        if _ALLOWED_NAMES.isdisjoint((name, module)):
            return f"{name}: a user's cloner runs only if you name it: pass --cloner {shlex.quote(name)}"
        if problem := process.cloner_problem(cloner):
            return problem
    if graph is not None and graph.arguments and not takes_arguments(cloner):
        return f"{cloner}: takes only a model, but this graph is cloned with further arguments"
    return ""


def takes_arguments(cloner: str) -> bool:
    return cloner in ("upstream", "fixed")
