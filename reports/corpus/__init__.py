"""Bugs of the past: a graph for each, and the releases in which it was seen to break and to hold. Reads `index.toml`.

They tell whether a harness sees what it should, in which release a bug began and ended, and whether a proposed fix
brings an old bug back.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from clonediff.reports.entries import read_entries
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern, matches
from clonediff.reports.records import Cause, RecordError
from clonediff.strategies import Graph, from_json
from clonediff.strategies.graph import to_json

INDEX = Path(__file__).with_name("index.toml")


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bug that some release had.

    `cloner` is the one that shows it; "roundtrip" is the way through a config. `graph` is a file beside the index.
    `broken_in` and `fixed_in` are releases of `package` in which it was tried: in the first it shows a cause that
    `match` describes, in the others none. Without `match`, any cause is it.
    """

    id: str
    title: str
    package: Literal["keras", "tf_keras"]
    graph: str
    broken_in: tuple[str, ...]
    fixed_in: tuple[str, ...]
    because: str
    link: str | None = None
    cloner: str = "upstream"
    match: tuple[Pattern, ...] = ()


class Corpus(msgspec.Struct, frozen=True):
    """The bugs, in the order of the index, and the folder with their graphs."""

    bugs: tuple[Bug, ...]
    folder: Path

    def graph(self, bug: Bug) -> Graph:
        """The graph that shows a bug."""
        path = self.folder / bug.graph
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise RecordError(f"{path}: the graph of {bug.id!r} cannot be read ({error.strerror})") from error
        return from_json(text, str(path))

    def issues(self, generation: str) -> KnownIssues:
        """The bugs of a generation as known issues, which may be in any tree."""
        return KnownIssues(tuple(self.as_issue(bug) for bug in self.bugs if self._generation(bug) == generation))

    def _generation(self, bug: Bug) -> str:
        return self.graph(bug).generation or bug.package

    def as_issue(self, bug: Bug) -> KnownIssue:
        """A bug as a known issue that any release may have."""
        return KnownIssue(
            bug.id,
            self._generation(bug),  # type: ignore[arg-type]  # one of the two
            bug.title,
            bug.because,
            bug.match or (Pattern(),),
            bug.cloner,
            bug.link,
            example=to_json(self.graph(bug)).decode(),
        )

    def __getitem__(self, id: str) -> Bug:  # noqa: A002 - it is called that in the file
        for bug in self.bugs:
            if bug.id == id:
                return bug
        raise KeyError(id)


def shows(bug: Bug, causes: Iterable[Cause]) -> bool:
    """Whether one of the causes that a trial of its graph gave is the bug."""
    return any(not bug.match or any(matches(pattern, cause) for pattern in bug.match) for cause in causes)


def load(path: Path = INDEX) -> Corpus:
    """Read the index."""
    bugs, _ = read_entries(path, "bug", Bug, _problem, inner={"match": Pattern})
    return Corpus(bugs, path.parent)


def _problem(bug: Bug) -> str | None:
    if Path(bug.graph).name != bug.graph or not bug.graph.endswith(".json"):
        return f"`graph` is {bug.graph!r}, expected the name of a JSON file beside the index"
    if not bug.broken_in:
        return "`broken_in` is empty: name a release in which it shows"
    both = sorted({*bug.broken_in} & {*bug.fixed_in})
    if both:
        return f"{both[0]} stands in `broken_in` and in `fixed_in`"
    return None
