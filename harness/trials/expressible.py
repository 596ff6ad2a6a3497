"""Whether a graph can be put to a subject at all: the words its Keras has, and the version that came up.

Must not import Keras.
"""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from harness.source import DIALECTS
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from harness.trials.cases import case_of
from strategies.graph import Graph, MalformedGraph, all_layers
from strategies.kinds import CATALOGUE, catalogue


def came_up(process: SubjectProcess) -> str | None:
    """What runs, where that is not the version that was asked for."""
    wanted, ready = process.subject.version, process.ready
    found = ready.backend_version if process.subject.package == "tensorflow" else ready.keras
    try:
        same = wanted is None or Version(found) == Version(wanted)
    except InvalidVersion:
        same = False
    return None if same else f"{process.subject.package} {found}"


def unspoken(graph: Graph, subject: Subject) -> str | None:
    """What a graph has that the dialect of a release has no word for; None where it can be written."""
    dialect = DIALECTS.get(subject.dialect)
    if dialect is None:
        return f"clonediff does not write models for {subject.release}"
    for layer in all_layers(graph):
        kind = CATALOGUE.get(layer.kind)
        if kind is None or layer.graph is not None:
            continue
        if kind.family == "operations" and layer.kind not in dialect.operations:
            return f"{layer.kind} cannot be written for this Keras"
        if kind.only not in (None, subject.generation) or layer.kind not in catalogue(subject.generation):
            return f"{layer.kind} is not in this Keras"
    try:
        case_of(graph, subject.dialect)
    except (MalformedGraph, KeyError) as error:
        return f"the graph cannot be written for this Keras: {error}"
    return None
