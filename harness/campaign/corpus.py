"""The graphs that earlier nights found: a campaign tries them first.

A folder with a file for each graph, which a person may read, add to or delete.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from filelock import FileLock

from clonediff.reports.markup import one_line
from clonediff.reports.records import FORMAT, UNREADABLE, About, KeptGraph, write
from clonediff.strategies import MalformedGraph, from_json
from clonediff.strategies.graph import Graph, to_json
from clonediff.strategies.kinds import Generation

MOST = 2000
"""The graphs that are kept of a generation: those that were found last."""
LARGEST = 1_000_000
"""The bytes of the largest file that is read; a graph that was drawn has a few thousand."""
_OURS = re.compile(r"[0-9a-f]{20}\.json")


class NightlyCorpus:
    """`FOLDER/<generation>/<digest>.json` for each graph. `problems` has the files that cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: tuple[str, ...] = ()

    def graphs(self, generation: Generation) -> tuple[Graph, ...]:
        """The graphs of a generation, each once, by the names of their files."""
        graphs: dict[Graph, None] = {}
        for path in sorted(self._newest(generation)[:MOST]):
            try:
                graphs.setdefault(self._read(path, generation))
            except RecursionError:
                self._complain(f"{path}: nested too deep to be a graph; delete it")
            except OSError as error:
                self._complain(f"{path}: cannot be read ({error.strerror})")
            except ValueError as error:
                self._complain(f"{path}: {error}")
        return tuple(graphs)

    def keep(self, generation: Generation, graph: Graph, about: About = About()) -> Path:  # noqa: B008 - it is frozen
        """Keep a graph, once, with all that it showed."""
        path = self.folder / generation / f"{digest(graph)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / ".lock"):
            try:
                old = msgspec.json.decode(path.read_bytes(), type=KeptGraph)
            except (FileNotFoundError, *UNREADABLE):
                write(path, KeptGraph(msgspec.Raw(to_json(graph)), about, datetime.now(UTC).isoformat("T", "seconds")))
            else:
                fingerprints = tuple(dict.fromkeys((*old.about.fingerprints, *about.fingerprints)))
                first = old.about if old.about.fingerprints else about
                new = msgspec.structs.replace(first, fingerprints=fingerprints)
                write(path, msgspec.structs.replace(old, about=new))
            for oldest in self._newest(generation)[MOST:]:
                if _OURS.fullmatch(oldest.name):  # a person's file has a name of its own
                    oldest.unlink(missing_ok=True)
        return path

    def drop(self, generation: Generation, graph: Graph, fingerprint: str) -> None:
        """Delete a graph that showed this and nothing else: a smaller one shows it."""
        path = self.folder / generation / f"{digest(graph)}.json"
        with FileLock(self.folder / ".lock"), contextlib.suppress(FileNotFoundError, *UNREADABLE):
            if msgspec.json.decode(path.read_bytes(), type=KeptGraph).about.fingerprints == (fingerprint,):
                path.unlink()

    def _newest(self, generation: Generation) -> list[Path]:
        """The files, the newest first; pipes and folders are none."""
        paths = [path for path in (self.folder / generation).glob("[!.]*.json") if path.is_file()]
        return sorted(paths, key=lambda path: (-os.stat(path).st_mtime_ns, path.name))

    def _read(self, path: Path, generation: Generation) -> Graph:
        if path.stat().st_size > LARGEST:
            raise MalformedGraph(f"more than the {LARGEST:,} bytes that a graph may have; delete it")
        graph = _graph(path.read_bytes())
        if graph.generation not in (None, generation):
            raise MalformedGraph(f"a graph for {graph.generation}: move it to {self.folder / str(graph.generation)}")
        return graph

    def _complain(self, problem: str) -> None:
        self.problems = tuple(dict.fromkeys((*self.problems, one_line(problem, 500))))


def digest(graph: Graph) -> str:
    """The name of a graph's file, the same for equal graphs."""
    return hashlib.sha256(to_json(graph)).hexdigest()[:20]


class _Outer(msgspec.Struct):
    """The field by which a kept graph, or a finding, differs from a graph alone."""

    graph: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    format: int = 0


def _graph(content: bytes) -> Graph:
    """A graph alone, or in a file that has one in its field `graph`."""
    outer = msgspec.json.decode(content, type=_Outer)
    if outer.format > FORMAT:
        raise MalformedGraph(f"format {outer.format}, but this clonediff reads up to {FORMAT}: update it")
    inner = content if isinstance(outer.graph, msgspec.UnsetType) else bytes(outer.graph)
    return from_json(inner.decode(), "`$`")
