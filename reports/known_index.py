"""The index of the known issues, `reports/known/README.md`; `python -m clonediff.reports.known_index` writes it."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.reports.issue import escaped
from clonediff.reports.known import KNOWN_ISSUES, KnownIssue, KnownIssues, load
from clonediff.reports.records import SEVERITIES, write_bytes

_NAMES = {"keras": "Keras 3", "tf_keras": "tf_keras"}
_HEAD = """\
# Known issues of `clone_model`

Each script builds a model, clones it, and fails where the issue is there. It needs Keras alone: run it as it is, or
with `clonediff replay ID`. Its docstring has the reason. Written by `python -m clonediff.reports.known_index`.
"""


def index(known: KnownIssues) -> str:
    """The index in Markdown: a list for each generation and severity, worst first."""
    return "\n".join([_HEAD, *_lists(known)])


def _lists(known: KnownIssues) -> Iterator[str]:
    for generation, name in _NAMES.items():
        for severity, words in SEVERITIES.items():
            issues = [issue for issue in known.on(generation).issues if issue.severity is severity]
            if issues:
                yield f"## {name}: {words}\n"
                yield "".join(map(_line, issues))


def _line(issue: KnownIssue) -> str:
    facts = [f"since {issue.since}"] * bool(issue.since) + [f"until {issue.until}"] * bool(issue.until)
    facts += ["documented"] * issue.documented
    facts += [f"[reported]({issue.link})"] * bool(issue.link)
    return f"- [{issue.id}]({issue.id}.py): {escaped(issue.title)}" + (f" ({', '.join(facts)})" if facts else "") + "\n"


if __name__ == "__main__":
    write_bytes(KNOWN_ISSUES / "README.md", index(load()).encode())
