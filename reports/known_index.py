"""Write the index of known issues, `reports/known/README.md`: `python -m clonediff.reports.known_index`."""

from __future__ import annotations

from collections.abc import Sequence

from clonediff.reports.documents import template
from clonediff.reports.known import KNOWN_ISSUES, ROOTS, KnownIssue, KnownIssues, load
from clonediff.reports.records import EFFECTS, write_bytes
from clonediff.strategies.program import Generation

RELEASES: dict[Generation, tuple[str, ...]] = {
    "keras": (
        "3.3.3", "3.4.1", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.2", "3.10.0", "3.11.3", "3.12.2", "3.13.2",
        "3.14.1", "3.15.1", "3.16.0.dev2026102704",
    ),
    "tf_keras": ("2.17.0", "2.18.0", "2.19.0", "2.20.1", "2.21.0"),
}  # fmt: skip
"""The last release of each minor version and a nightly one, on which all scripts were run."""

GENERATION_NAMES: dict[Generation, str] = {"keras": "Keras 3", "tf_keras": "tf_keras"}


def index(known: KnownIssues) -> str:
    tables = {"effects": EFFECTS, "releases": RELEASES, "names": GENERATION_NAMES, "roots": ROOTS}
    functions = {"group_by_root": group_by_root, "sort_by_file": _sort_by_file, "facts_of": facts_of}
    return template("known_index.md.j2", str).render(known=known, **tables, **functions)


def group_by_root(known: KnownIssues, generation: Generation) -> list[tuple[str, list[KnownIssue]]]:
    """A generation's bugs by root cause, the worst first."""
    all_bugs = sorted(known.select(generation).bugs, key=bug_order)
    groups = {root: [bug for bug in all_bugs if bug.root == root] for root in ROOTS}
    pairs = [(root, bugs) for root, bugs in groups.items() if bugs]

    def root_order(pair: tuple[str, list[KnownIssue]]) -> list[int]:
        return [-sum(bug.severity <= severity for bug in pair[1]) for severity in EFFECTS]

    return sorted(pairs, key=root_order)


def bug_order(bug: KnownIssue) -> tuple[bool, bool, int, str]:
    """The sort key of bugs: open ones first, then major ones, then severe ones."""
    return bug.until is not None, bug.verdict == "minor", bug.severity, bug.id


def _sort_by_file(bugs: Sequence[KnownIssue]) -> list[KnownIssue]:
    """Sort bugs by file; the file with the worst bug comes first."""
    files = {bug.files[0] for bug in bugs}
    orders = {file: min(bug_order(bug) for bug in bugs if bug.files[0] == file) for file in files}
    return sorted(bugs, key=lambda bug: (orders[bug.files[0]], bug_order(bug)))


def facts_of(bug: KnownIssue) -> tuple[str, ...]:
    """Facts about a bug: its releases, whether `load_model` has it, too, a link to a report."""
    facts = [f"since {bug.since}"] * bool(bug.since) + [f"until {bug.until}"] * bool(bug.until)
    facts += ["also in `load_model`"] * bug.loading + [f"[reported]({bug.link})"] * bool(bug.link)
    return tuple(facts)


if __name__ == "__main__":
    write_bytes(KNOWN_ISSUES / "README.md", index(load()).encode())
