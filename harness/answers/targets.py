"""What a user points at, read: a run, a finding, a graph, a known issue, a campaign's corpus, a folder of such files.

The one place where an argument of the command line becomes something that can be tried. What cannot be read is among
the answers too, with the file, the field and what to do.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from clonediff.harness.scripts.reproducer import Script, ending_of, imports_clonediff
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import UNREADABLE, Finding, RecordError, read
from clonediff.strategies.program import GENERATIONS, Graph, MalformedGraph, from_json

FINDING = "finding.json"
_RUN = ("run.json", "findings")
_OF_RUNS = (f"findings/[!.]*/{FINDING}",)
_OF_FOLDERS = (FINDING, "[!.]*.json", f"*/{FINDING}", "*keras/[!.]*.json")
"""Where the files of a run, a finding, a folder of findings or of graphs, and a corpus are: the first that has some.

A file that is still being written begins with a dot.
"""
_MOST = 20


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to try: a graph, with the `finding` that it shows, if it is of one; or the script of an issue.

    `where` is the file it was read from, or the argument. `subject` is "" where nothing says on what it was found,
    `generation` where any will do. `problem` says why it cannot be tried at all.
    """

    where: str
    title: str = ""
    id: str = ""
    graph: Graph | None = None
    issue: KnownIssue | None = None
    finding: Finding | None = None
    subject: str = ""
    cloner: str = "upstream"
    generation: str = ""
    problem: str = ""

    @property
    def script(self) -> Script | None:
        """The script that shows it, that of an issue without its header; None of a graph alone."""
        if self.issue is not None:
            return Script(self.issue.code, self.issue.raises, sure=True)
        if self.finding is None:
            return None
        found, root = self.finding, self.finding.root
        ending = ending_of(root) if root else found.detail.partition(":")[0]
        return Script(found.source, ending, bool(found.proof), imports_clonediff(found.cloner))


def targets(arguments: Iterable[str], known: KnownIssues, generations: Collection[str] = GENERATIONS) -> list[Target]:
    """All that is pointed at, each once, in the order of the arguments.

    Of all known issues, those of these generations are meant.
    """
    by_place: dict[str, Target] = {}
    for argument in arguments:
        for target in _of_argument(argument, known, generations):
            by_place.setdefault(os.path.realpath(target.where) if target.issue is None else target.where, target)
    return list(by_place.values())


def the_one(argument: str, begins: str, known: KnownIssues) -> Target:
    """The one finding or known issue that is named; of a run, the finding whose id or folder begins so.

    A `RecordError` says that there is none, and what there is.
    """
    found = targets([argument], known)
    named = {_name(target): target for target in found if target.finding or target.issue}
    near = [target for name, target in named.items() if f" {begins}" in f" {name} {target.id}"]
    if len(near) == 1:
        return near[0]
    unread = [f"{target.where}: {target.problem}" for target in found if target.problem]
    if unread and not named:
        raise RecordError(unread[0])
    reason = f"{len(near)} findings begin so: name one" if near else f"no finding begins with {begins!r}; there are"
    listed = ", ".join(sorted(map(_name, near or named.values()))[:_MOST]) or "none"
    raise RecordError("; ".join((f"{argument}: {reason}: {listed}", *unread[:1])))


def _name(target: Target) -> str:
    """That of its folder in a run, or its id."""
    return Path(target.where).parent.name if target.finding else target.id


def _of_argument(argument: str, known: KnownIssues, generations: Collection[str]) -> Iterator[Target]:
    if os.path.isdir(argument):
        yield from _of_folder(Path(argument))
    elif os.path.isfile(argument):
        yield _of_file(Path(argument))
    elif argument == "known":
        yield from (_of_issue(issue) for issue in known.bugs if issue.generation in generations)
    elif (issue := known.get(argument)) is not None:
        yield _of_issue(issue)
    else:
        near = difflib.get_close_matches(argument, [issue.id for issue in known.issues])
        hint = f"did you mean {' or '.join(near)}?" if near else "known issues are the scripts in reports/known"
        yield Target(argument, problem=f"no such folder or file, and no known issue of that id; {hint}")


def _of_issue(issue: KnownIssue) -> Target:
    if issue.verdict == "limit":
        return Target(issue.id, problem=f"a limit, which has no script: {issue.title}. {issue.because}")
    return Target(issue.id, issue.title, issue.id, issue=issue, generation=issue.generation)


def _of_folder(path: Path) -> Iterator[Target]:
    is_run = any((path / name).exists() for name in _RUN)
    patterns = _OF_RUNS if is_run else _OF_FOLDERS
    files = next(filter(None, (sorted(path.glob(pattern)) for pattern in patterns)), [])
    if not files and not is_run:
        yield Target(str(path), problem="a folder with no run, no finding and no graph's JSON in it")
    yield from map(_of_file, files)


def _of_file(path: Path) -> Target:
    """A finding, or a graph alone: by the fields of the file."""
    where = str(path)
    try:
        fields = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
        if path.name == FINDING or "graph" in fields:
            return _of_finding(read(path, Finding), where)
        graph = from_json(path.read_bytes(), where)
    except OSError as error:
        return Target(where, problem=f"cannot be read ({error.strerror})")
    except UNREADABLE as error:
        return Target(where, problem=f"expected the JSON of a finding or of a graph: {error}")
    except (RecordError, MalformedGraph) as error:
        return Target(where, problem=str(error).removeprefix(f"{where}: "))
    folder = path.resolve().parent.name
    generation = graph.generation or (folder if folder in GENERATIONS else "")
    return Target(where, path.name, graph=graph, generation=generation)


def _of_finding(finding: Finding, where: str) -> Target:
    found_by = finding.cloner or "upstream"
    target = Target(
        where, finding.title, finding.id, None, None, finding, finding.subject, found_by, finding.generation
    )
    try:
        return replace(target, graph=from_json(bytes(finding.graph), "`$.graph`"))
    except MalformedGraph as error:
        return replace(target, problem=str(error))
