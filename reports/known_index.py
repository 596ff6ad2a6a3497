"""The index of known issues, `reports/known/README.md`; `python -m clonediff.reports.known_index` writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from clonediff.reports.known import KNOWN_ISSUES, LIMITS, ROOTS, KnownIssue, KnownIssues, load
from clonediff.reports.records import DOES, SEVERITIES, write_bytes
from clonediff.strategies.program import Generation

RELEASES: dict[Generation, tuple[str, ...]] = {
    "keras": (
        "3.3.3", "3.4.1", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.2", "3.10.0", "3.11.3", "3.12.2", "3.13.2",
        "3.14.1", "3.15.1", "3.16.0.dev2026102704",
    ),
    "tf_keras": ("2.17.0", "2.18.0", "2.19.0", "2.20.1", "2.21.0"),
}  # fmt: skip
"""The last release of each minor version, and a nightly one: on each, all scripts were run (`tests/known`)."""

NAMES: dict[Generation, str] = {"keras": "Keras 3", "tf_keras": "tf_keras"}
_HEAD = """\
# Known issues of `clone_model`

Each script builds a model, clones it, and fails where the bug is there. It needs Keras alone: run it as it is, or with
`clonediff replay ID`. `clonediff repro ROOT --issue` writes one issue for all bugs of a root, such as `settings`, or
`tf-settings`. Written by `python -m clonediff.reports.known_index`.
"""


def index(known: KnownIssues) -> str:
    """The index in Markdown: bugs by generation, root and file, the worst first; then limits."""
    return "\n".join((_HEAD, *_how_many(known), *_bugs(known), *_limits(known)))


def _how_many(known: KnownIssues) -> Iterator[str]:
    yield "## How many each release has\n"
    yield "A maintainer would take those that are not minor. Each block of the picture is a bug: `█` crashes, `▓`"
    yield "computes something else, `▒` trains differently, `░` loses a property or a name.\n"
    yield f"| release | {' | '.join(DOES.values())} | all | minor | |\n{'|---' * (len(DOES) + 4)}|"
    for generation, releases in RELEASES.items():
        for release in releases:
            bugs = known.on(generation, release).bugs
            counts = Counter(bug.severity for bug in bugs)
            picture = "".join(block * counts[severity] for severity, block in zip(DOES, "█▓▒░░", strict=True))
            numbers = [counts[severity] for severity in DOES]
            minor = sum(bug.verdict == "minor" for bug in bugs)
            cells = [f"{generation} {release}", *map(str, (*numbers, len(bugs), minor)), picture]
            yield f"| {' | '.join(cells)} |"
    yield ""


def _bugs(known: KnownIssues) -> Iterator[str]:
    for generation, name in NAMES.items():
        yield f"## {name}\n"
        for root, bugs in by_root(known, generation):
            yield f"### {name}: {ROOTS[root]} (`{'tf-' * (generation == 'tf_keras')}{root}`)"
            for _, group in groupby(_by_file(bugs), lambda bug: bug.files[0]):
                yield from map(_line, group)
            yield ""


def by_root(known: KnownIssues, generation: Generation) -> list[tuple[str, list[KnownIssue]]]:
    """The bugs of a generation by their roots: the roots with most of the worst first, and of each root the worst."""
    groups = {root: sorted((bug for bug in known.on(generation).bugs if bug.root == root), key=harm) for root in ROOTS}
    found = [(root, bugs) for root, bugs in groups.items() if bugs]

    def worst(pair: tuple[str, list[KnownIssue]]) -> list[int]:
        return [-sum(bug.severity <= severity for bug in pair[1]) for severity in SEVERITIES]

    return sorted(found, key=worst)


def harm(bug: KnownIssue) -> tuple[bool, bool, int, str]:
    """What the worst bug is first by: one that releases to come have, no minor one, what it does."""
    return bug.until is not None, bug.verdict == "minor", bug.severity, bug.id


def _by_file(bugs: Sequence[KnownIssue]) -> list[KnownIssue]:
    """Bugs by file, a file with a worse bug first."""
    worst = {file: min(harm(bug) for bug in bugs if bug.files[0] == file) for file in {bug.files[0] for bug in bugs}}
    return sorted(bugs, key=lambda bug: (worst[bug.files[0]], harm(bug)))


def _line(bug: KnownIssue) -> str:
    facts = ", ".join(("minor",) * (bug.verdict == "minor") + facts_of(bug))
    return f"- {bug.files[0]}, it {DOES[bug.severity]}: [{bug.title}]({bug.id}.py)" + f" ({facts})" * bool(facts)


def facts_of(bug: KnownIssue) -> tuple[str, ...]:
    """Which releases have it, whether loading has it, and where it is reported."""
    facts = [f"since {bug.since}"] * bool(bug.since) + [f"until {bug.until}"] * bool(bug.until)
    facts += ["`load_model` fails alike"] * bug.loading + [f"[reported]({bug.link})"] * bool(bug.link)
    return tuple(facts)


def _limits(known: KnownIssues) -> Iterator[str]:
    yield f"## Limits\n\nDocumented, by design, or without effect. Their patterns are in [{LIMITS}]({LIMITS}).\n"
    for limit in known.issues:
        if limit.verdict == "limit":
            link = f" ([documented]({limit.link}))" if limit.documented else ""
            yield f"- `{limit.id}`: {limit.title}. {limit.because}{link}."
    yield ""


if __name__ == "__main__":
    write_bytes(KNOWN_ISSUES / "README.md", index(load()).encode())
