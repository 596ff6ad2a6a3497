"""A checked model for a person. Names come out of files that anybody may have written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.verdicts import FAITHFUL, refusal
from clonediff.harness.cli.terminal import table
from clonediff.reports.markup import one_line


def checked_text(checked: CheckedModel) -> list[str]:
    """The lines on one model, the first of them what happens to its clone and what to do."""
    versions = ", ".join(f"{name} {version}" for name, version in checked.versions.items() if name != "numpy")
    said = checked.summary if checked.status is Status.CHECKED else f"{checked.status}: {checked.reason}"
    lines = [f"{one_line(checked.model)} on {checked.subject}: {one_line(said)}"]
    if checked.status is not Status.CHECKED:
        lines += [f"  {one_line(each)}" for each in checked.advice]
    if versions:
        lines.append(f"  {versions}")
    if checked.layers:
        lines.append(
            f"  {one_line(checked.kind)}, {checked.layers} layers, {checked.parameters:,} parameters, "
            f"{checked.seconds:.1f} s, {checked.peak / (1 << 30):.1f} GiB"
        )
    lines += [f"  given {one_line(each)}" for each in checked.inputs]
    if checked.clone_arguments:
        lines.append(f"  --way {one_line(checked.clone_arguments[0])}")
        lines += [f"    {line}" for each in checked.clone_arguments[1:] for line in wrap(each, 112)]
    for cloned in checked.clones:
        lines += _cloned_text(cloned)
    for cloned in checked.remedies:
        lines.append(f"  tried as well: {cloned.cloner}: {cloned.outcome}")
    return lines


def models_text(all_: Sequence[CheckedModel], cloners: Sequence[str]) -> list[str]:
    """A line for each of many models: its seconds, its memory, what each cloner made of it."""
    rows = [("model", "layers", "parameters", "seconds", "memory", *cloners)]
    for each in all_:
        size = (str(each.layers), f"{each.parameters:,}", f"{each.seconds:.1f}", f"{each.peak / (1 << 30):.1f} GiB")
        verdicts = {cloned.cloner: _short(cloned) for cloned in each.clones}
        if each.status is not Status.CHECKED:
            said = f"{each.status}: {one_line(each.reason)[:80]}"
            rows.append((one_line(each.model), *size, said, *("" for _ in cloners[1:])))
            continue
        rows.append((one_line(each.model), *size, *(verdicts.get(name, "") for name in cloners)))
    return table(rows)


def _short(cloned: Cloned) -> str:
    if not cloned.breaks:
        return cloned.verdict
    return f"{cloned.verdict}: {'; '.join(each.known or each.title for each in cloned.breaks)}"


def _cloned_text(cloned: Cloned) -> Iterable[str]:
    if why := refusal(cloned):
        yield f"  {cloned.cloner}: refused: {one_line(why)}"
        return
    more = "" if cloned.outcome in ("", FAITHFUL) else f": {cloned.outcome}"
    yield f"  {cloned.cloner}: {cloned.verdict}{more}"
    for note in cloned.notes:
        yield f"    {one_line(note)}"
    for each in cloned.breaks:
        yield from (f"    {line}" for line in _break_text(each))


def _break_text(each: CauseShown) -> Iterable[str]:
    root = each.root
    word = "documented" if each.documented else "known"
    known = f" ({word}: {each.known})" if each.known else " (not a known issue)"
    yield f"{one_line(each.headline)}{known}"
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
