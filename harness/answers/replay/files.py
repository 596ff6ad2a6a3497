"""What a file holds that may come from anywhere: a finding, a graph, or a graph as a campaign's corpus keeps it.

A finding has an id beside its graph, a file of a corpus has none. Must not import Keras, nor `harness.campaign`, which
brings Hypothesis: whoever only reads need not wait for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec

from reports.records import FORMAT, UNREADABLE, RecordError
from strategies.graph import Graph, MalformedGraph, from_json
from strategies.kinds import Generation
from strategies.typing import infer

GENERATIONS: tuple[str, ...] = get_args(Generation)
"""The names of the folders of a corpus."""


class GraphRead(msgspec.Struct, frozen=True):
    """A graph, and where a corpus says so, on which subject and by which cloner it showed something first."""

    graph: Graph
    generation: str = ""
    subject: str = ""
    cloner: str = ""


class _About(msgspec.Struct, frozen=True):
    subject: str = ""
    cloner: str = ""


class _Kept(msgspec.Struct, frozen=True):
    """A file of a corpus, as far as it is read here; `harness.campaign.corpus` writes it."""

    graph: msgspec.Raw
    about: _About = _About()
    format: int = FORMAT


def is_finding(path: Path) -> bool:
    """Whether a file is a finding's. A `RecordError` says that it is no JSON."""
    fields = _fields(path)
    return isinstance(fields, dict) and "graph" in fields and "id" in fields


def graph_in(path: Path) -> GraphRead:
    """The graph of a file, held against the catalogue. A `MalformedGraph` says where it is wrong."""
    where = str(path)
    fields = _fields(path)
    if not isinstance(fields, dict) or "graph" not in fields:
        graph = _checked(path.read_bytes(), where)
        return GraphRead(graph, graph.generation or "")
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
    except msgspec.ValidationError as error:
        raise MalformedGraph(f"{where}: not a graph as a corpus keeps it: {error}") from None
    if kept.format > FORMAT:
        raise MalformedGraph(f"{where}: format {kept.format}, but this clonediff reads up to {FORMAT}: update it")
    graph = _checked(bytes(kept.graph), f"{where}: graph")
    folder = path.resolve().parent.name
    generation = graph.generation or (folder if folder in GENERATIONS else "")
    return GraphRead(graph, generation, kept.about.subject, kept.about.cloner)


def _checked(content: bytes, where: str) -> Graph:
    graph = from_json(content, where)
    infer(graph, where)
    return graph


def _fields(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from None
    except UNREADABLE as error:
        raise RecordError(f"{path}: expected the JSON of a finding or of a graph: {error}") from None
