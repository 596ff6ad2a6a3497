"""A checked model for a person. Names come out of files that anybody may have written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.verdicts import FAITHFUL, qualified, refusal
from clonediff.harness.cli.terminal import table
from clonediff.reports.markup import one_line

_LONGEST_REASON = 200


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
    lines += _compared_text(checked)
    in_part = checked.in_part
    for cloned in checked.clones:
        lines += _cloned_text(cloned, in_part=in_part)
    for cloned in checked.remedies:
        lines.append(f"  tried as well: {cloned.cloner}: {qualified(cloned.outcome, in_part=in_part)}")
    return lines


def _compared_text(checked: CheckedModel) -> Iterable[str]:
    """What was compared, on one line, and then a line for each reason why something was not."""
    if checked.compared:
        compared = f"compared: {', '.join(checked.compared)}"
        yield from wrap(compared, 118, initial_indent="  ", subsequent_indent="    ")
    left_out: dict[str, list[str]] = {}
    for each in checked.not_compared:
        left_out.setdefault(each.why, []).append(each.what)
    for why, things in left_out.items():
        yield f"  not compared: {one_line(', '.join(things))}: {one_line(why, _LONGEST_REASON)}"


def models_text(all_: Sequence[CheckedModel], cloners: Sequence[str]) -> list[str]:
    """A line for each of many models: its seconds, its memory, what each cloner made of it."""
    rows = [("model", "layers", "parameters", "seconds", "memory", *cloners)]
    for each in all_:
        size = (str(each.layers), f"{each.parameters:,}", f"{each.seconds:.1f}", f"{each.peak / (1 << 30):.1f} GiB")
        verdicts = {cloned.cloner: _short(cloned, in_part=each.in_part) for cloned in each.clones}
        if each.status is not Status.CHECKED:
            said = f"{each.status}: {one_line(each.reason)[:80]}"
            rows.append((one_line(each.model), *size, said, *("" for _ in cloners[1:])))
            continue
        rows.append((one_line(each.model), *size, *(verdicts.get(name, "") for name in cloners)))
    return table(rows)


def _short(cloned: Cloned, *, in_part: bool) -> str:
    if not cloned.breaks:
        return qualified(cloned.verdict, in_part=in_part)
    return f"{cloned.verdict}: {'; '.join(each.known or each.title for each in cloned.breaks)}"


def _cloned_text(cloned: Cloned, *, in_part: bool) -> Iterable[str]:
    if why := refusal(cloned):
        yield f"  {cloned.cloner}: refused: {one_line(why)}"
        return
    more = "" if cloned.outcome in ("", FAITHFUL) else f": {qualified(cloned.outcome, in_part=in_part)}"
    yield f"  {cloned.cloner}: {qualified(cloned.verdict, in_part=in_part)}{more}"
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
