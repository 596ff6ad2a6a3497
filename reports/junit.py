"""A run as JUnit XML, as CI servers read it: a suite for each subject, a test case for each finding.

A finding that counts is a failure; one whose script does not fail alone is skipped, and so is a known issue that still
breaks, like a test that is expected to fail. A known issue that no longer breaks passes, with a note. What could not be
tried or read is an error. Every suite has one case for the search itself, so that none is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from clonediff.reports.issue import PROMISES
from clonediff.reports.markup import Markup, raw, tag
from clonediff.reports.reading import RunRead, StoredFinding, moment
from clonediff.reports.records import KnownMet
from clonediff.reports.shortening import fitting
from clonediff.reports.summary import ran, still
from clonediff.reports.verdict import in_words, ordered, seconds_of, severity_of, verdict


@dataclass(frozen=True, slots=True)
class _Case:
    suite: str
    classname: str
    name: str
    ends: Literal["passed", "failure", "error", "skipped"] = "passed"
    message: str = ""
    text: str = ""
    kind: str = ""


def junit(read: RunRead) -> str:
    """The file's text."""
    read = fitting(read)
    cases: dict[str, list[_Case]] = {}
    for case in _cases(read):
        cases.setdefault(case.suite, []).append(case)
    seconds = seconds_of(read) or 0.0
    # The time is the whole run's, and stands in the first suite, so that a server that adds suites up is right.
    first = next(iter(cases))
    suites = [_suite(name, its, read.run.started, seconds if name == first else 0.0) for name, its in cases.items()]
    every = [case for its in cases.values() for case in its]
    whole = tag("testsuites", raw("\n"), *suites, name="clonediff", time=f"{seconds:.3f}", **_counts(every))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{whole}\n'


def _cases(read: RunRead) -> Iterator[_Case]:
    found = verdict(read)
    said = "\n".join((ran(read.run, seconds_of(read)), *found.notes))
    ends: Literal["error", "passed"] = "error" if found.state == "unknown" else "passed"
    yield _Case("clonediff", "clonediff.run", "search", ends, found.headline if ends == "error" else "", said)
    for subject, versions in read.run.subjects.items():
        yield _Case(subject, subject, "tried", text=in_words(versions))
    for subject, reason in read.run.lost.items():
        yield _Case(subject, subject, "not tried", "error", _line(reason), reason, "lost")
    for kept in ordered(read.findings):
        yield _finding(kept)
    for known in read.run.known or ():
        yield _known(known)
    for problem in read.problems:
        where, _, rest = problem.partition(": ")
        yield _Case("clonediff", "clonediff.files", where, "error", _line(rest or problem), problem, "unreadable")


def _finding(kept: StoredFinding) -> _Case:
    finding = kept.finding
    suite, name, classname = finding.where, finding.id, f"{finding.where}.{finding.who}"
    if finding.known is not None:
        return _Case(suite, classname, name, "skipped", f"known issue {finding.known}: {_line(finding.title)}")
    if finding.proof is False:
        return _Case(suite, classname, name, "skipped", f"{finding.alone}: {_line(finding.title)}")
    root = finding.root
    lines = [finding.title, severity_of(kept), finding.alone]
    if root is not None:
        lines += [PROMISES.get(root.check, root.check), *root.lines]
    lines += [*([finding.detail] if finding.detail else []), *finding.notes]
    lines += ["", kept.script]
    return _Case(
        suite, classname, name, "failure", _line(finding.title), "\n".join(lines), root.check if root else "refused"
    )


def _known(known: KnownMet) -> _Case:
    suite = known.where or "clonediff"
    said = still(known)
    if known.breaks is False and not known.count:
        until = f"as the list of known issues says, since {known.until}" if known.mended_after and known.until else ""
        text = f"{known.title}\nIts example no longer breaks, {until or 'and the list does not say until when it did'}."
        return _Case(suite, f"{suite}.known issues", known.id, text=text)
    message = f"known issue, still breaks: {said}, met {known.count} times: {_line(known.title)}"
    return _Case(suite, f"{suite}.known issues", known.id, "skipped", message)


def _suite(name: str, cases: list[_Case], started: str, seconds: float) -> Markup:
    elements = [element for case in cases for element in (_case(case), raw("\n"))]
    counts = _counts(cases)
    at = moment(started)
    timestamp = None if at is None else at.isoformat(timespec="seconds")[:19]
    suite = tag("testsuite", raw("\n"), *elements, name=name, timestamp=timestamp, time=f"{seconds:.3f}", **counts)
    return raw(suite + "\n")


def _case(case: _Case) -> Markup:
    parts: list[Markup] = []
    if case.ends in ("failure", "error"):
        parts.append(tag(case.ends, case.text, message=case.message, type=case.kind or case.ends))
    elif case.ends == "skipped":
        parts.append(tag("skipped", message=case.message))
    elif case.text:
        parts.append(tag("system-out", case.text))
    return tag("testcase", *parts, classname=case.classname, name=case.name, time="0")


def _counts(cases: list[_Case]) -> dict[str, int]:
    ends = [case.ends for case in cases]
    return {
        "tests": len(ends),
        "failures": ends.count("failure"),
        "errors": ends.count("error"),
        "skipped": ends.count("skipped"),
    }


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
