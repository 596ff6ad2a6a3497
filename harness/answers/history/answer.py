"""The answer in a line: in which releases it breaks and in which it holds.

Owns what a range may claim: "3.12.0 to 3.12.3" has only releases that were tried and gave that verdict, one after the
other among all that exist. Where some in it were not tried, since they stand between two of their branch that are
alike, it says of how many. Where it is not known which releases exist, there are no ranges. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from packaging.version import Version

from clonediff.harness.answers.history.record import CLONED, TOLD, ReleaseRow, ReleaseVerdict
from clonediff.harness.answers.history.releases_option import ReleaseLine
from clonediff.harness.answers.history.survey import branch

_WORDS = (
    (ReleaseVerdict.BREAKS, "breaks in"),
    (ReleaseVerdict.HOLDS, "holds in"),
    (ReleaseVerdict.OTHERWISE, "breaks otherwise in"),
    (ReleaseVerdict.CANNOT_BUILD, "cannot be built in"),
    (ReleaseVerdict.CANNOT_TELL, "cannot be told of"),
    (ReleaseVerdict.NOT_TO_BE_HAD, "not to be had:"),
)

Tell = Callable[[ReleaseRow], ReleaseVerdict]
Table = Sequence[tuple[ReleaseLine, Sequence[ReleaseRow]]]


def answer(table: Table, tell: Tell | None = None) -> str:
    """The answer. `tell` gives the verdict of a row where that is not its own."""
    parts = []
    for line, rows in table:
        said = of_line(line, rows, tell)
        parts.append(said if len(table) == 1 and str(line) == "keras" else f"{line} {said}")
    return "; ".join(parts) or "no release was tried"


def of_line(line: ReleaseLine, rows: Sequence[ReleaseRow], tell: Tell | None = None) -> str:
    """The answer for one package."""
    tell = tell or (lambda row: row.verdict)
    verdicts = {row.version: tell(row) for row in rows}
    parts = [
        f"{words} {listed(ranges(line, verdicts, verdict))}"
        for verdict, words in _WORDS
        if verdict in verdicts.values()
    ]
    if parts and ReleaseVerdict.HOLDS in verdicts.values() and ReleaseVerdict.BREAKS not in verdicts.values():
        parts.insert(0, "breaks in none")
    skipped = sum(verdict is ReleaseVerdict.NOT_TRIED for verdict in verdicts.values())
    if skipped:
        parts.append(f"not tried: {skipped} of {len(verdicts)}")
    return ", ".join(parts) or "has no release to try"


def since(table: Table) -> str | None:
    """The release that a bug came with: the one before it holds, and no later one. None where it is not that plain."""
    firsts = [_first(line, rows) for line, rows in table]
    return firsts[0] if len(firsts) == 1 else None


def _first(line: ReleaseLine, rows: Sequence[ReleaseRow]) -> str | None:
    if line.between is None:
        return None
    its = {**dict.fromkeys(line.between, ReleaseVerdict.NOT_TRIED), **{row.version: row.verdict for row in rows}}
    verdicts = [(its[version], version) for version in sorted(its, key=Version)]
    for number, (verdict, version) in enumerate(verdicts):
        if verdict is ReleaseVerdict.BREAKS:
            later = [each for each, _ in verdicts[number:]]
            before = verdicts[number - 1][0] if number else None
            plain = before is ReleaseVerdict.HOLDS and ReleaseVerdict.HOLDS not in later
            return f"{line} {version}" if plain and _is_release(version) else None
    return None


def ranges(line: ReleaseLine, verdicts: dict[str, ReleaseVerdict], verdict: ReleaseVerdict) -> list[str]:
    """The releases with a verdict, as ranges where they may be."""
    if line.between is None or verdict not in TOLD:
        return [version for version, its in verdicts.items() if its is verdict]
    found: list[list[str]] = []
    passed: list[str] = []
    going = False
    for version in sorted((*verdicts, *line.between), key=Version):
        its = verdicts.get(version)
        if its is ReleaseVerdict.NOT_TRIED:
            passed.append(version)
            continue
        if its is not verdict:
            going = False
        elif (
            going
            and _is_release(version)
            and all(branch(each) == branch(version) == branch(found[-1][-1]) for each in passed)
        ):
            found[-1] += [*passed, version]
        else:
            found.append([version])
            going = _is_release(version)
        passed = []
    return [_range(each, verdicts) for each in found]


def _is_release(version: str) -> bool:
    """Whether it is known what stands before and after a version: between two commits there are others."""
    its = Version(version)
    return not its.is_devrelease and its.local is None


def _range(run: Sequence[str], verdicts: dict[str, ReleaseVerdict]) -> str:
    if len(run) == 1:
        return run[0]
    tried = sum(verdicts[version] is not ReleaseVerdict.NOT_TRIED for version in run)
    return f"{run[0]} to {run[-1]}" + (f" ({tried} of {len(run)} tried)" if tried < len(run) else "")


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def by_cause(table: Table) -> dict[str, str]:
    """For each cause that showed anywhere, its own answer, under its title in the newest release that shows it."""
    titles: dict[str, str] = {}
    for _, rows in table:
        for row in rows:
            titles.update({each.key: each.said for each in row.causes})
    return {titles[key]: answer(table, _telling(key)) for key in titles}


def _telling(key: str) -> Tell:
    def tell(row: ReleaseRow) -> ReleaseVerdict:
        if row.verdict not in CLONED:
            return row.verdict
        if any(each.key == key for each in row.causes):
            return ReleaseVerdict.BREAKS
        return ReleaseVerdict.OTHERWISE if any(each.hides for each in row.causes) else ReleaseVerdict.HOLDS

    return tell
