"""Cloners of the user's own, as a command line names them.

Owns how what a person writes becomes the name of a cloner: see `clonediff.harness.inside.cloners.users`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from clonediff.harness.inside.cloners.users import EVERY_CHECK, UsersCloner, is_users, users_cloner
from clonediff.harness.source.other_layers import allow
from clonediff.harness.trials.contracts import promised_names
from clonediff.harness.trials.trusted_layers import trust

_OF_A_MODULE = re.compile(r"[\w-]+")
_EXPECTED = "expected module:function or FILE.py:function of a cloner of your own"


class PromisesError(ValueError):
    """What is promised, or who promises it, is not there; the message says what there is."""


def named(text: str) -> str:
    """The name of the cloner that a person names: `module:function`, or `FILE.py:function`.

    A module of the current folder is imported from there. `[all]` stays, so that no other promises take its place.
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
    if its.promises:
        its = its._replace(promises=promised_names(",".join(its.promises)) or (EVERY_CHECK,))
    return its.name


def held_to(cloners: Iterable[str], promises: str) -> tuple[str, ...]:
    """The cloners, of which the user's own are held to the promises that are listed, if any are.

    One that has promises of its own keeps them.
    """
    names = tuple(dict.fromkeys(cloners))
    if not promises:
        return tuple(dict.fromkeys(_of(name, ()) for name in names))
    try:
        asked = promised_names(promises)
    except ValueError as error:
        raise PromisesError(str(error)) from None
    if not any(map(is_users, names)):
        raise PromisesError("it says what a cloner of your own is held to: name one with --cloner module:function")
    return tuple(dict.fromkeys(_of(name, asked) for name in names))


def trust_cloners(names: Iterable[str]) -> None:
    """Let the code of these cloners run, now and in the commands to come."""
    found = list(filter(None, map(users_cloner, names)))
    if found:
        trust(its.code for its in found)


def allow_cloners(names: Iterable[str]) -> None:
    """Let the code of these cloners run in this process, and say nothing of the commands to come."""
    allow(its.code for its in filter(None, map(users_cloner, names)))


def _of(name: str, promises: tuple[str, ...]) -> str:
    its: UsersCloner | None = users_cloner(name)
    if its is None:
        return name
    held = its.promises or promises
    return its._replace(promises=() if held == (EVERY_CHECK,) else held).name


def _is_in(folder: str, module: str) -> bool:
    place = Path(folder, *module.split("."))
    return place.with_suffix(".py").is_file() or place.is_dir()
