"""What is mended since the release that known issues were read in: told first, by name, wherever a run is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.campaign.shards import KnownRetried, ShardDone, SubjectStarted
from clonediff.harness.campaign.totals import Totals
from clonediff.harness.cli.text import campaign
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern
from clonediff.reports.mended import mended, named
from clonediff.reports.reading import read_run
from clonediff.reports.records import KnownMet, Run
from clonediff.reports.summary import summary
from tests.reports.making import run_folder

MATCH = (Pattern(check="structure"),)


def issue(name: str, since: str | None = None, until: str | None = None) -> KnownIssue:
    return KnownIssue(name, "keras", f"Title of {name}", "a line", MATCH, since=since, until=until, example="{}")


KNOWN = KnownIssues(
    (
        issue("said", until="3.16.0"),
        issue("seen"),
        issue("back", until="3.16.0"),
        issue("later", since="3.16.0"),
        issue("old", until="3.9.0"),
        issue("met"),
        issue("untold", until="3.16.0"),
    ),
    {"keras": "3.15.1"},
)
RETRIED = {"said": False, "seen": False, "back": True, "later": False, "met": False, "untold": None}


def of_run(release: str, known: KnownIssues = KNOWN, subject: str = "keras") -> tuple[KnownMet, ...]:
    totals = Totals(known)
    totals.meet(SubjectStarted(subject, {"keras": release}, release))
    totals.examined(KnownRetried(subject, RETRIED))
    totals.shard(ShardDone(subject, 0, 5, known={"met": 2}))
    return totals.known_met()


@pytest.mark.parametrize(
    ("release", "names"),
    [
        pytest.param("3.16.0.dev2026102704", ["said", "seen"], id="tonight's"),
        pytest.param("3.16.0+g3422977a5e", ["said", "seen"], id="a tree"),
        pytest.param("3.15.1+g3422977a5e", ["said", "seen"], id="a tree of the same release"),
        pytest.param("3.15.1", [], id="the release that was read"),
        pytest.param("3.14.0+g3422977a5e", [], id="a tree of an earlier one"),
    ],
)
def test_what_no_longer_breaks_in_a_later_release_is_mended(release: str, names: list[str]) -> None:
    assert [each.id for each in of_run(release) if each.mended_after] == names


def test_on_another_backend_only_what_its_entry_says_is_mended() -> None:
    met = {each.id: each for each in of_run("3.16.0", subject="keras/jax")}
    assert [id_ for id_, each in met.items() if each.mended_after] == ["said"]
    assert met["seen"].breaks is False, "it may never have been there: that it does not break is all that is known"


def test_a_file_that_names_no_release_tells_of_nothing_that_is_mended() -> None:
    assert not any(each.mended_after for each in of_run("3.16.0", KnownIssues(KNOWN.issues)))


def test_what_is_mended_is_tried_beside_what_is_known() -> None:
    assert [each.id for each in KNOWN.told_mended("keras", "3.16.0+ga")] == ["said", "back", "untold"]
    assert KNOWN.told_mended("keras", "3.15.1") == ()
    assert KNOWN.told_mended("tf_keras", "3.16.0") == ()


def test_a_tree_may_have_what_its_release_mends_and_what_the_next_one_brings() -> None:
    around = {
        release: {each.id for each in KNOWN.around("keras", release).issues} for release in ("3.16.0+ga", "3.14.0")
    }
    assert around["3.16.0+ga"] == {"said", "seen", "back", "later", "met", "untold"}
    assert around["3.14.0"] == {"said", "seen", "back", "met", "untold"}


def run_of(*subjects: str) -> Run:
    its = tuple(
        KnownMet(each.id, each.title, subject=subject, breaks=False, mended_after="3.15.1")
        for subject in subjects
        for each in KNOWN.issues[:2]
    )
    return Run(
        "2026-01-01T00:00:00+00:00", trials=3, verdicts={"upstream: faithful": 3, "fixed: faithful": 3}, known=its
    )


def test_the_sentence_says_since_when_and_where_there_are_several_on_what() -> None:
    assert list(mended(run_of("keras"))) == ["Mended since 3.15.1: 2 known issues"]
    assert list(mended(run_of("a", "b"))) == [
        "Mended since 3.15.1 on a: 2 known issues",
        "Mended since 3.15.1 on b: 2 known issues",
    ]
    assert mended(Run("2026-01-01T00:00:00+00:00")) == {}
    assert named(run_of("keras").known[0]) == "Title of said [said]"  # type: ignore[index]  # it has some


def test_it_is_the_first_of_the_good_news(tmp_path: Path) -> None:
    read = read_run(run_folder(tmp_path, run=run_of("keras")))
    said = "Mended since 3.15.1: 2 known issues"
    for text in (summary(read), campaign.summary(Totals(KNOWN), read, "run")):
        assert text.index(said) < text.index("own cloner is faithful")
        assert text.index(said) < text.index("Title of said") < text.index("Title of seen")
