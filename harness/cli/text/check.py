"""A checked model for a person. Names come out of files that anybody may have written."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.verdicts import FAITHFUL, is_ignored, refusal
from clonediff.reports.markup import one_line
from clonediff.reports.records import cloner_said


def checked_text(checked: CheckedModel, ignored: Collection[str] = ()) -> list[str]:
    """The lines on a model, the first of them what happens to its clone and what to do."""
    versions = ", ".join(f"{name} {version}" for name, version in checked.versions.items() if name != "numpy")
    said = checked.summary if checked.status is Status.CHECKED else f"{checked.status}: {checked.reason}"
    lines = [f"{one_line(checked.model)} on {checked.subject}: {one_line(said)}"]
    lines += [f"  {one_line(each)}" for each in checked.advice]
    if versions:
        lines.append(f"  {versions}")
    if checked.layers:
        lines.append(
            f"  {one_line(checked.kind)}, {checked.layers} layers, {checked.parameters:,} parameters, "
            f"{checked.seconds:.1f} s, {checked.peak / (1 << 30):.1f} GiB"
        )
    lines += [f"  given {one_line(each)}" for each in checked.inputs]
    for cloned in checked.clones:
        lines += _cloned_text(cloned, ignored)
    return lines


def _cloned_text(cloned: Cloned, ignored: Collection[str]) -> Iterable[str]:
    if why := refusal(cloned):
        yield f"  {cloner_said(cloned.cloner)}: refused: {one_line(why)}"
        return
    more = "" if cloned.outcome in ("", FAITHFUL) else f": {cloned.outcome}"
    yield f"  {cloner_said(cloned.cloner)}: {cloned.verdict}{more}"
    for each in cloned.breaks:
        yield from (f"    {line}" for line in _break_text(each, ignored=is_ignored(each, ignored)))


def _break_text(each: CauseShown, *, ignored: bool) -> Iterable[str]:
    root = each.root
    word = "documented" if each.documented else "known"
    known = f"{word}: {each.known}" if each.known else f"not a known issue: {each.id}"
    yield f"{one_line(each.headline)} ({known}{', ignored' if ignored else ''})"
    if each.follows:
        yield f"  so it raises {one_line(each.follows)}"
    if root.first is not None:
        yield f"  first at {one_line(root.first.said)}: {one_line(root.path)}"
    else:
        yield f"  at {one_line(root.path)}"
    yield f"  original: {one_line(root.expected)}"
    yield f"  clone:    {one_line(root.found)}"
    if root.numbers is not None:
        numbers = root.numbers
        became = f"{one_line(numbers.expected)} became {one_line(numbers.found)}"
        yield f"  {numbers.said}; {' '.join(filter(None, ('first', numbers.at)))}: {became}"
    if each.because:
        yield f"  why: {one_line(each.because)}" + (f" ({each.link})" if each.link else "")
    if each.followers:
        count = len(each.followers)
        yield f"  {count} more {'difference follows' if count == 1 else 'differences follow'} from it"
