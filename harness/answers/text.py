"""The lines of an answer for a person: of a model that was checked, and of a target that was replayed.

Names come out of files that anybody may have written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.check import Checked, ignored_by, minded
from clonediff.harness.answers.replay import ReplayRow
from clonediff.harness.scripts.alone import ReplayAnswer
from clonediff.reports.markup import one_line
from clonediff.reports.records import cloner_said

_WIDTH = max(map(len, ReplayAnswer))


def checked_text(checked: Checked, ignored: Collection[str] = ()) -> Iterator[str]:
    """The lines on a model."""
    yield f"{one_line(checked.model)}: {one_line(_summary(checked))}"
    versions = ", ".join(f"{name} {version}" for name, version in checked.versions.items())
    yield f"  {one_line(checked.kind)}; {versions}"
    yield from (f"  input {one_line(line)}" for line in checked.inputs)
    for cloner, causes in checked.clones.items():
        yield f"  {cloner_said(cloner)}: {_outcome(causes)}"
        yield from _causes_text(causes, ignored)
    if checked.alone:
        yield "  revived alone from their configs:"
        yield from _causes_text(checked.alone, ignored)


def _summary(checked: Checked) -> str:
    """What happens to whose clone, and what works."""
    broken = [name for name, causes in checked.clones.items() if minded(causes)]
    if not broken:
        return "cloned faithfully; nothing to do"
    outcomes = "; ".join(f"{_outcome(checked.clones[name])} ({cloner_said(name)})" for name in broken)
    works = checked.clones.keys() - broken
    return f"{outcomes}; what works: `from clonediff import clone_model`" if "fixed" in works else outcomes


def _outcome(causes: Collection[CauseShown]) -> str:
    """What a cloner makes of the model, by the worst that it breaks."""
    if counted := minded(causes):
        return counted[0].happens
    return "only a name differs" if causes else "faithful"


def _causes_text(causes: Collection[CauseShown], ignored: Collection[str]) -> Iterator[str]:
    for cause in causes:
        root = cause.root
        word = "documented" if cause.documented else "known"
        known = f"{word}: {cause.known}" if cause.known else "not a known issue"
        known = "yours to mend" if cause.advice else known
        yield f"    {one_line(cause.headline)} ({known}{', ignored' if ignored_by(cause, ignored) else ''})"
        at = f"{root.first.said}: {root.path}" if root.first else root.path
        yield f"      at {one_line(at)}"
        if root.check == "made":
            yield f"      {one_line(root.found)}"
        else:
            yield f"      original: {one_line(root.expected)}"
            yield f"      clone:    {one_line(root.found)}"
        if cause.advice:
            yield f"      what to do: {one_line(cause.advice)}"
        elif cause.because:
            yield f"      why: {one_line(cause.because)}" + (f" ({cause.link})" if cause.link else "")
        if cause.followers:
            first = ", ".join(follower.path for follower in cause.followers[:3])
            yield f"      {len(cause.followers)} more: {one_line(first)}{', ...' if len(cause.followers) > 3 else ''}"


def replayed_text(row: ReplayRow) -> Iterator[str]:
    """An answer, with what is behind it in lines of its own."""
    indent = " " * (_WIDTH + 2)
    yield "  ".join(filter(None, (row.answer.value.ljust(_WIDTH), one_line(row.subject), target_text(row))))
    if row.answer is ReplayAnswer.UNKNOWN and row.title and row.id != row.where:
        yield indent + one_line(f"of {row.where}")
    if row.because:
        yield indent + one_line(row.because)
    if row.answer is ReplayAnswer.BREAKS:
        word = "also shows" if row.id else "shows"
        for cause in row.causes:
            if row.id not in (cause.id, cause.known):
                yield indent + one_line(f"{word}: {cause.line}")


def target_text(row: ReplayRow) -> str:
    """What was tried, in a line."""
    name = f"{row.title} [{row.id}]" if row.id else row.title or row.where
    return one_line(name + (f", cloned by {row.cloner}" if row.cloner and row.title else ""))
