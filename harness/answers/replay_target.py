"""What a user points at, read: a run, a finding, a graph, a known issue, a campaign's corpus, a folder of such files.

The one place where an argument of the command line becomes something that can be tried. What cannot be read is among
the answers too, with the file, the field and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from clonediff.harness.answers.expected import Expected
from clonediff.reports.known import KnownIssue, KnownIssues, load
from clonediff.reports.reading import StoredFinding, read_run
from clonediff.reports.records import FORMAT, UNREADABLE, Finding, KeptGraph, RecordError, read
from clonediff.strategies.graph import Graph, MalformedGraph, from_json
from clonediff.strategies.kinds import GENERATIONS

FINDING = "finding.json"
KNOWN = "known"
"""The argument that names all known issues."""

_RUN = ("run.json", "events.ndjson", "findings")
_MOST = 20


@dataclass(frozen=True, slots=True)
class ReplayTarget:
    """One thing to try. `where` is the file it was read from, or the argument.

    `finding` is the finding that it is, if it is one, and `issue` the known issue, which has a script and no graph.
    `subject` is "" where nothing says on what it was found, `generation` where any will do, `cloner` where none is
    named. `problem` says why it cannot be tried at all.
    """

    where: str
    title: str = ""
    id: str = ""
    graph: Graph | None = None
    issue: KnownIssue | None = None
    expected: Expected = field(default_factory=Expected)
    subject: str = ""
    cloner: str = "upstream"
    generation: str = ""
    finding: Finding | None = None
    problem: str = ""


class NotFoundError(ValueError):
    """What was named is no finding; the message says what there is."""


def replay_targets(
    arguments: Iterable[str], known: KnownIssues, generations: Collection[str] = GENERATIONS
) -> tuple[list[ReplayTarget], list[str]]:
    """All that is pointed at, each once, in the order of the arguments; and what is amiss with a run beside that.

    Of all known issues, those of these generations are meant.
    """
    found: dict[str, ReplayTarget] = {}
    problems: list[str] = []
    for argument in arguments:
        for each in _of_argument(argument, known, generations, problems):
            path = Path(each.where)
            found.setdefault(str(path.resolve()) if path.exists() else each.where, each)
    return list(found.values()), problems


def finding_at(what: Path, id_: str = "") -> StoredFinding:
    """The one finding of that name, with the files beside it: by its folder, its finding.json, or a run and an id.

    `id_` is its id or its folder's name in a run, or the beginning of one.
    """
    if what.is_file() or (what / FINDING).is_file():
        path = what if what.is_file() else what / FINDING
        finding = _read_finding(path)
        if id_ and not finding.id.startswith(id_):
            raise NotFoundError(f"{what}: is the finding {finding.id}, not {id_}; leave the id out")
        return StoredFinding(
            path.parent, finding, None, *(_text(path.parent / name) for name in ("repro.py", "issue.md"))
        )
    if not what.exists():
        raise NotFoundError(
            f"{what}: no such finding or run; name a finding's folder, a run and an id (runs/latest ID), or "
            "a known issue"
        )
    run = read_run(what)
    there = {kept.name: kept for kept in run.findings}
    exact = [name for name, kept in there.items() if id_ and id_ in (name, kept.finding.id)]
    near = [name for name, kept in there.items() if name.startswith(id_) or kept.finding.id.startswith(id_)]
    names = exact or near
    if len(names) == 1:
        return there[names[0]]
    unread = [name for name in run.unreadable if id_ and (name.startswith(id_) or name.endswith(id_))]
    if unread and not names:
        problem = next((each for each in run.problems if unread[0] in each), "cannot be read")
        raise NotFoundError(f"{what}: {problem}")
    if not there:
        raise NotFoundError(f"{what}: this run has no findings")
    if names:
        said = f"{len(names)} findings begin with {id_}" if id_ else f"there are {len(names)} findings: name one"
        raise NotFoundError(f"{what}: {said}: {listed(names)}")
    raise NotFoundError(f"{what}: no finding begins with {id_}; there are {listed(sorted(there))}")


def issue_named(name: str, known_issues: Path) -> KnownIssue | None:
    """The known issue of that id, if there is one."""
    known = load(known_issues)
    issue = known.get(name)
    if issue is None and "/" not in name and (near := _near(name, known)):
        raise NotFoundError(f"{name}: no such finding or run, and no known issue of that id; {near}")
    return issue


def listed(names: list[str]) -> str:
    """Names in a row, not too many of them."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _of_argument(
    argument: str, known: KnownIssues, generations: Collection[str], problems: list[str]
) -> Iterator[ReplayTarget]:
    path = Path(argument)
    try:
        is_folder, is_file, problem = path.is_dir(), path.is_file(), ""
    except (OSError, ValueError) as error:  # too long for a name, or with a zero byte in it
        is_folder, is_file, problem = False, False, f"no name for a file: {error}"
    if is_folder:
        yield from _of_folder(path, problems)
    elif is_file:
        yield _of_file(path)
    elif argument == KNOWN:
        yield from (_of_issue(issue) for issue in known.issues if issue.generation in generations)
    elif (issue := known.get(argument)) is not None:
        yield _of_issue(issue)
    else:
        yield ReplayTarget(argument, problem=problem or _unknown(argument, known))


