"""The findings of earlier nights, whose graphs a campaign tries first: files that a person may read, add or delete."""

from __future__ import annotations

import os
import re
from pathlib import Path

from clonediff.reports.markup import one_line
from clonediff.reports.records import Finding, RecordError, read, write
from clonediff.reports.run_folder import slug
from clonediff.strategies.program import MalformedGraph, from_json, to_json

MOST = 1000
"""The graphs that are tried of a generation: those of the latest findings."""


class NightlyCorpus:
    """`FOLDER/<generation>/<finding>.json`. `problems` has the files that cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []

    def graphs(self, generation: str) -> tuple[bytes, ...]:
        """The different graphs of a generation as JSON, in the order of their files' names."""
        paths = [path for path in (self.folder / generation).glob("[!.]*.json") if path.is_file()]
        graphs: dict[bytes, None] = {}
        for path in sorted(sorted(paths, key=os.path.getmtime, reverse=True)[:MOST]):
            try:
                graph = from_json(bytes(read(path, Finding).graph), str(path))
                if graph.generation not in (None, generation):
                    raise RecordError(f"{path}: it is not a graph of {generation}")
                graphs[to_json(graph)] = None
            except (RecordError, MalformedGraph) as error:
                self.problems.append(one_line(str(error), 500))
        return tuple(graphs)

    def write(self, finding: Finding) -> None:
        """Write a finding, in the place of what showed the same before."""
        write(self._path(finding), finding)

    def remove(self, finding: Finding) -> None:
        """Delete what shows the same as a finding."""
        self._path(finding).unlink(missing_ok=True)

    def _path(self, finding: Finding) -> Path:
        """By cause, cloner, backend and device: the versions of a subject that changes each night are one."""
        subject = re.sub(r"==[^/@]*", "", finding.subject)
        return self.folder / finding.generation / f"{slug(subject, finding.cloner or 'original', finding.id)}.json"
