"""What a project's baseline comes to, for a person. The file may say anything: each text is printed on one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.answers.checked_model.baseline import Baseline
from clonediff.harness.answers.checked_model.record import Accepted, BaselineSeen, BreakSeen, CheckedModel
from clonediff.reports.markup import one_line


def entry_text(entry: Accepted) -> str:
    """Why a break is accepted, and until when."""
    until = f" (until {entry.expires})" if entry.expires is not None else ""
    return f"{one_line(entry.reason)}{until}"


def baseline_text(
    done: Sequence[CheckedModel],
    baseline: Baseline,
    untried: Sequence[Accepted],
    *,
    update: bool,
    interrupted: bool,
) -> list[str]:
    """A line with the numbers, then one for each entry or break that somebody has to look at."""
    seen = [each.baseline for each in done if each.baseline is not None]
    accepted = dict.fromkeys(entry for each in seen for entry in each.accepted)
    new = dict.fromkeys((_cloned(each), one) for each in seen for one in each.new if one.expired is None)
    expired = dict.fromkeys((_cloned(each), one) for each in seen for one in each.new if one.expired is not None)
    gone = [entry for each in seen for entry in each.gone]
    counts = [f"{len(accepted)} accepted", f"{len(new)} new"]
    counts += [f"{len(expired)} expired"] if expired else []
    counts += [f"{len(gone)} no longer there"] if gone else []
    counts += [f"{len(untried)} not tried"] if untried else []
    file = one_line(str(baseline.path))
    lines = [f"{file}: {', '.join(counts)}"]
    lines += [f"  new: {_break(its, one.cloner, one.cause)}: {one_line(one.headline)}" for its, one in new]
    lines += [f"  expired: {_break(its, one.cloner, one.cause)}: {_late(one)}" for its, one in expired]
    lines += [f"  no longer there: {_entry(each)}: take the entry out, or add --update-baseline" for each in gone]
    lines += [f"  not tried: {_entry(each)}" for each in untried]
    if update:
        lines += _update_text([entry for each in seen for entry in each.added], seen_removed(done), file, interrupted)
    return lines


def seen_removed(done: Sequence[CheckedModel]) -> list[Accepted]:
    """The entries that an update took out."""
    return [entry for each in done if each.baseline is not None for entry in each.baseline.removed]


def _update_text(added: Sequence[Accepted], removed: Sequence[Accepted], file: str, interrupted: bool) -> Iterator[str]:
    if interrupted:
        yield f"{file} is left as it was, since not all models were checked"
        return
    if not added and not removed:
        yield f"{file}: nothing to add, nothing to take out"
        return
    yield f"{file} is written: {len(added)} added, {len(removed)} taken out"
    yield from (f"  + {_entry(each)}: {entry_text(each)}" for each in added)
    yield from (f"  - {_entry(each)}: {entry_text(each)}" for each in removed)


def _late(one: BreakSeen) -> str:
    assert one.expired is not None
    return f"{entry_text(one.expired)}: mend it, or give the entry another date"


def _cloned(its: Accepted | BaselineSeen) -> tuple[str, str]:
    """A model and the way in which it was cloned."""
    return its.model, its.way


def _break(its: tuple[str, str], cloner: str, cause: str) -> str:
    model, way = map(one_line, its)
    how = f" with --way {way}" if way else ""
    return f"{model}, cloned by {one_line(cloner)}{how}: {one_line(cause)}"


def _entry(entry: Accepted) -> str:
    return _break(_cloned(entry), entry.cloner, entry.cause)
