"""The gallery: every known cause that breaks in a release, with a script, as data and in Markdown.

Owns what is said of a cause to whoever knows nothing of clonediff, the order of the causes, and the digest that says
whether a gallery is that of the known issues of today. How examples are tried is not known here.
"""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from clonediff.reports.issue import PROMISES, code, escaped, fenced
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.markup import visible
from clonediff.reports.records import SEVERITIES, Severity

GENERATIONS = ("keras", "tf_keras")
"""The generations of today, which the gallery has."""

_DIGEST = re.compile(r"<!-- known issues: (\w+) -->")


class Standing(enum.StrEnum):
    """What became of a known issue's example on a subject."""

    BREAKS = "it breaks"
    MENDED = "it no longer breaks"
    OTHERWISE = "it breaks otherwise"
    UNTOLD = "whether it breaks is not known"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A known issue on one subject. `said` is why it does not break, `check` which promise it is about.

    `script` shows it; where it shows the model only, `incomplete` says so. `fixed` is what clonediff's own cloner makes
    of the model, "" where that was not tried.
    """

    issue: KnownIssue
    severity: Severity
    check: str
    standing: Standing = Standing.BREAKS
    said: str = ""
    script: str = ""
    incomplete: str = ""
    fixed: str = ""

    @property
    def paragraph(self) -> str:
        """What should be instead of what the title says, and why it is not."""
        parts = []
        if self.check in PROMISES:
            parts.append(f"What should be: {PROMISES[self.check]}")
        parts.append(f"Why: {self.issue.because}.")
        if self.issue.documented:
            parts.append("Keras documents it, which makes it a limit, and no bug.")
        return " ".join(parts)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The rest, each with its name; "" where nothing is known."""
        releases = f"since {self.issue.since}" if self.issue.since else "since when is not known"
        return [
            ("Releases", releases + (f", gone in {self.issue.until}" if self.issue.until else "")),
            ("clonediff's own cloner", self.fixed),
            ("In this release", self.said and f"{self.standing}: {self.said}"),
        ]


@dataclass(frozen=True, slots=True)
class Gallery:
    """What breaks on one subject, and with what it was tried."""

    subject: str
    versions: Mapping[str, str]
    exhibits: Sequence[Exhibit] = field(default=())

    @property
    def name(self) -> str:
        """The subject with its release."""
        version = self.versions.get(self.subject, "")
        named = {"keras": "Keras"}.get(self.subject, self.subject)
        return f"{named} {version}" if version else named

    def of(self, standing: Standing) -> list[Exhibit]:
        """Those of a standing, worst first."""
        return sorted((each for each in self.exhibits if each.standing is standing), key=lambda each: each.severity)


def digest(known: KnownIssues) -> str:
    """What the entries come to that a gallery is made of."""
    entries = [issue for issue in known.issues if issue.generation in GENERATIONS]
    return hashlib.sha256(msgspec.json.encode(entries)).hexdigest()[:16]


def digest_in(markdown: str) -> str:
    """The digest that a gallery has; "" where it has none."""
    found = _DIGEST.search(markdown)
    return found[1] if found else ""


def counted(gallery: Gallery) -> str:
    """In a sentence, how many causes there are of each severity, and what became of the others."""
    breaks = gallery.of(Standing.BREAKS)
    worst = [
        f"{sum(each.severity is severity for each in breaks)} where {said}" for severity, said in SEVERITIES.items()
    ]
    others = [
        f"of {len(its)} {standing}"
        for standing in Standing
        if standing is not Standing.BREAKS and (its := gallery.of(standing))
    ]
    return f"{len(breaks)} causes: {', '.join(worst)}" + "".join(f"; {each}" for each in others) + "."


def markdown(galleries: Sequence[Gallery], known: KnownIssues) -> str:
    """All of it, for a page of a repository."""
    parts = [
        "# What clone_model breaks",
        f"<!-- known issues: {digest(known)} -->",
        "Written by `clonediff gallery` from `reports/known_issues.toml`. Each script needs Keras only, and fails "
        "where the cause is there, unless it says that it does not.",
    ]
    for gallery in galleries:
        parts += _of_gallery(gallery)
    return visible("\n\n".join(parts) + "\n")


def _of_gallery(gallery: Gallery) -> Iterator[str]:
    yield f"## {escaped(gallery.name)}"
    yield f"{escaped(counted(gallery))} Tried with {escaped(with_versions(gallery))}."
    breaks = gallery.of(Standing.BREAKS)
    for severity, said in SEVERITIES.items():
        its = [each for each in breaks if each.severity is severity]
        if its:
            yield f"### {escaped(gallery.name)}: {said}"
        for each in its:
            yield from _of_exhibit(each)
    for standing in Standing:
        its = [] if standing is Standing.BREAKS else gallery.of(standing)
        if its:
            yield f"### {escaped(gallery.name)}: {standing}"
            yield "\n".join(
                f"- {code(each.issue.id)}: {escaped(each.issue.title)}: {escaped(each.said)}" for each in its
            )


def with_versions(gallery: Gallery) -> str:
    """What it was tried with."""
    return ", ".join(f"{name} {version}" for name, version in gallery.versions.items())


def _of_exhibit(each: Exhibit) -> Iterator[str]:
    yield f"#### {escaped(each.issue.title)}"
    yield escaped(each.paragraph)
    if each.script:
        yield fenced(each.script.rstrip(), "python")
    if each.incomplete:
        yield escaped(each.incomplete)
    lines = [f"- Known as: {code(each.issue.id)}"]
    lines += [f"- {name}: {escaped(said)}" for name, said in each.facts if said]
    lines += [f"- {link_word(each.issue)}: <{each.issue.link}>"] if linked(each.issue) else []
    yield "\n".join(lines)


def link_word(issue: KnownIssue) -> str:
    """What is said at the link: that it is known, or that it is meant."""
    return "Documented" if issue.documented and "github.com" not in (issue.link or "") else "Reported"


def linked(issue: KnownIssue) -> str:
    """Where it is said, if that is the address of a page."""
    return issue.link if issue.link and re.fullmatch(r"https?://[^\s\"'<>]+", issue.link) else ""
