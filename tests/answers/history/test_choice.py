"""Which releases are tried, over every small pattern: enough to tell, and nothing claimed of what was not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterator

import msgspec
import pytest

from clonediff.harness.answers.history.answer import of_line, ranges
from clonediff.harness.answers.history.bisection import to_try
from clonediff.harness.answers.history.record import ReleaseRow, ReleaseVerdict
from clonediff.harness.answers.history.releases_option import ReleaseLine
from clonediff.harness.answers.history.survey import branches, survey
from clonediff.harness.subjects.subject import Subject

LETTERS: dict[str, ReleaseVerdict] = {
    "h": ReleaseVerdict.HOLDS,
    "b": ReleaseVerdict.BREAKS,
    "x": ReleaseVerdict.NOT_TO_BE_HAD,
}


def pursued(truth: dict[str, str], must: frozenset[str] = frozenset()) -> dict[str, Hashable]:
    """What is seen once nothing more is due, each release having been tried at most once."""
    seen: dict[str, Hashable] = {}
    while due := [version for row in branches(list(truth)) for version in to_try(row, seen, must)]:
        assert not set(due) & set(seen), "a release is tried once"
        for version in due:
            seen[version] = None if truth[version] == "x" else truth[version]
    return seen


def patterns(length: int) -> Iterator[dict[str, str]]:
    for letters in itertools.product("hbx", repeat=length):
        yield {f"3.1.{number}": letter for number, letter in enumerate(letters)}


@pytest.mark.parametrize("length", range(1, 8))
def test_what_is_left_out_stands_between_two_that_are_alike(length: int) -> None:
    for truth in patterns(length):
        seen = pursued(truth)
        had = [version for version in truth if seen.get(version, "") is not None]
        for version in (each for each in truth if each not in seen):
            place = had.index(version)
            before = next(seen[each] for each in reversed(had[:place]) if each in seen)
            after = next(seen[each] for each in had[place + 1 :] if each in seen)
            assert before == after, truth
        tried = [version for version in had if version in seen]
        assert not had or (tried[0], tried[-1]) == (had[0], had[-1]), truth


@pytest.mark.parametrize("length", range(1, 10))
def test_the_one_change_of_a_branch_is_found(length: int) -> None:
    for turn in range(length + 1):
        truth = {f"3.1.{number}": "hb"[number >= turn] for number in range(length)}
        seen = pursued(truth)
        assert all(seen[version] == truth[version] for version in seen)
        changes = [version for version in truth if version == f"3.1.{turn}" or version == f"3.1.{turn - 1}"]
        assert 0 < turn < length or len(seen) <= 2
        assert not 0 < turn < length or set(changes) <= set(seen), "both sides of the change are tried"
        assert len(seen) <= 2 + length.bit_length()


def test_what_must_be_tried_is_tried() -> None:
    truth = {f"3.1.{number}": "h" for number in range(9)}
    assert set(pursued(truth)) == {"3.1.0", "3.1.8"}
    assert set(pursued(truth, frozenset(["3.1.3"]))) == {"3.1.0", "3.1.3", "3.1.8"}
    assert set(pursued(truth, frozenset(truth))) == set(truth)


def test_each_branch_has_its_own_ends() -> None:
    versions = ["3.1.0", "3.1.1", "3.1.2", "3.2.0", "3.10.0", "3.10.1"]
    assert branches(versions) == [["3.1.0", "3.1.1", "3.1.2"], ["3.2.0"], ["3.10.0", "3.10.1"]]
    line = ReleaseLine(Subject.parse("keras"), tuple(versions))
    assert [each.version for each in survey([line]).due()] == versions, "so few are all tried"
    many = [f"{version}.post{number}" for version in versions[3:] for number in range(9)]
    due = survey([msgspec.structs.replace(line, asked=tuple(many), named=frozenset(many[3:4]))]).due()
    assert [each.version for each in due] == [
        *(many[at] for at in (0, 3, 8, 9, 26)),
    ]


def table(
    versions: list[str], seen: dict[str, Hashable], between: tuple[str, ...] | None
) -> tuple[ReleaseLine, list[ReleaseRow]]:
    line = ReleaseLine(Subject.parse("keras"), tuple(versions), between=between)
    rows = [
        ReleaseRow(
            f"keras=={version}",
            "keras",
            version,
            ReleaseVerdict.NOT_TRIED if version not in seen else LETTERS[str(seen[version] or "x")],
        )
        for version in versions
    ]
    return line, rows


@pytest.mark.parametrize("split", range(1, 6))
def test_an_answer_claims_no_release_that_was_not_tried(split: int) -> None:
    versions = [f"3.1.{number}" for number in range(split)] + [f"3.2.{number}" for number in range(6 - split)]
    for letters in itertools.product("hbx", repeat=6):
        truth = dict(zip(versions, letters, strict=True))
        for outside in ((), (versions[2],)):
            asked = [version for version in versions if version not in outside]
            seen = pursued({version: truth[version] for version in asked})
            line, rows = table(asked, seen, outside)
            _hold(versions, line, {row.version: row.verdict for row in rows})


def _hold(versions: list[str], line: ReleaseLine, verdicts: dict[str, ReleaseVerdict]) -> None:
    for verdict in (ReleaseVerdict.HOLDS, ReleaseVerdict.BREAKS):
        claimed: list[str] = []
        for text in ranges(line, verdicts, verdict):
            match = re.fullmatch(r"(\S+)(?: to (\S+?))?(?: \((\d+) of (\d+) tried\))?", text)
            assert match, text
            first, last, tried, of = match.groups()
            within = versions[versions.index(first) : versions.index(last or first) + 1]
            said = [version for version in within if verdicts.get(version) is verdict]
            skipped = [version for version in within if verdicts.get(version) is ReleaseVerdict.NOT_TRIED]
            assert len(said) + len(skipped) == len(within), (text, verdicts)
            assert (len(said), len(within)) == ((int(tried), int(of)) if tried else (len(within),) * 2), text
            claimed += said
        assert claimed == [version for version in line.asked if verdicts[version] is verdict]


@pytest.mark.parametrize(
    ("letters", "between", "said"),
    [
        ("hhbbhh", (), "breaks in 3.1.2 to 3.1.3, holds in 3.1.0 to 3.1.1 and 3.1.4 to 3.1.5"),
        ("hhhhhh", (), "breaks in none, holds in 3.1.0 to 3.1.5"),
        ("bbbbbb", (), "breaks in 3.1.0 to 3.1.5"),
        ("h.h.hb", (), "breaks in 3.1.5, holds in 3.1.0 to 3.1.4 (3 of 5 tried), not tried: 2 of 6"),
        ("hxhhhh", (), "breaks in none, holds in 3.1.0 and 3.1.2 to 3.1.5, not to be had: 3.1.1"),
        ("bhbhbb", (), "breaks in 3.1.0, 3.1.2 and 3.1.4 to 3.1.5, holds in 3.1.1 and 3.1.3"),
        ("bbb", None, "breaks in 3.1.0, 3.1.1 and 3.1.2"),
        ("bbb", ("3.1.1.post1",), "breaks in 3.1.0 to 3.1.1 and 3.1.2"),
        ("", (), "has no release to try"),
    ],
)
def test_the_answer_in_a_line(letters: str, between: tuple[str, ...] | None, said: str) -> None:
    versions = [f"3.1.{number}" for number in range(len(letters))]
    seen: dict[str, Hashable] = {
        version: letter for version, letter in zip(versions, letters, strict=True) if letter != "."
    }
    assert of_line(*table(versions, seen, between)) == said


def test_a_range_does_not_bridge_two_branches_of_which_the_ends_were_not_tried() -> None:
    versions = ["3.1.0", "3.1.1", "3.2.0"]
    assert of_line(*table(versions, {"3.1.0": "h", "3.2.0": "h"}, ())) == (
        "breaks in none, holds in 3.1.0 and 3.2.0, not tried: 1 of 3"
    )


def test_no_range_reaches_over_trees_between_which_there_are_others() -> None:
    versions = ["3.1.0", "3.1.1", "3.2.0.dev2026010101", "3.2.0.dev2026010201", "3.2.0", "3.2.0+gaaaaaaaaaa"]
    assert of_line(*table(versions, dict.fromkeys(versions, "b"), ())) == (
        "breaks in 3.1.0 to 3.1.1, 3.2.0.dev2026010101, 3.2.0.dev2026010201, 3.2.0 and 3.2.0+gaaaaaaaaaa"
    )
