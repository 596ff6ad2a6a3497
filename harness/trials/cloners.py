"""Which cloner a command line names, and whether it can make anything of a subject's models.

Owns how what a person writes becomes the name of a cloner: see `clonediff.harness.inside.cloners.users`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from clonediff.harness.inside.cloners.users import users_cloner
from clonediff.harness.source.other_layers import allow, is_allowed
from clonediff.harness.subjects.case import takes_arguments
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.strategies.clone_arguments import abilities_for
from clonediff.strategies.graph import Graph

_OF_A_MODULE = re.compile(r"[\w-]+")
_EXPECTED = "expected module:function or FILE.py:function of a cloner of your own"


def named(text: str) -> str:
    """The name of the cloner that a person names: `module:function`, or `FILE.py:function`.

    A module of the current folder is imported from there.
    """
    place, colon, rest = text.rpartition(".py:")
    file = Path(os.path.abspath(f"{place}.py")) if colon else None
    if file is not None and not _OF_A_MODULE.fullmatch(file.stem):
        said = "a module is called by letters, digits, _ and -: give the file another name"
        raise ValueError(f"{text}: {file.stem!r} cannot be imported: {said}")
    its = users_cloner(f"{file.parent}/{file.stem}:{rest}" if file is not None else text)
    if its is None:
        raise ValueError(f"{_EXPECTED}, found {text!r}")
    if file is not None and not file.is_file():
        raise ValueError(f"{text}: there is no file {file}")
    if file is None:
        folder = os.path.abspath(its.folder or os.curdir)
        its = its._replace(folder=folder if its.folder or _is_in(folder, its.module) else "")
    return its.name


def allow_cloners(names: Iterable[str]) -> None:
    """Let the code of these cloners run."""
    allow(its.name for its in filter(None, map(users_cloner, names)))


def unsupported_cloner(cloner: str, process: SubjectProcess, graph: Graph | None = None) -> str:
    """Why a cloner can make nothing of a subject's models, or of a graph's; "" where it can.

    Starts the process if need be.
    """
    users = users_cloner(cloner)
    if users is not None:
        if not is_allowed(users.name):
            return f"{users.name}: a cloner of somebody's own is code: name it with --cloner {shlex.quote(users.name)}"
        problem = process.cloner_problem(cloner)
        if problem:
            return problem
    arguments = None if graph is None else graph.clone_arguments
    if arguments is None:
        return ""
    if not takes_arguments(cloner):
        return f"{cloner}: takes a model and nothing else, and this graph is cloned with more arguments"
    missing = process.ready.capabilities.missing
    unknown = next((name for name in abilities_for(arguments) if name in missing), "")
    return unknown and f"{process.subject}: its clone_model knows no {unknown}"


def _is_in(folder: str, module: str) -> bool:
    place = Path(folder, *module.split("."))
    return place.with_suffix(".py").is_file() or place.is_dir()
