"""The graphs that earlier nights found: a campaign tries them first.

A folder with a file for each graph, which a person may read, add to or delete. A finding.json may be put there, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock
from msgspec.structs import replace

from clonediff.reports.markup import one_line
from clonediff.reports.records import About, Finding, KeptGraph, RecordError, read, write
from clonediff.strategies.program import MalformedGraph, from_json, to_json

MOST = 1000
"""The graphs that are tried of a generation: those that were found last."""


class NightlyCorpus:
    """`FOLDER/<generation>/<digest>.json` for each graph. `problems` has the files that cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []

    def graphs(self, generation: str) -> tuple[bytes, ...]:
        """The graphs of a generation as JSON, each once, by the names of their files."""
        paths = [path for path in (self.folder / generation).glob("[!.]*.json") if path.is_file()]
        graphs: dict[bytes, None] = {}
        for path in sorted(sorted(paths, key=os.path.getmtime, reverse=True)[:MOST]):
            try:
                graph = from_json(bytes(read(path, KeptGraph).graph), str(path))
                if graph.generation not in (None, generation):
                    raise RecordError(f"{path}: it is not a graph of {generation}")
                graphs[to_json(graph)] = None
            except (RecordError, MalformedGraph) as error:
                self.problems.append(one_line(str(error), 500))
        return tuple(graphs)

    def keep(self, finding: Finding) -> Path:
        """Keep the graph of a finding, once, with all that it showed."""
        about = About((finding.id,), finding.title, finding.subject, finding.cloner)
        new = KeptGraph(finding.graph, about, datetime.now(UTC).isoformat("T", "seconds"))
        with self._locked(finding) as path:
            with contextlib.suppress(RecordError):
                old = read(path, KeptGraph)
                fingerprints = tuple(dict.fromkeys((*old.about.fingerprints, finding.id)))
                new = replace(old, about=replace(old.about, fingerprints=fingerprints))
            write(path, new)
        return path

    def drop(self, finding: Finding) -> None:
        """Delete the graph of a finding, unless it showed something else, too: a smaller one shows it."""
        with self._locked(finding) as path, contextlib.suppress(RecordError):
            old = read(path, KeptGraph)
            rest = tuple(name for name in old.about.fingerprints if name != finding.id)
            if rest:
                write(path, replace(old, about=replace(old.about, fingerprints=rest)))
            else:
                path.unlink()

    @contextlib.contextmanager
    def _locked(self, finding: Finding) -> Iterator[Path]:
        """The file of a finding's graph, the same for equal graphs, which no other process writes meanwhile."""
        digest = hashlib.sha256(bytes(finding.graph)).hexdigest()[:20]
        path = self.folder / finding.generation / f"{digest}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / ".lock"):
            yield path
