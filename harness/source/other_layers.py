"""Layers that are not Keras' own, in a script: the import of their module, or the loading of their file.

Owns which of them may be written. Those alone that somebody asked for: a graph from a file must not name code to run.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.source.words import identifier, literal
from strategies.graph import MalformedGraph

_ALLOWED: set[str] = set()


def allow(kinds: Iterable[str]) -> None:
    """Let these layers be written."""
    _ALLOWED.update(kinds)


def absolute(name: str) -> str:
    """The name of layers that were asked for, with the whole path of a file."""
    path, colon, own = name.partition(".py:")
    if not colon and not name.endswith(".py"):
        return name
    return str(Path(f"{path}.py" if colon else name).absolute()) + (f":{own}" if colon else "")


def is_other(kind: str) -> bool:
    """Whether a kind is a layer that is not Keras' own."""
    return "." in kind or ":" in kind


def own_name(kind: str) -> str:
    """The name of its class."""
    return kind.rpartition(":")[2].rpartition(".")[2]


def file_of(kind: str) -> str:
    """The file that a layer is in, "" where that is a module."""
    return kind.rpartition(":")[0]


def check_allowed(kind: str) -> None:
    """Raise `MalformedGraph` where nobody asked for the layer."""
    if kind not in _ALLOWED:
        where = file_of(kind) or kind.rpartition(".")[0]
        raise MalformedGraph(f"layers: {kind} is not one of Keras': say that you trust it with --layers {where}")


def write_loading(variable: str, path: str) -> str:
    """The lines that load a file as a module, as Python's own documentation has them."""
    name = literal(identifier(Path(path).stem))
    return (
        f"spec = importlib.util.spec_from_file_location({name}, {literal(path)})\n"
        f"{variable} = importlib.util.module_from_spec(spec)\n"
        f"sys.modules[{name}] = {variable}\n"
        f"spec.loader.exec_module({variable})\n"
    )
