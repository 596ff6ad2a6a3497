"""Find what an argument names: a run, a finding, a graph, a known issue.

If an argument cannot be read, the `problem` of its target names the file, the field and what to do.
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
from clonediff.reports.records import READ_ERRORS, Finding, RecordError, read
from clonediff.strategies.program import GENERATIONS, Graph, MalformedGraph, from_json

FINDING_FILE = "finding.json"
_RUN_FILES = ("run.json", "findings")
_RUN_PATTERNS = (f"findings/[!.]*/{FINDING_FILE}",)
_FOLDER_PATTERNS = (FINDING_FILE, "[!.]*.json", f"*/{FINDING_FILE}", "*keras/[!.]*.json")
"""Patterns for a finding, graphs, a folder of findings, and a corpus; the first with a match counts.

A file whose name begins with a dot is still being written.
"""
_MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Target:
    """A graph, a finding or a known issue to try.

    `address` is the file or the argument. `subject` is "" unless it is a finding; `generation` is "" if both
    generations can try it. `problem` is the reason why it cannot be tried.
    """

    address: str
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
        """The script of the finding or known issue; None for a graph."""
        if self.issue is not None:
            return Script(self.issue.code, self.issue.raises, must_fail=True)
        if self.finding is None:
            return None
        finding, root = self.finding, self.finding.root
        ending = ending_of(root) if root else finding.detail.partition(":")[0]
        return Script(finding.source, ending, bool(finding.proof), imports_clonediff(finding.cloner))


def targets(arguments: Iterable[str], known: KnownIssues, generations: Collection[str] = GENERATIONS) -> list[Target]:
    """The targets of all arguments; "known" is all known issues of the generations."""
    by_path: dict[str, Target] = {}
    for argument in arguments:
        for target in _targets_of_argument(argument, known, generations):
            by_path.setdefault(os.path.realpath(target.address) if target.issue is None else target.address, target)
    return list(by_path.values())


def single_target(argument: str, prefix: str, known: KnownIssues) -> Target:
    """The known issue or the finding that an argument names.

    In a run, it is the finding whose id or folder starts with `prefix`. If there is none, or several, the message of
    the `RecordError` lists the choices.
    """
    candidates = targets([argument], known)
    by_name = {_name(target): target for target in candidates if target.finding or target.issue}
    matches = [target for name, target in by_name.items() if f" {prefix}" in f" {name} {target.id}"]
    if len(matches) == 1:
        return matches[0]
    problems = [f"{target.address}: {target.problem}" for target in candidates if target.problem]
    if problems and not by_name:
        raise RecordError(problems[0])
    starting = f" starting with {prefix!r}" if prefix else ""
    reason = f"{len(matches)} findings{starting}, name one: " if matches else f"no finding{starting}"
    reason += "; there are " if by_name and not matches else ""
    names = ", ".join(sorted(map(_name, matches or by_name.values()))[:_MAX_LISTED])
    raise RecordError("; ".join((f"{argument}: {reason}{names}", *problems[:1])))


def _name(target: Target) -> str:
    """The folder of a finding, or the id of a known issue."""
    return Path(target.address).parent.name if target.finding else target.id


def _targets_of_argument(argument: str, known: KnownIssues, generations: Collection[str]) -> Iterator[Target]:
    if os.path.isdir(argument):
        yield from _targets_of_folder(Path(argument))
    elif os.path.isfile(argument):
        yield _target_of_file(Path(argument))
    elif argument == "known":
        yield from (_target_of_issue(issue) for issue in known.bugs if issue.generation in generations)
    elif (issue := known.get(argument)) is not None:
        yield _target_of_issue(issue)
    else:
        similar = difflib.get_close_matches(argument, [issue.id for issue in known.issues])
        hint = f"did you mean {' or '.join(similar)}?" if similar else "known issues are the scripts in reports/known"
        yield Target(argument, problem=f"there is no such file, folder or known issue; {hint}")


def _target_of_issue(issue: KnownIssue) -> Target:
    if issue.verdict == "limit":
        return Target(issue.id, problem=f"a limit, which has no script: {issue.title}. {issue.reason}")
    return Target(issue.id, issue.title, issue.id, issue=issue, generation=issue.generation)


def _targets_of_folder(path: Path) -> Iterator[Target]:
    is_run = any((path / name).exists() for name in _RUN_FILES)
    patterns = _RUN_PATTERNS if is_run else _FOLDER_PATTERNS
    files = next(filter(None, (sorted(path.glob(pattern)) for pattern in patterns)), [])
    if not files and not is_run:
        yield Target(str(path), problem="the folder has no run, finding or graph in it")
    yield from map(_target_of_file, files)


def _target_of_file(path: Path) -> Target:
    """Read a file with the fields of a finding or of a graph."""
    address = str(path)
    try:
        fields = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
        if path.name == FINDING_FILE or "graph" in fields:
            return _target_of_finding(read(path, Finding), address)
        graph = from_json(path.read_bytes(), address)
    except OSError as error:
        return Target(address, problem=f"cannot be read ({error.strerror})")
    except READ_ERRORS as error:
        return Target(address, problem=f"expected the JSON of a finding or of a graph: {error}")
    except (RecordError, MalformedGraph) as error:
        return Target(address, problem=str(error).removeprefix(f"{address}: "))
    folder = path.resolve().parent.name
    generation = graph.generation or (folder if folder in GENERATIONS else "")
    return Target(address, path.name, graph=graph, generation=generation)


def _target_of_finding(finding: Finding, path: str) -> Target:
    cloner = finding.cloner or "upstream"
    target = Target(path, finding.title, finding.id, None, None, finding, finding.subject, cloner, finding.generation)
    try:
        return replace(target, graph=from_json(bytes(finding.graph), "`$.graph`"))
    except MalformedGraph as error:
        return replace(target, problem=str(error))
