"""What earlier nights found, kept so that it is tried first the next night.

Owns the folder: a file for each graph of a finding, which a person may read, add to or delete.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import FileLock

from clonediff.reports.markup import visible
from clonediff.reports.records import FORMAT, UNREADABLE, About, KeptGraph, write
from clonediff.strategies import MalformedGraph, from_json
from clonediff.strategies.graph import Graph, to_json
from clonediff.strategies.kinds import Generation

MOST = 2000
"""The graphs that are kept of a generation: those found last. One that is found again counts as found last."""

LARGEST = 1_000_000
"""The bytes of the largest file that is read; a graph that was drawn has a few thousand."""


_OURS = re.compile(r"[0-9a-f]{20}\.json")


class NightlyCorpus:
    """`FOLDER/<generation>/<digest>.json` for each graph.

    Nothing is written before there is something to keep. `problems` has what could not be read, each once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, or was left out, by name."""
        return tuple(self._problems)

    def graphs(self, generation: Generation) -> tuple[Graph, ...]:
        """Every graph that is kept of a generation, each once, by the names of the files."""
        found: dict[Graph, None] = {}
        for file in sorted(_newest(self._files(generation)), key=lambda each: each.path.name):
            graph = self._read(file, generation)
            if graph is not None:
                found.setdefault(graph)
        return tuple(found)

    def keep(self, generation: Generation, graph: Graph, about: About = About()) -> Path:  # noqa: B008 - it is frozen
        """Keep a graph, once; what it showed before stands in its file too. An `OSError` says that it could not be."""
        path = self.folder / generation / f"{digest(graph)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / ".lock"):
            before = _decoded(path)
            if before is None:
                now = datetime.now(UTC).isoformat(timespec="seconds")
                write(path, KeptGraph(msgspec.Raw(to_json(graph)), about, now))
            else:
                both = tuple(dict.fromkeys((*before.about.fingerprints, *about.fingerprints)))
                if both != before.about.fingerprints:
                    first = before.about if before.about.fingerprints else about
                    kept = msgspec.structs.replace(first, fingerprints=both)
                    write(path, msgspec.structs.replace(before, about=kept))
                os.utime(path)
            self._make_room(generation)
        return path

    def _complain(self, said: str) -> None:
        self._problems.setdefault(visible(" ".join(said.split())[:500]))

    def _files(self, generation: Generation) -> list[_File]:
        folder = self.folder / generation
        try:
            return list(_files(folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            self._complain(f"{folder}: cannot be read ({error.strerror})")
            return []

    def _make_room(self, generation: Generation) -> None:
        every = self._files(generation)
        kept = set(_newest(every))
        for file in every:
            # What was put there by hand, under a name of its own, is nobody's to delete.
            if file not in kept and _OURS.fullmatch(file.path.name):
                file.path.unlink(missing_ok=True)

    def _read(self, file: _File, generation: Generation) -> Graph | None:
        path = file.path
        if not stat.S_ISREG(file.mode):
            self._complain(f"{path}: not a file; delete it")
            return None
        if file.size > LARGEST:
            self._complain(f"{path}: {file.size:,} bytes, more than the {LARGEST:,} that a graph may have; delete it")
            return None
        try:
            graph = _graph(path.read_bytes(), str(path))
        except OSError as error:
            self._complain(f"{path}: cannot be read ({error.strerror})")
            return None
        except (MalformedGraph, RecursionError) as error:
            why = "nested too deep to be a graph" if isinstance(error, RecursionError) else str(error)
            self._complain(f"{why.removeprefix(f'{path}: ')} ({path}); delete it, or put right what it says")
            return None
        if graph.generation not in (None, generation):
            self._complain(f"{path}: a graph for {graph.generation}: move it to {self.folder / str(graph.generation)}")
            return None
        return graph


def digest(graph: Graph) -> str:
    """The name of a graph's file, the same for equal graphs."""
    return hashlib.sha256(to_json(graph)).hexdigest()[:20]


class _File(NamedTuple):
    path: Path
    mode: int
    size: int
    changed: int


class _Outer(msgspec.Struct):
    """What tells a kept graph, and a finding, from a graph alone."""

    graph: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    format: int = 0


def _files(folder: Path) -> Iterator[_File]:
    """What may be a graph, with what is behind a link."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".json") and not entry.name.startswith("."):
                try:
                    about = entry.stat()
                except OSError:  # it is gone by now, or a link that leads nowhere
                    continue
                yield _File(Path(entry.path), about.st_mode, about.st_size, about.st_mtime_ns)


def _newest(files: list[_File]) -> list[_File]:
    """As many as are kept. Of those of one moment, which they are does not depend on the file system."""
    return sorted(files, key=lambda each: (-each.changed, each.path.name))[:MOST]


def _decoded(path: Path) -> KeptGraph | None:
    """A file that is there already; None where it is none of ours, and is written anew."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=KeptGraph)
    except (FileNotFoundError, *UNREADABLE):
        return None


def _graph(content: bytes, where: str) -> Graph:
    """A graph alone, or in a file that has one in its field `graph`; held against the catalogue."""
    try:
        text = content.decode()
        outer = msgspec.json.decode(content, type=_Outer)
    except UnicodeDecodeError as error:
        raise MalformedGraph(f"{where}: not UTF-8: {error.reason} at byte {error.start}") from None
    except msgspec.DecodeError as error:
        raise MalformedGraph(f"{where}: {error}") from None
    if isinstance(outer.graph, msgspec.UnsetType):
        return from_json(text, where)
    if outer.format > FORMAT:
        raise MalformedGraph(f"{where}: format {outer.format}, but this clonediff reads up to {FORMAT}: update it")
    return from_json(bytes(outer.graph).decode(), where)
