"""A project's baseline: the breaks that it lives with, each for a reason, in a file beside its models.

Owns the file, which anybody may have written, and which entry is what: a break that it accepts, one that it no longer
accepts, one that is gone. Nothing here decides what a break is.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.compared import WORDS
from clonediff.harness.answers.checked_model.models import Model
from clonediff.harness.answers.checked_model.record import Accepted, BaselineSeen, BreakSeen, CheckedModel, Status
from clonediff.harness.answers.checked_model.user_arguments import UserArguments
from clonediff.harness.answers.checked_model.verdicts import failing
from clonediff.harness.trials.checks import CHECKS
from clonediff.reports.entries import read_entries
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import one_line
from clonediff.reports.records import RecordError, write_bytes

_WORD = "accepted"
_TOLD_BY = ("model", "cause", "cloner", "way")
_FILLED = ("model", "cause", "cloner", "reason")
_HEAD = f"""\
# The breaks of clone_model that this project lives with. `clonediff check MODEL... --baseline THIS_FILE` fails on other
# ones alone; with --update-baseline it writes the file anew, with the reasons and dates in it, without other comments.
#
# Each [[{_WORD}]] has
#   model    the model, as it is named from this folder
#   cause    the fingerprint of the break, or the known issue that explains it
#   reason   why that is acceptable
#   cloner   who breaks it; "upstream", Keras' own, unless said
#   way      what --way said, where the break is one of clone_model with arguments, as --update-baseline writes it
#   expires  the last day on which the entry counts, such as 2027-01-31; for ever unless given

format = 1
"""
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as it was read on a day. One that is to be updated has the `content` of the file, None for no file."""

    path: Path
    entries: tuple[Accepted, ...]
    today: datetime.date
    content: bytes | None = None

    def name_of(self, model: Model) -> str:
        """A model as an entry names it: by its place from the folder of the file, wherever that is checked from."""
        if not model.path:
            return model.spec
        place = self._place_of(model.path)
        return f"{place}:{model.name}" if model.how == "function" else place

    def way_of(self, arguments: UserArguments | None) -> str:
        """What `--way` said as an entry names it: in the order of the alphabet, a file by its place from this one."""
        if arguments is None:
            return ""
        words = [*arguments.named, *(f"{argument}={text}" for argument, text in arguments.typed)]
        if arguments.function:
            words.append(f"{self._place_of(arguments.file)}:{arguments.function}")
        return " ".join(sorted(words))

    def _place_of(self, file: str) -> str:
        return Path(os.path.relpath(file, self.path.absolute().parent)).as_posix()

    def counts(self, entry: Accepted) -> bool:
        """Whether an entry has not expired."""
        return entry.expires is None or self.today <= entry.expires

    def entry(self, model: str, way: str, cloner: str, shown: CauseShown) -> Accepted | None:
        """The entry of a break: one that counts, before one that has expired."""
        found = [
            each
            for each in self.entries
            if (_named(each), each.way, each.cloner) == (model, way, cloner) and each.cause in (shown.id, shown.known)
        ]
        return next(filter(self.counts, found), found[0] if found else None)


