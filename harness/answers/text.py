"""The lines of an answer for a person: of a model that was checked, and of a target that was replayed.

Names come out of files that anybody may have written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.check import Checked, minded
from clonediff.harness.answers.replay import ReplayRow
from clonediff.harness.scripts.alone import ReplayAnswer
from clonediff.reports.markup import one_line
from clonediff.reports.records import cloner_said

_WIDTH = max(map(len, ReplayAnswer))


def checked_text(checked: Checked, ignored: Collection[str] = ()) -> Iterator[str]:
    """The lines on a model."""
    keras = next(iter(checked.versions))
    yield f"{one_line(checked.model)}: {one_line(_summary(checked, ignored))}"
    versions = ", ".join(f"{name} {version}" for name, version in checked.versions.items())
    yield f"  {one_line(checked.kind)}; {versions}"
    yield from (f"  input {one_line(line)}" for line in checked.inputs)
    if checked.asked:
        asked = ", ".join(f"{name} ({how})" for name, how in checked.asked.items())
        yield f"  asked for, so no difference: {one_line(asked)}"
    for cloner, causes in checked.clones.items():
        yield f"  {_who(cloner, keras)}: {_outcome(causes)}"
        yield from _causes_text(causes, ignored, is_upstream=cloner == "upstream")
    if checked.alone:
        yield "  cloning stopped there; in configs of this model more is lost:"
        yield from _causes_text(checked.alone, ignored)
    known = dict.fromkeys(cause.known for cause in minded(checked.causes) if not cause.ignored_by(ignored))
    if known and None not in known:
        yield f"  to accept that: {' '.join(f'--ignore {issue}' for issue in known)}"


def _who(cloner: str, keras: str) -> str:
    """A cloner by what a user calls."""
    named = {"upstream": f"{keras}.models.clone_model", "fixed": "clonediff.clone_model"}
    return named.get(cloner) or cloner_said(cloner)


def _summary(checked: Checked, ignored: Collection[str]) -> str:
    """What happens to whose clone, and what works."""
    keras = next(iter(checked.versions))
    broken = [name for name, causes in checked.clones.items() if minded(causes)]
    if not broken:
        names = any(checked.clones.values())
        return f"cloned faithfully{', but for names' if names else ''}; {checked.todo}"
    outcomes = "; ".join(f"{_outcome(checked.clones[name])} ({_who(name, keras)})" for name in broken)
    if not checked.fails(ignored):
        outcomes += ", which --ignore accepts"
    works = checked.clones.keys() - broken
    return f"{outcomes}; what works: `from clonediff import clone_model`" if "fixed" in works else outcomes


def _outcome(causes: Collection[CauseShown]) -> str:
    """What a cloner makes of the model, by the worst that it breaks."""
    if found := minded(causes):
        return found[0].happens
    return "faithful, but for names" if causes else "faithful"


def _causes_text(causes: Collection[CauseShown], ignored: Collection[str], is_upstream: bool = True) -> Iterator[str]:
    for cause in minded(causes):
        yield f"    {one_line(cause.sentence)}"
        yield from (f"      so {one_line(effect)}" for effect in dict.fromkeys(cause.effects))
        if cause.advice:
            yield f"      what to do: {one_line(cause.advice)}"
        link = f" ({cause.link})" if cause.link else ""
        if cause.own:
            documented = f"; Keras documents it{link}" if cause.documented else ""
            yield f"      why: it is in your own code, and no bug of Keras{documented}"
        elif cause.because:
            word = "documented" if cause.documented else "known"
            known = f" ({word}: {cause.known})" if cause.known else ""
            yield f"      why{known}: {one_line(cause.because)}{link}"
        elif is_upstream:
            yield "      why: not a known issue"
        if cause.ignored_by(ignored):
            yield "      accepted by --ignore"
    names = [
        one for cause in causes if cause.name_only for one in (cause.root, *cause.followers) if one.part != "layer"
    ]
    if names:
        pairs = list(dict.fromkeys(f"{one.expected} is {one.found}" for one in names))
        first, rest = ", ".join(pairs[:2]), f" and {len(pairs) - 2} more" if len(pairs) > 2 else ""
        harmless = "harmless, unless you feed, load or look something up by its name"
        yield f"    other names: {one_line(first)}{rest}; {harmless}"


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
