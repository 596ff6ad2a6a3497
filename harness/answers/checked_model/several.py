"""Which models a word of the command line stands for: one, those of a file of Python, or those of a folder.

A folder is read, never searched: what lies deeper, such as the packages of an environment, is not the project's own
models. No file of Python is run here.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from clonediff.harness.answers.checked_model.models import Model, ModelError, importable, parse

MAKES = "make_"
"""How the name of a function begins that makes a model."""

SUFFIXES = (".keras", ".h5")
_WEIGHTS = ".weights.h5"
_SAVED = (
    ("saved_model.pb",),
    ("saved_model.pbtxt",),
    ("config.json", "metadata.json"),
    *((name,) for name in ("orbax.checkpoint", "pytree.orbax-checkpoint", "checkpoint_metadata")),
)
"""What a folder has in it that is one model: a SavedModel, a .keras file that was not zipped, a checkpoint of Orbax."""


class Gathered(NamedTuple):
    """The models of a word, and a line for each function that was left out."""

    models: tuple[Model, ...]
    left_out: tuple[str, ...] = ()


def gather(specs: Iterable[str]) -> Gathered:
    """The models of several words, each once. Raises `ModelError` where a word stands for none."""
    models: dict[tuple[object, ...], Model] = {}
    left_out: dict[str, None] = {}
    for spec in specs:
        gathered = _gathered(spec)
        for model in gathered.models:
            models.setdefault((model.how, _place(model.path), model.name, model.options), model)
        left_out.update(dict.fromkeys(gathered.left_out))
    return Gathered(tuple(models.values()), tuple(left_out))


def _place(path: str) -> str:
    """A path whose folder has one spelling. What a link is called is another name for a model, and stays."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def _gathered(spec: str) -> Gathered:
    path = Path(spec).expanduser()
    if spec.endswith(".py") and path.is_file():
        found = _of_python(path, Path(spec))
        if not found.models:
            raise ModelError(_no_maker(path, spec, found.left_out))
        return found
    model = parse(spec)
    if model.how == "file" and path.is_dir() and not _is_one_model(path):
        return _of_folder(path, Path(spec))
    return Gathered((model,))


def _of_folder(folder: Path, spec: Path) -> Gathered:
    """The models of a folder, by name; `spec` is the folder as it was typed."""
    models: list[Model] = []
    left_out: list[str] = []
    try:
        paths = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except OSError as error:
        raise ModelError(f"{spec}: cannot be read ({error.strerror})") from None
    for path in paths:
        if path.suffix in SUFFIXES and not path.name.endswith(_WEIGHTS):
            models.append(parse(str(spec / path.name)))
        elif path.suffix == ".py" and path.is_file():
            found = _of_python(path, spec / path.name)
            models += found.models
            left_out += found.left_out
    if not models:
        more = f" ({'; '.join(left_out)})" if left_out else ""
        raise ModelError(
            f"{spec}: no model in this folder{more}; expected files that end in {' or '.join(SUFFIXES)}, or FILE.py "
            f"with functions {MAKES}...(); what lies in folders within it is named by itself"
        )
    return Gathered(tuple(models), tuple(left_out))


def _of_python(path: Path, spec: Path) -> Gathered:
    """A model for each function of a file that makes one: its name says so, and it needs no arguments."""
    makers = [each for each in _functions(path, spec) if each.name.startswith(MAKES)]
    if not makers:
        return Gathered(())
    importable(path.absolute())
    able = dict.fromkeys(each.name for each in makers if not _required(each.args))
    left_out = [
        f"{spec}: {each.name} needs arguments ({', '.join(needed)}), and is left out"
        for each in makers
        if (needed := _required(each.args)) and each.name not in able
    ]
    return Gathered(tuple(parse(f"{spec}:{name}") for name in able), tuple(left_out))


def _functions(path: Path, spec: Path) -> list[ast.FunctionDef]:
    """The functions that stand in a file, without running it."""
    try:
        tree = ast.parse(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{spec}: cannot be read ({error.strerror})") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        said = error.msg if isinstance(error, SyntaxError) else str(error) or "nested too deep"
        raise ModelError(f"{spec}: which functions it has cannot be told{where}: {said}; mend it") from None
    return [each for each in tree.body if isinstance(each, ast.FunctionDef)]


def _required(takes: ast.arguments) -> list[str]:
    """The arguments without which a function cannot be called."""
    by_place = [*takes.posonlyargs, *takes.args]
    needed = by_place[: len(by_place) - len(takes.defaults)]
    by_name = zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
    return [each.arg for each in (*needed, *(each for each, default in by_name if default is None))]


def _no_maker(path: Path, spec: str, left_out: Iterable[str]) -> str:
    if said := "; ".join(left_out):
        return f"{said}: give the arguments defaults, or write a function {MAKES}...() without"
    names = [each.name for each in _functions(path, Path(spec))]
    there = f"the functions in it are {', '.join(names)}" if names else "it has no function"
    return (
        f"{spec}: which function makes the model? None has a name that begins with {MAKES}; {there}: "
        f"write {spec}:{names[0] if names else 'FUNCTION'}, say"
    )


def _is_one_model(folder: Path) -> bool:
    return any(all((folder / name).exists() for name in names) for names in _SAVED)