def read_baseline(path: Path, today: datetime.date, *, to_update: bool = False) -> Baseline:
    """Read a baseline. An error names the entry, and says what to do.

    One that is `to_update` may be missing, and is to have a place where it can be written: whoever has it checked for
    minutes learns that before.
    """
    if to_update:
        folder = next(each for each in Path(os.path.realpath(path)).parents if each.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            why = "may not be written to" if folder.is_dir() else "is no folder"
            raise RecordError(f"{path}: cannot be written, {folder} {why}: name another file")
    if not os.path.lexists(path):
        if to_update:
            return Baseline(path, (), today)
        raise RecordError(f"{path}: no such file: to accept what breaks now, add --update-baseline, which writes it")
    content = _content(path) if to_update else None  # before the entries, which are then of nothing older
    try:
        entries, _ = read_entries(path, _WORD, Accepted, lambda _: None, inner={}, told_by=_TOLD_BY, filled=_FILLED)
    except RecordError as error:
        raise RecordError(f"{error}. Mend it, or take the file as it was from your version control") from error
    return Baseline(path, entries, today, content)


def _content(path: Path) -> bytes | None:
    """What stands in a file, None where it cannot be read. A pipe is left alone: it can be read once."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def held_against(
    checked: CheckedModel,
    model: Model,
    baseline: Baseline,
    arguments: UserArguments | None = None,
    *,
    strict: bool,
    allow_known: bool,
) -> CheckedModel:
    """What came of a model that was cloned with these arguments, with what the baseline says of each break."""
    name, way = baseline.name_of(model), baseline.way_of(arguments)
    fails = {(cloner, each.id) for cloner, each in failing(checked, strict=strict, allow_known=allow_known)}
    accepted: dict[Accepted, None] = {}
    new: dict[BreakSeen, None] = {}
    for cloner, each in _breaks(checked):
        entry = baseline.entry(name, way, cloner, each)
        if entry is not None and baseline.counts(entry):
            accepted[entry] = None
        elif (cloner, each.id) in fails:
            new[BreakSeen(cloner, each.known or each.id, each.headline, entry)] = None
    return replace(checked, baseline=BaselineSeen(name, tuple(new), tuple(accepted), way=way))


def with_what_is_gone(done: Sequence[CheckedModel], baseline: Baseline, known: KnownIssues) -> list[CheckedModel]:
    """The same, with the entries that nothing shows any more, each at the first answer on its model.

    An entry is gone where all that was asked about its model, cloned in its way, could have shown it: on another
    subject, in a check that was not made, or behind a crash, it may be there.
    """
    found = list(done)
    for entry in baseline.entries:
        asked = [number for number, each in enumerate(found) if _is_of(entry, each)]
        if asked and all(_is_gone(entry, found[number], known) for number in asked):
            first = found[asked[0]]
            assert first.baseline is not None
            its = replace(first.baseline, gone=(*first.baseline.gone, entry))
            found[asked[0]] = replace(first, baseline=its)
    return found


def untried(done: Sequence[CheckedModel], baseline: Baseline) -> list[Accepted]:
    """The entries of what was not tried: of other models, of other ways to clone them, or of other cloners."""
    return [
        entry
        for entry in baseline.entries
        if not any(_is_of(entry, each) and entry.cloner in {its.cloner for its in each.clones} for each in done)
    ]


def updated(done: Sequence[CheckedModel], baseline: Baseline, reason: str = "") -> list[CheckedModel]:
    """Write the file anew: with what is new, without what is gone. What has expired stays as it is, and still fails.

    Where there is nothing to change, a file that is there is left alone. One that somebody else has changed since it
    was read is not written: a `RecordError` says so.
    """
    entries = {_key(each): each for each in baseline.entries}
    found = []
    for each in done:
        assert each.baseline is not None
        seen = each.baseline
        for entry in seen.gone:
            del entries[_key(entry)]
        added, accepted = {}, dict.fromkeys(seen.accepted)
        for one in seen.new:
            if one.expired is not None:
                continue
            why = reason or one_line(f"as on {baseline.today}: {one.headline}", _LONGEST_REASON)
            entry = Accepted(seen.model, one.cause, why, one.cloner, seen.way)
            if _key(entry) not in entries:
                entries[_key(entry)] = added[entry] = entry
            accepted[entries[_key(entry)]] = None
        expired = tuple(one for one in seen.new if one.expired is not None)
        now = replace(seen, new=expired, accepted=tuple(accepted), gone=(), added=tuple(added), removed=seen.gone)
        found.append(replace(each, baseline=now))
    if set(entries.values()) != set(baseline.entries) or not os.path.lexists(baseline.path):
        if _content(baseline.path) != baseline.content:
            raise RecordError(f"{baseline.path}: the file was changed meanwhile, and is left as it is now: run again")
        write_bytes(Path(os.path.realpath(baseline.path)), _text(sorted(entries.values(), key=_key)).encode())
    return found


def _text(entries: Sequence[Accepted]) -> str:
    """The file. An entry of an unchanged baseline is written as it was read."""
    lines = [_HEAD]
    for entry in entries:
        lines.append(f"[[{_WORD}]]")
        lines += [f"{field} = {_quoted(getattr(entry, field))}" for field in ("model", "cause", "reason")]
        if entry.cloner != "upstream":
            lines.append(f"cloner = {_quoted(entry.cloner)}")
        if entry.way:
            lines.append(f"way = {_quoted(entry.way)}")
        if entry.expires is not None:
            lines.append(f"expires = {entry.expires.isoformat()}")
        lines.append("")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text as TOML has it, on one line: what cannot be seen stands there by its number."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in quoted)


def _key(entry: Accepted) -> tuple[str, str, str, str]:
    return entry.model, entry.cause, entry.cloner, entry.way


def _breaks(checked: CheckedModel) -> Iterator[tuple[str, CauseShown]]:
    """All breaks of a model, each with who breaks it."""
    return ((cloned.cloner, each) for cloned in checked.clones for each in cloned.breaks)


def _is_of(entry: Accepted, checked: CheckedModel) -> bool:
    """Whether an entry is of a model that was checked, cloned in this way."""
    seen = checked.baseline
    return seen is not None and (_named(entry), entry.way) == (seen.model, seen.way)


def _named(entry: Accepted) -> str:
    """Its model; one that was typed by hand may have a `./` before it."""
    return os.path.normpath(entry.model)


def _is_gone(entry: Accepted, checked: CheckedModel, known: KnownIssues) -> bool:
    """Whether a model does not show what an entry accepts, and could have."""
    if checked.status is not Status.CHECKED:
        return False
    cloned = next((each for each in checked.clones if each.cloner == entry.cloner), None)
    if cloned is None or any(each.hides or entry.cause in (each.id, each.known) for each in cloned.breaks):
        return False
    if any(each.cloner == entry.cloner for each in checked.not_compared):
        return False
    shown_by = _shown_by(entry, known)
    if len(shown_by) > 1:
        shown_by.discard("functions")  # it is made of a clone with functions alone, where little else is compared
    return all(WORDS[each] in checked.compared for each in shown_by)


def _shown_by(entry: Accepted, known: KnownIssues) -> set[str]:
    """The checks that may show what an entry accepts: a fingerprint begins with its check."""
    of_issues = {
        check
        for issue in known.issues
        if issue.id == entry.cause
        for pattern in issue.match
        for check in (
            CHECKS if pattern.check is None else [each for each in CHECKS if fnmatchcase(each, pattern.check)]
        )
    }
    return of_issues or {entry.cause.partition("-")[0]} & {*CHECKS}
