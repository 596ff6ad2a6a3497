"""Layers that are not Keras' own, in a script: the import of their module, or the loading of their file.

Owns which of them may be written. Those alone that the user named: a graph from a file must not name code to run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from clonediff.harness.source.words import literal
from clonediff.strategies.graph import Graph, MalformedGraph, all_layers
from clonediff.strategies.kinds.operations import is_operation

_ALLOWED: set[str] = set()


def allow(names: Iterable[str]) -> None:
    """Let these layers be written: kinds, or all of a module or a file; and let these cloners of the user's own run."""
    _ALLOWED.update(names)


def absolute(name: str) -> str:
    """The name of layers that were asked for, with the whole path of a file."""
    path, colon, own = name.partition(".py:")
    if not colon and not name.endswith(".py"):
        return name
    return os.path.abspath(f"{path}.py" if colon else name) + (f":{own}" if colon else "")


def is_other(kind: str) -> bool:
    """Whether a kind is a layer that is not Keras' own."""
    return "." in kind or ":" in kind


def other_kinds(graph: Graph) -> set[str]:
    """The layers of a graph that are not Keras' own."""
    kinds = {layer.kind for layer in all_layers(graph)}
    return {kind for kind in kinds if is_other(kind) and not is_operation(kind)}


def class_name_of(kind: str) -> str:
    """The name of its class."""
    return kind.rpartition(":")[2].rpartition(".")[2]


def file_of(kind: str) -> str:
    """The file that a layer is in, "" where that is a module."""
    return kind.rpartition(":")[0]


def is_allowed(kind: str) -> bool:
    """Whether the user named the layer, or the cloner, or its module or file."""
    return not _ALLOWED.isdisjoint((kind, _place_of(kind)))


def check_allowed(kind: str) -> None:
    """Raise `MalformedGraph` where the user has not named the layer."""
    if not is_allowed(kind):
        raise MalformedGraph(f"layers: {kind} is not one of Keras': name it with --layers {_place_of(kind)}")


def _place_of(kind: str) -> str:
    return file_of(kind) or kind.rpartition(".")[0]


def write_loading(variable: str, path: str) -> str:
    """The lines that load a file as a module, as Python's own documentation has them."""
    name = literal(os.path.splitext(os.path.basename(path))[0])
    return (
        f"spec = importlib.util.spec_from_file_location({name}, {literal(path)})\n"
        f"{variable} = importlib.util.module_from_spec(spec)\n"
        f"sys.modules[{name}] = {variable}\n"
        f"spec.loader.exec_module({variable})\n"
    )
