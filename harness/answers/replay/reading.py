"""What there is to replay: arguments of the command line become items, and what cannot be read is an item too.

An argument is a run's folder, a finding's folder or its finding.json, a graph's file, a campaign's corpus, another
folder of graph files or of findings, or the id of a known issue, whose example is meant. Must not import Keras.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.answers.replay.files import GENERATIONS, graph_in, is_finding
from harness.answers.replay.outcome import Expected
from reports.known import KnownIssue, KnownIssues
from reports.records import Finding, RecordError, read
from reports.store import Kept, read_run
from strategies.graph import Graph, MalformedGraph, from_json
from strategies.typing import infer

FINDING = "finding.json"
INSTALLED = {"keras": "keras", "tf_keras": "tf_keras"}
"""The generations that a package beside clonediff has."""
_APART = ("backend", "device")
_RUN = ("run.json", "events.ndjson", "findings")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to replay. `where` is the file it was read from, or the argument.

    `subject` is "" where nothing says on what it was found, `generation` where any will do.
    `problem` says why it cannot be replayed at all.
    """

    where: str
    title: str = ""
    id: str = ""
    graph: Graph | None = None
    expected: Expected = field(default_factory=Expected)
    subject: str = ""
    cloner: str = "upstream"
    generation: str = ""
    across: tuple[str, ...] = ()
    problem: str = ""


class Reading:
    """The items of a command line. `problems` are what is amiss with a run, beside findings that cannot be read."""

    def __init__(self, known: KnownIssues) -> None:
        self.problems: list[str] = []
        self._known = known

    def items(self, arguments: Iterable[str]) -> list[Item]:
        """All of them, each once, in the order of the arguments."""
        found: dict[str, Item] = {}
        for argument in arguments:
            for item in self._argument(argument):
                path = Path(item.where)
                found.setdefault(str(path.resolve()) if path.exists() else item.where, item)
        return list(found.values())

    def _argument(self, argument: str) -> Iterator[Item]:
        path = Path(argument)
        try:
            there = path.is_dir(), path.is_file()
        except (OSError, ValueError) as error:  # too long for a name, or with a zero byte in it
            there, problem = (False, False), f"no name for a file: {error}"
        else:
            problem = ""
        if there[0]:
            yield from self._folder(path)
        elif there[1]:
            yield self._file(path)
        elif argument in (issue.id for issue in self._known.issues):
            yield _of_issue(self._known[argument])
        else:
            yield Item(argument, problem=problem or _unknown(argument, self._known))

    def _folder(self, path: Path) -> Iterator[Item]:
        if (path / FINDING).exists():
            yield self._file(path / FINDING)
        elif any((path / name).exists() for name in _RUN):
            yield from self._run(path)
        else:
            files = _visible(path, "*.json") or sorted(path.glob(f"*/{FINDING}"))
            files = files or [each for name in GENERATIONS for each in _visible(path / name, "*.json")]
            if not files:
                yield Item(str(path), problem="a folder with no run, no finding and no graph's JSON in it")
            for file in files:
                yield self._file(file)

    def _run(self, path: Path) -> Iterator[Item]:
        try:
            run = read_run(path)
        except RecordError as error:
            yield Item(str(path), problem=str(error))
            return
        told: set[str] = set()
        for kept in run.findings:
            yield _of_finding(kept.finding, str(kept.folder / FINDING))
        for name in run.unreadable:
            its = next((problem for problem in run.problems if name in problem), "")
            told.add(its)
            yield Item(str(run.path / "findings" / name / FINDING), problem=its or "cannot be read")
        self.problems += [f"{path}: {problem}" for problem in run.problems if problem not in told]

    def _file(self, path: Path) -> Item:
        where = str(path)
        try:
            if path.name == FINDING or is_finding(path):
                return _of_finding(finding_of(path), where)
            return _of_graph(path)
        except (RecordError, MalformedGraph) as error:
            return Item(where, problem=str(error).removeprefix(f"{where}: "))


def finding_of(path: Path) -> Finding:
    """A finding from its finding.json. What only the events of its run say, they are asked for."""
    finding = read(path, Finding)
    run = path.resolve().parent.parent.parent
    if not finding.subject and any((run / name).exists() for name in _RUN[:2]):
        kept = kept_of(run, path.parent.name)
        return kept.finding if kept is not None else finding
    return finding


def kept_of(run: Path, name: str) -> Kept | None:
    """The finding of a run whose folder has this name."""
    return next((kept for kept in read_run(run).findings if kept.name == name), None)


def _visible(folder: Path, pattern: str) -> list[Path]:
    """Files by their names, without those that are still being written."""
    return sorted(each for each in folder.glob(pattern) if not each.name.startswith("."))


def _of_finding(finding: Finding, where: str) -> Item:
    item = Item(
        where,
        finding.title,
        finding.id,
        expected=Expected.of(finding),
        subject=finding.subject,
        cloner=finding.cloner or "upstream",
        generation=finding.generation,
        across=finding.across,
    )
    try:
        graph = from_json(bytes(finding.graph), "`$.graph`")
        infer(graph, "`$.graph`")
    except MalformedGraph as error:
        return replace(item, problem=str(error))
    if len(finding.across) not in (0, 2) or (not finding.across and _is_apart(finding)):
        return replace(item, problem="does not say which two subjects differ: `across` has to name them")
    return replace(item, graph=graph)


def _is_apart(finding: Finding) -> bool:
    return finding.root is not None and finding.root.check in _APART


def _of_graph(path: Path) -> Item:
    read_ = graph_in(path)
    return Item(
        str(path),
        title=path.name,
        graph=read_.graph,
        generation=read_.generation,
        subject=read_.subject,
        cloner=read_.cloner or "upstream",
    )


def _of_issue(issue: KnownIssue) -> Item:
    item = Item(
        issue.id,
        issue.title,
        issue.id,
        expected=Expected(issue=issue),
        cloner=issue.cloner,
        generation=issue.generation,
    )
    if issue.cloner in _APART:
        return replace(
            item, problem=f"tells of two {issue.cloner}s that differ: replay a finding of it, which names them"
        )
    if issue.example is None:
        return replace(item, problem="this known issue has no example to try; name a finding or a graph")
    try:
        graph = from_json(issue.example, "example")
        infer(graph, "example")
    except MalformedGraph as error:
        return replace(item, problem=str(error))
    return replace(item, graph=graph)


def _unknown(argument: str, known: KnownIssues) -> str:
    ids = [issue.id for issue in known.issues if issue.example is not None]
    near = difflib.get_close_matches(argument, ids, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no such folder or file, and no known issue of that id{hint}"