def _of_folder(path: Path, problems: list[str]) -> Iterator[ReplayTarget]:
    if (path / FINDING).exists():
        yield _of_file(path / FINDING)
    elif any((path / name).exists() for name in _RUN):
        yield from _of_run(path, problems)
    else:
        files = _visible_files(path) or sorted(path.glob(f"*/{FINDING}"))
        files = files or [each for name in GENERATIONS for each in _visible_files(path / name)]
        if not files:
            yield ReplayTarget(str(path), problem="a folder with no run, no finding and no graph's JSON in it")
        yield from map(_of_file, files)


def _of_run(path: Path, problems: list[str]) -> Iterator[ReplayTarget]:
    try:
        run = read_run(path)
    except RecordError as error:
        yield ReplayTarget(str(path), problem=str(error))
        return
    said: set[str] = set()
    for kept in run.findings:
        yield _of_finding(kept.finding, str(kept.folder / FINDING))
    for name in run.unreadable:
        its = next((problem for problem in run.problems if name in problem), "")
        said.add(its)
        yield ReplayTarget(str(run.path / "findings" / name / FINDING), problem=its or "cannot be read")
    problems += [f"{path}: {problem}" for problem in run.problems if problem not in said]


def _of_file(path: Path) -> ReplayTarget:
    where = str(path)
    try:
        fields = {} if path.name == FINDING else _fields(path)
        if path.name == FINDING or (isinstance(fields, dict) and "graph" in fields and "id" in fields):
            return _of_finding(_read_finding(path), where)
        return _of_graph(path, in_corpus=isinstance(fields, dict) and "graph" in fields)
    except (RecordError, MalformedGraph) as error:
        return ReplayTarget(where, problem=str(error).removeprefix(f"{where}: "))


def _of_graph(path: Path, *, in_corpus: bool) -> ReplayTarget:
    """A file that has a graph alone, or one as a corpus keeps it."""
    where, content = str(path), path.read_bytes()
    if not in_corpus:
        graph = from_json(content, where)
        return ReplayTarget(where, path.name, graph=graph, generation=graph.generation or "")
    try:
        kept = msgspec.json.decode(content, type=KeptGraph)
    except msgspec.ValidationError as error:
        raise MalformedGraph(f"{where}: not a graph as a corpus keeps it: {error}") from None
    if kept.format > FORMAT:
        raise MalformedGraph(f"{where}: format {kept.format}, but this clonediff reads up to {FORMAT}: update it")
    graph = from_json(bytes(kept.graph), f"{where}: graph")
    folder = path.resolve().parent.name
    return ReplayTarget(
        where,
        path.name,
        graph=graph,
        generation=graph.generation or (folder if folder in GENERATIONS else ""),
        subject=kept.about.subject,
        cloner=kept.about.cloner or "upstream",
    )


def _of_finding(finding: Finding, where: str) -> ReplayTarget:
    found = ReplayTarget(
        where,
        finding.title,
        finding.id,
        expected=Expected.of(finding),
        subject=finding.subject,
        cloner=finding.cloner or "upstream",
        generation=finding.generation,
        finding=finding,
    )
    try:
        graph = from_json(bytes(finding.graph), "`$.graph`")
    except MalformedGraph as error:
        return replace(found, problem=str(error))
    return replace(found, graph=graph)


def _of_issue(issue: KnownIssue) -> ReplayTarget:
    return ReplayTarget(issue.id, issue.title, issue.id, issue=issue, generation=issue.generation)


def _unknown(argument: str, known: KnownIssues) -> str:
    hint = _near(argument, known) or "known issues are the scripts in reports/known"
    return f"no such folder or file, and no known issue of that id; {hint}"


def _near(argument: str, known: KnownIssues) -> str:
    """Which known issues may have been meant; "" where none."""
    ids = [issue.id for issue in known.issues]
    near = difflib.get_close_matches(argument, ids, 3)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _read_finding(path: Path) -> Finding:
    """A finding from its finding.json. What only the events of its run say, they are asked for."""
    finding = read(path, Finding)
    run = path.resolve().parent.parent.parent
    if not finding.subject and any((run / name).exists() for name in _RUN[:2]):
        return next((each.finding for each in read_run(run).findings if each.name == path.parent.name), finding)
    return finding


def _fields(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from None
    except UNREADABLE as error:
        raise RecordError(f"{path}: expected the JSON of a finding or of a graph: {error}") from None


def _visible_files(folder: Path) -> list[Path]:
    """The JSON files by their names, without those that are still being written."""
    return sorted(each for each in folder.glob("*.json") if not each.name.startswith("."))


def _text(path: Path) -> str:
    """The text of a file; "" where there is none that can be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
