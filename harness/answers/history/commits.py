"""The commits of a branch: which of them are tried, what each change was, and the answer in a line.

Along a branch a bug comes once, as a rule, so that it is bisected as a whole. Where it came, went and came again, all
changes are told that were seen; there may be more between two that are alike. Pure, but for the copies.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from clonediff.harness.answers.history.bisection import Bisection
from clonediff.harness.answers.history.record import CLONED, Change, ReleaseRow
from clonediff.harness.answers.history.survey import compared_by
from clonediff.harness.subjects.releases import ReleaseError, copied, remove
from clonediff.harness.subjects.releases.bytecode import Bytecode
from clonediff.harness.subjects.releases.commits import Commit, CommitRange
from clonediff.harness.subjects.subject import Subject

CommitSurvey: TypeAlias = Bisection[Commit, ReleaseRow]

_NAMED = 5
"""So many commits are named in a sentence."""
_HOLDS, _BREAKS, _OTHERWISE = CLONED
_WORDS = {
    (_HOLDS, _BREAKS): "broken by",
    (_HOLDS, _OTHERWISE): "broken otherwise by",
    (_BREAKS, _HOLDS): "mended by",
    (_OTHERWISE, _HOLDS): "mended by",
    (_OTHERWISE, _BREAKS): "broken so by",
}
_CHANGED = "broken in another way by"
_IN_PART = {(True, False): "broken further by", (False, True): "mended in part by"}
"""Of what was broken and is: whether there are causes that came, and such that are gone."""


class CommitCopies:
    """The copies that commits are tried from. Those that were made here are removed, and no others."""

    def __init__(self, tree: str, suffix: str, say: Callable[[str], None]) -> None:
        self._tree = tree
        self._suffix = suffix
        self._say = say
        self._bytecode = Bytecode()
        self._made: set[str] = set()
        self._closed = False

    def of(self, commit: Commit) -> Subject:
        """The copy of a commit, which was not started yet. A `ReleaseError` says why there is none."""
        tree = f"{self._tree}#{commit.commit}{self._suffix}"
        name, is_new = copied(tree, self._say, self._bytecode, see=False)
        subject = Subject.parse(name)
        if is_new:
            self._made.add(subject.release)
        if self._closed:  # a thread that was not waited for
            self._remove(subject.release)
        return subject

    def remove(self, row: ReleaseRow) -> None:
        """Remove the copy that a row was had from, unless somebody else made it."""
        if row.subject:
            self._remove(Subject.parse(row.subject).release)

    def close(self) -> None:
        """Remove what is left, as after an interrupt."""
        self._closed = True
        for release in tuple(self._made):
            self._remove(release)

    def _remove(self, release: str) -> None:
        if release in self._made:
            self._made.discard(release)
            with contextlib.suppress(ReleaseError):  # somebody else has removed it
                remove(release, self._say)


def commit_survey(found: CommitRange, jobs: int, *, all_: bool = False, sought: bool = False) -> CommitSurvey:
    """The commits to try: `all_`, or those that tell, several at once."""
    rows = [found.line, (found.apart,) if found.apart is not None else ()]
    return Bisection(rows, lambda row: _shows(row, sought), found.line if all_ else (), at_once=jobs)


def _shows(row: ReleaseRow, sought: bool) -> Hashable:
    """What a commit is compared by; None where it cannot be told: the next commit may be built again."""
    return compared_by(row, sought) if row.verdict in CLONED else None


def tried_rows(found: CommitRange, answers: Mapping[Commit, ReleaseRow]) -> tuple[ReleaseRow, ...]:
    """The rows that there are, in the order of the commits."""
    every = (*((found.apart,) if found.apart is not None else ()), *found.line)
    return tuple(answers[commit] for commit in every if commit in answers)


def changes(found: CommitRange, answers: Mapping[Commit, ReleaseRow], *, sought: bool) -> tuple[Change, ...]:
    """Where two commits differ, with none between them of which it can be told."""
    line = found.line
    told = [number for number, commit in enumerate(line) if commit in answers and answers[commit].verdict in CLONED]
    return tuple(
        _change(answers[line[left]], answers[line[right]], line[left + 1 : right])
        for left, right in pairwise(told)
        if _shows(answers[line[left]], sought) != _shows(answers[line[right]], sought)
    )


def _change(before: ReleaseRow, after: ReleaseRow, between: tuple[Commit, ...]) -> Change:
    assert after.commit is not None
    old, new = ({each.key: each.said for each in row.causes} for row in (before, after))
    came = tuple(said for key, said in new.items() if key not in old)
    gone = tuple(said for key, said in old.items() if key not in new)
    return Change(after.commit, before.verdict, after.verdict, came, gone, between)


def commit_answer(found: CommitRange, answers: Mapping[Commit, ReleaseRow], seen: Sequence[Change]) -> str:
    """The answer in a line."""
    told = [commit for commit in found.line if commit in answers and answers[commit].verdict in CLONED]
    if not told:
        return f"cannot be told of any of the {len(found.line)} commits that were to be tried"
    parts = ["; ".join(map(_in_words, seen))]
    if not seen:
        ends = f"{told[0]} and {told[-1]}" if len(told) > 1 else str(told[0])
        parts = [f"{answers[told[0]].verdict} in {ends}" + (", and no change was seen between" if told[1:] else "")]
    if found.apart is not None and found.apart in answers:
        parts.append(f"{found.apart}, which is not on this branch: {answers[found.apart].verdict}")
    return "; ".join(parts)


def _in_words(change: Change) -> str:
    commit = change.commit
    in_part = _IN_PART.get((bool(change.came), bool(change.gone)), _CHANGED)
    words = _WORDS.get((change.before, change.after), in_part)
    said = f"{words} {commit} of {commit.date}: {commit.title}"
    if words == in_part:
        said += "".join(f", {what}: {', '.join(each)}" for what, each in _causes(change))
    if change.or_one_of:
        names = ", ".join(map(str, change.or_one_of[:_NAMED]))
        more = f" and {len(change.or_one_of) - _NAMED} more" if len(change.or_one_of) > _NAMED else ""
        said += f" - or by one of the {len(change.or_one_of)} before it, of which it cannot be told: {names}{more}"
    return said


def _causes(change: Change) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from ((what, each) for what, each in (("new", change.came), ("gone", change.gone)) if each)
