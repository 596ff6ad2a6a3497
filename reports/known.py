"""Known issues: what breaks, why, and where that is said. Reads `known_issues.toml` and matches causes against it.

An entry matches by what the root of a cause is like, with `*` as in a shell; all that a pattern gives must match. A
cause is explained where an entry matches its root and allows what follows from it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, get_args

import msgspec
from packaging.version import InvalidVersion, Version

from clonediff.reports.entries import read_entries
from clonediff.reports.records import Cause, RecordError

KNOWN_ISSUES = Path(__file__).with_name("known_issues.toml")

_Generation = Literal["keras", "tf_keras"]
_GENERATIONS = get_args(_Generation)


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the root of a cause is like. A field that is not given matches anything.

    `kind` is the class of the first layer, `inside` that of the layer or the model that holds it, `place` its name,
    "inner/dense" for one inside another. `found` is what was found in the place of what was `expected`, such as the
    message of an exception, `given` an argument that `clone_model` was given, what was done to the model before, or
    something else that is in the case (`given` of `Cause`). `leads_to` names the checks that may show followers of
    this root; without it, any may.
    """

    check: str | None = None
    aspect: str | None = None
    kind: str | None = None
    inside: str | None = None
    exception: str | None = None
    frame: str | None = None
    path: str | None = None
    place: str | None = None
    found: str | None = None
    expected: str | None = None
    given: str | None = None
    leads_to: tuple[str, ...] | None = None


class KnownIssue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An issue of a cloner of one generation.

    It is there from release `since` on and gone in release `until`, either of them open where not given. `documented`
    says that Keras' own documentation says so: that makes it a limit, and no bug. `example` is a graph, as JSON, that
    shows it.
    """

    id: str
    generation: _Generation
    title: str
    because: str
    match: tuple[Pattern, ...]
    cloner: str = "upstream"
    link: str | None = None
    documented: bool = False
    since: str | None = None
    until: str | None = None
    example: str | None = None


class KnownIssues(msgspec.Struct, frozen=True):
    """The entries that may apply, in the order of the file.

    `read_in` has, for each generation, the release in which Keras was read: what is mended later is told.
    """

    issues: tuple[KnownIssue, ...] = ()
    read_in: dict[str, str] = {}

    def on(self, generation: str, release: str | None = None, cloner: str = "upstream") -> KnownIssues:
        """Those that apply to a generation, a release (any, where it is not known) and a cloner."""
        return KnownIssues(
            tuple(
                issue
                for issue in self.issues
                if issue.generation == generation and issue.cloner == cloner and _within(issue, release)
            )
        )

    def around(self, generation: str, release: str, cloner: str = "upstream") -> KnownIssues:
        """Those that may apply to a tree that names a release.

        What that release mends, and what the next one brings, may be in the tree by then, or not yet.
        """
        here = _numbers(release)[:2]
        after = (*here[:1], *(number + 1 for number in here[1:]))
        return KnownIssues(
            tuple(
                issue
                for issue in self.on(generation, None, cloner).issues
                if (issue.since is None or _numbers(issue.since)[:2] <= after)
                and (issue.until is None or _numbers(issue.until)[:2] >= here)
            )
        )

    def of(self, cause: Cause) -> KnownIssue | None:
        """The first issue that explains a cause."""
        return next((issue for issue in self.issues if explains(issue, cause)), None)

    def __getitem__(self, id: str) -> KnownIssue:  # noqa: A002 - it is called that in the file
        for issue in self.issues:
            if issue.id == id:
                return issue
        raise KeyError(id)


def load(path: Path = KNOWN_ISSUES) -> KnownIssues:
    """Read the file of known issues."""
    issues, read_in = read_entries(path, "issue", KnownIssue, _problem, inner={"match": Pattern}, beside="read_in")
    for generation, release in read_in.items():
        if generation not in _GENERATIONS:
            raise RecordError(f"{path}: `read_in` has {generation!r}, expected one of {', '.join(_GENERATIONS)}")
        if not _is_release(release):
            raise RecordError(
                f"{path}: `read_in` has {release!r} for {generation}, expected a release such as '3.12.0'"
            )
    return KnownIssues(issues, read_in)


def explains(issue: KnownIssue, cause: Cause) -> bool:
    """Whether an issue is the cause."""
    return any(matches(pattern, cause) for pattern in issue.match)


def _problem(issue: KnownIssue) -> str | None:
    if not issue.match:
        return "`match` has no pattern: add at least one [[issue.match]]"
    for number, pattern in enumerate(issue.match, 1):
        given = [field for field in msgspec.structs.asdict(pattern).values() if field is not None]
        if not given:
            return f"`match` {number} gives no field and would match everything: give it a check, at least"
    for field in ("since", "until"):
        release = getattr(issue, field)
        if release is not None and not _numbers(release):
            return f"`{field}` is {release!r}, expected a release such as '3.12.0'"
    if issue.since and issue.until and _numbers(issue.since) >= _numbers(issue.until):
        return f"`until` {issue.until} is not after `since` {issue.since}: it is the first release without the issue"
    if issue.example is not None:
        try:
            msgspec.json.decode(issue.example)
        except (msgspec.DecodeError, RecursionError) as error:
            return f"`example` is not JSON: {error}"
    return None


def matches(pattern: Pattern, cause: Cause) -> bool:
    """Whether a cause is like a pattern in every field that the pattern gives."""
    root = cause.root
    raised, first = root.raised, root.first
    told: list[tuple[str | None, str]] = [
        (pattern.check, root.check),
        (pattern.aspect, root.aspect),
        (pattern.path, root.path),
        (pattern.place, first.name if first else ""),
        (pattern.kind, first.kind if first else ""),
        (pattern.inside, first.inside if first else ""),
        (pattern.found, root.found),
        (pattern.expected, root.expected),
        (pattern.exception, raised.type if raised else ""),
        (pattern.frame, raised.frame if raised else ""),
    ]
    if not all(glob is None or fnmatchcase(text, glob) for glob, text in told):
        return False
    if pattern.given is not None and not any(fnmatchcase(each, pattern.given) for each in cause.given):
        return False
    allowed = pattern.leads_to
    return allowed is None or all(one.check in (*allowed, root.check) for one in cause.followers)


def _within(issue: KnownIssue, release: str | None) -> bool:
    if release is None:
        return True
    here = _numbers(release)
    if issue.since is not None and here < _numbers(issue.since):
        return False
    return issue.until is None or here < _numbers(issue.until)


def _is_release(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return bool(_numbers(text))


def _numbers(release: str) -> tuple[int, ...]:
    """A release as numbers to compare; empty where it is none. A development release counts as its release."""
    numbers: list[int] = []
    for part in release.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return (*numbers, *(0 for _ in range(3 - len(numbers)))) if numbers else ()
