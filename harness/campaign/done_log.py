"""The plan of a campaign and what of it is done, kept in the run's folder so that the campaign can be resumed.

`plan.json` is written once, `done.ndjson` has a line for each thing done. What a cut-off line told of is done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from clonediff.harness.campaign.shards import Done, MadeSmaller, Plan, ShardDone
from clonediff.reports.records import UNREADABLE, Finding, RecordError, read, write
from clonediff.reports.run_folder import append
from clonediff.strategies.graph import MalformedGraph, from_json


class DoneLog:
    """The plan and the lines of one run. `problems` names the lines that could not be read."""

    def __init__(self, folder: Path) -> None:
        self._plan = folder / "plan.json"
        self._done = folder / "done.ndjson"
        self.problems: list[str] = []

    def begin(self, plan: Plan) -> None:
        """Keep what was asked for."""
        write(self._plan, plan)

    def plan(self) -> Plan:
        """What was asked for."""
        if not self._plan.exists():
            raise RecordError(
                f"{self._plan}: there is none, so there is nothing to go on with; give --resume the folder of a run "
                "that `clonediff fuzz` began"
            )
        plan = read(self._plan, Plan)
        try:
            for graphs in plan.first.values():
                _check(graphs)
        except _WRONG as error:
            raise RecordError(f"{self._plan}: first: {error}") from error
        return plan

    def add(self, done: Done) -> None:
        """Keep something that is done."""
        append(self._done, msgspec.json.encode(done))

    def read(self) -> list[Done]:
        """All that is done, in the order in which it was."""
        try:
            lines = self._done.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RecordError(f"{self._done}: cannot be read ({error.strerror})") from error
        found: list[Done] = []
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                done = _LINE.decode(line)
                _check(_graphs_of(done))
                found.append(done)
            except _WRONG as error:
                self.problems.append(f"{self._done.name}: line {number}: {error}; what it told of is done again")
        return found


def _graphs_of(done: Done) -> Iterator[msgspec.Raw]:
    match done:
        case ShardDone(raw_findings=raw_findings):
            yield from (each.finding.graph for each in raw_findings)
        case MadeSmaller(finding=Finding(graph=graph)):
            yield graph


def _check(graphs: Iterable[msgspec.Raw]) -> None:
    for each in graphs:
        from_json(bytes(each), "a graph")


_WRONG = (*UNREADABLE, MalformedGraph)
_LINE: msgspec.json.Decoder[Done] = msgspec.json.Decoder(Done)
