"""Earlier runs' findings. A campaign tries their graphs first."""

from __future__ import annotations

import os
import re
from pathlib import Path

from clonediff.reports.markup import one_line
from clonediff.reports.records import Finding, RecordError, read, write
from clonediff.reports.run_folder import slug
from clonediff.strategies.program import MalformedGraph, from_json, to_json

MAX_GRAPHS = 1000
"""How many graphs of a generation to try, from the latest findings."""


class NightlyCorpus:
    """The files `FOLDER/<generation>/<finding>.json`; `problems` lists unreadable files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []

    def graphs(self, generation: str) -> tuple[bytes, ...]:
        """A generation's graphs as JSON, each once, in the order of file names."""
        paths = [path for path in (self.folder / generation).glob("[!.]*.json") if path.is_file()]
        graphs: dict[bytes, None] = {}
        for path in sorted(sorted(paths, key=os.path.getmtime, reverse=True)[:MAX_GRAPHS]):
            try:
                graph = from_json(bytes(read(path, Finding).graph), str(path))
                if graph.generation not in (None, generation):
                    raise RecordError(f"{path}: is not a graph of {generation}")
                graphs[to_json(graph)] = None
            except (RecordError, MalformedGraph) as error:
                self.problems.append(one_line(str(error), 500))
        return tuple(graphs)

    def write(self, finding: Finding) -> None:
        """Write a finding, in place of an earlier one of the same cause."""
        write(self._path(finding), finding)

    def remove(self, finding: Finding) -> None:
        """Delete the stored finding of the same cause."""
        self._path(finding).unlink(missing_ok=True)

    def _path(self, finding: Finding) -> Path:
        """Name the file by cause, cloner, backend and device."""
        subject = re.sub(r"==[^/@]*", "", finding.subject)
        return self.folder / finding.generation / f"{slug(subject, finding.cloner or 'original', finding.id)}.json"
