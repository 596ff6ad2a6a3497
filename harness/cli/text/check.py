"""A checked model for a person. Names come out of files that anybody may have written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from textwrap import wrap

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import BaselineSeen, CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.verdicts import FAITHFUL, fails, minded, qualified, refusal
from clonediff.harness.cli.terminal import table
from clonediff.harness.cli.text.baseline import entry_text
from clonediff.reports.markup import one_line
from clonediff.reports.records import cloner_said

_LONGEST_REASON = 200
_NAMED = 5
"""As many models are named where a sentence would have to name more."""


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
        lines += _cloned_text(cloned, checked.baseline, in_part=in_part)
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
    rows = [("model", "layers", "parameters", "seconds", "memory", *map(cloner_said, cloners))]
    for each in all_:
        size = (str(each.layers), f"{each.parameters:,}", f"{each.seconds:.1f}", f"{each.peak / (1 << 30):.1f} GiB")
        verdicts = {cloned.cloner: _short(cloned, in_part=each.in_part) for cloned in each.clones}
        if each.status is not Status.CHECKED:
            said = f"{each.status}: {one_line(each.reason)[:80]}"
            rows.append((one_line(each.model), *size, said, *("" for _ in cloners[1:])))
            continue
        rows.append((one_line(each.model), *size, *(verdicts.get(name, "") for name in cloners)))
    return table(rows)


def summed_up(done: Sequence[CheckedModel], asked: int, seconds: float, *, strict: bool, allow_known: bool) -> str:
    """The last line on many models: how many are fine, and which are not. `asked` is how many there were to check."""
    checked = [each for each in done if each.status is Status.CHECKED]
    unchecked = [each for each in done if each.status is not Status.CHECKED]
    broken = [each for each in checked if fails(each, strict=strict, allow_known=allow_known)]
    minded_in = [each for each in checked if minded(each.breaks, strict=strict)]
    subjects, models = ({getattr(each, field) for each in done} for field in ("subject", "model"))
    several = len(subjects) > 1
    accepted = [each for each in minded_in if not fails(each, strict=strict, allow_known=allow_known)]
    said = [f"{len(checked) - len(broken) - len(accepted)} cloned faithfully"]
    said += [f"{len(accepted)} with accepted breaks alone"] if accepted else []
    said += [f"{len(broken)} broken: {_names(broken, with_subject=several)}"] if broken else []
    said += [f"{len(unchecked)} not checked: {_names(unchecked, with_subject=several)}"] if unchecked else []
    of = f"{len(done)} of {asked}" if asked > len(done) else str(len(done))
    what = f"{of} checks, {_count(models)} on {len(subjects)} subjects," if several else f"{of} models"
    return f"{what} in {seconds:.0f} s: {'; '.join(said)}"


def _count(models: Collection[str]) -> str:
    return f"{len(models)} {'model' if len(models) == 1 else 'models'}"


def _names(all_: Sequence[CheckedModel], *, with_subject: bool) -> str:
    """The models of a sentence, the first of them by name."""
    names = [f"{one_line(each.model)}{f' on {each.subject}' if with_subject else ''}" for each in all_]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _short(cloned: Cloned, *, in_part: bool) -> str:
    if not cloned.breaks:
        return qualified(cloned.verdict, in_part=in_part)
    return f"{cloned.verdict}: {'; '.join(each.known or each.title for each in cloned.breaks)}"


def _cloned_text(cloned: Cloned, baseline: BaselineSeen | None, *, in_part: bool) -> Iterable[str]:
    if why := refusal(cloned):
        yield f"  {cloner_said(cloned.cloner)}: refused: {one_line(why)}"
        for each in cloned.breaks:
            yield from (f"    {line}" for line in _by_baseline(each, cloned.cloner, baseline))
        return
    more = "" if cloned.outcome in ("", FAITHFUL) else f": {qualified(cloned.outcome, in_part=in_part)}"
    yield f"  {cloner_said(cloned.cloner)}: {qualified(cloned.verdict, in_part=in_part)}{more}"
    for note in cloned.notes:
        yield f"    {one_line(note)}"
    for each in cloned.breaks:
        yield from (f"    {line}" for line in (*_break_text(each), *_by_baseline(each, cloned.cloner, baseline)))


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


def _by_baseline(shown: CauseShown, cloner: str, baseline: BaselineSeen | None) -> Iterable[str]:
    """What the baseline says of a break, where there is one and it says something."""
    if baseline is None:
        return
    causes = (shown.id, shown.known)
    for entry in baseline.accepted:
        if entry.cloner == cloner and entry.cause in causes:
            yield f"  accepted in the baseline: {entry_text(entry)}"
            return
    for new in baseline.new:
        if new.cloner == cloner and new.cause in causes:
            yield f"  {'expired' if new.expired else 'not'} in the baseline" + (
                f": {entry_text(new.expired)}" if new.expired else ""
            )
            return
