"""A history for a person: a table of the releases, and the answer."""

from __future__ import annotations

from collections.abc import Iterable

from clonediff.harness.answers.history.record import History, ReleaseRow, ReleaseVerdict
from clonediff.harness.cli.terminal import table
from clonediff.harness.subjects.releases.commits import Commit
from clonediff.reports.markup import one_line

_COLOURS = {
    ReleaseVerdict.HOLDS.value: "green",
    ReleaseVerdict.BREAKS.value: "red",
    ReleaseVerdict.OTHERWISE.value: "yellow",
    ReleaseVerdict.CANNOT_BUILD.value: "yellow",
    ReleaseVerdict.CANNOT_TELL.value: "yellow",
}
_HEAD = ("release", "verdict", "used", "what")
_OF_COMMITS = ("commit", "date", "pull request", "verdict", "title", "what")
_TITLE = 60


def history_text(history: History, *, colour: bool = False) -> str:
    """The whole of it. Titles and messages may come from a run of somebody else's."""
    lines = [one_line(f"{history.asked}, cloned by {history.cloner}"), *map(one_line, history.notes), ""]
    by_commit = any(row.commit is not None for row in history.rows)
    lines += (commits_text if by_commit else rows_text)(history.rows, colour=colour)
    if len(history.by_cause) > 1:
        lines += ["", *(one_line(f"{cause}: {said}") for cause, said in history.by_cause.items())]
    interrupted = "interrupted; so far: " if history.interrupted else ""
    return "\n".join((*lines, "", one_line(interrupted + history.answer, 2000)))


def rows_text(rows: Iterable[ReleaseRow], *, colour: bool = False) -> list[str]:
    """The table of the releases."""
    cells = [(each.subject, each.verdict.value, used(each), what(each)) for each in rows]
    shown = [_HEAD, *(tuple(one_line(cell, 2000) for cell in row) for row in cells)]
    return table(shown, colours=_COLOURS if colour else None)


def commits_text(rows: Iterable[ReleaseRow], *, colour: bool = False) -> list[str]:
    """The table of the commits that were tried. A title has no number of a pull request: that has a column."""
    cells = [
        (its.short, its.date, f"#{its.pull}" if its.pull else "", each.verdict.value, _title(its), what(each))
        for each in rows
        if (its := each.commit) is not None
    ]
    shown = [_OF_COMMITS, *(tuple(one_line(cell, 2000) for cell in row) for row in cells)]
    return table(shown, colours=_COLOURS if colour else None)


def _title(commit: Commit) -> str:
    title = commit.title.removesuffix(f"(#{commit.pull})").rstrip()
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 3]}..."


def used(row: ReleaseRow) -> str:
    """What a release ran on: in which way it was had, its Python, its backend."""
    if not row.how:
        return ""
    others = {
        name: version
        for name, version in row.versions.items()
        if name not in ("numpy", "stack", "keras", "tf_keras", "tf.keras")
    }
    python = others.pop("python", "")
    stack = [f"{name} {version}" for name, version in others.items()]
    return ", ".join(filter(None, (row.how, f"Python {python}" if python else "", *stack)))


def what(row: ReleaseRow) -> str:
    """The reason of a row, and its causes."""
    causes = (each.title + (f" (known: {each.known})" if each.known else "") for each in row.causes)
    return "; ".join(filter(None, (row.reason, *causes)))
