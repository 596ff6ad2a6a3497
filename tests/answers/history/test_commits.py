"""`clonediff history --commits`: what it says of commits, and that their copies go.

The repository is made up, and no Keras is started: a commit shows what one of its files says.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.history import one_release
from clonediff.harness.answers.history.commits import CommitCopies, changes, commit_answer, commit_survey, tried_rows
from clonediff.harness.answers.history.question import HistoryQuestion
from clonediff.harness.answers.history.record import ReleaseRow, ReleaseVerdict
from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.releases import building, in_full, installed, placing
from clonediff.harness.subjects.releases.commits import Commit, CommitRange
from clonediff.harness.subjects.releases.store import StartedOn
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import Difference, Finding, Severity, read, write
from tests.command_line import Command
from tests.reports.making import finding
from tests.repositories import commit, git, hash_of, put_keras

LETTERS = {
    "h": ReleaseVerdict.HOLDS,
    "b": ReleaseVerdict.BREAKS,
    "o": ReleaseVerdict.OTHERWISE,
    "x": ReleaseVerdict.CANNOT_BUILD,
    "n": ReleaseVerdict.NOT_TO_BE_HAD,
}


def branch(shows: str, apart: str = "", *, all_: bool = False) -> tuple[CommitRange, dict[Commit, ReleaseRow]]:
    """Commits, with a letter for what each shows."""
    line = tuple(Commit(f"c{number:<39}".replace(" ", "0"), "2026-06-01", f"T{number}") for number in range(len(shows)))
    other = Commit("f" * 40, "2026-05-01", "apart") if apart else None
    found = CommitRange(line, other)
    shown = dict(zip((*line, other) if other else line, shows + apart, strict=True))
    truth = {each: ReleaseRow("", "keras", "", LETTERS[letter], commit=each) for each, letter in shown.items()}
    survey = commit_survey(found, 2, all_=all_, sought=True)
    survey.run(truth.__getitem__, 1, lambda under_way, row: None)
    return found, survey.answers


def answer(shows: str, apart: str = "") -> str:
    found, answers = branch(shows, apart)
    return commit_answer(found, answers, changes(found, answers, sought=True))


@pytest.mark.parametrize(
    ("shows", "said"),
    [
        ("hhhhhhbbbb", "broken by c600000000 of 2026-06-01: T6"),
        ("hhb", "broken by c200000000 of 2026-06-01: T2"),
        ("bbbhhhhh", "mended by c300000000 of 2026-06-01: T3"),
        ("hhhhooobbb", "broken otherwise by c400000000 of 2026-06-01: T4; broken so by c700000000 of 2026-06-01: T7"),
        ("hhhhhhhh", "holds in c000000000 and c700000000, and no change was seen between"),
        ("hhhxnbbb", "broken by c500000000 of 2026-06-01: T5 - or by one of the 2 before it, of which it cannot be "
                     "told: c300000000, c400000000"),
        ("xhhhbbbn", "broken by c400000000 of 2026-06-01: T4"),
        ("xnx", "cannot be told of any of the 3 commits that were to be tried"),
    ],
)  # fmt: skip
def test_the_answer_names_each_change(shows: str, said: str) -> None:
    assert answer(shows) == said


def test_all_changes_that_were_seen_are_told() -> None:
    found, answers = branch("hhbbhhbbb", all_=True)
    assert [each.commit.title for each in changes(found, answers, sought=True)] == ["T2", "T4", "T6"]
    assert commit_answer(found, answers, changes(found, answers, sought=True)).count(" by ") == 3


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (("a", "b"), ("b",), "mended in part by c1"),
        (("b",), ("a", "b"), "broken further by c1"),
        (("a",), ("b",), "broken in another way by c1"),
    ],
)
def test_where_it_breaks_on_both_sides_it_is_told_what_came_and_what_went(
    before: tuple[str, ...], after: tuple[str, ...], said: str
) -> None:
    line = tuple(Commit(f"c{number}".ljust(40, "0"), "2026-06-01", f"T{number}") for number in range(2))
    answers = {
        commit: ReleaseRow("", "keras", "", ReleaseVerdict.BREAKS, commit=commit, causes=tuple(map(shown_cause, names)))
        for commit, names in zip(line, (before, after), strict=True)
    }
    found = CommitRange(line)
    assert commit_answer(found, answers, changes(found, answers, sought=False)).startswith(said)


def shown_cause(name: str) -> CauseShown:
    root = Difference("structure", "", "name", "a", "b", Severity.NAME)
    return CauseShown(name, name, "it changes a name", "upstream", root, key=name)


def test_what_is_known_of_any_release_is_known_of_a_commit() -> None:
    known = one_release._of_any_release()
    assert known.issues
    assert all(each.since is None and each.until is None for each in known.issues)


def test_a_commit_on_another_branch_is_tried_and_told_apart() -> None:
    assert answer("hhbb", "h").endswith("T2; ffffffffff, which is not on this branch: holds")
    found, answers = branch("hhbb", "h")
    assert tried_rows(found, answers)[0].commit == found.apart


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten commits on `master`: one cannot be copied, one breaks it, and its last two are of another version."""
    started = StartedOn("3.11", "here", "tensorflow", "2")
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(building, "see_start", lambda *_: started)
    monkeypatch.setattr(placing, "around_now", lambda *_: started)

    def shown(
        question: HistoryQuestion, subject: Subject, find: Callable[[Subject], ReleasePlace], known: KnownIssues
    ) -> ReleaseRow:
        text = (Path(find(subject).path[0]) / "keras/src/layers.py").read_text()
        return ReleaseRow(str(subject), "keras", subject.version or "", ReleaseVerdict(text))

    monkeypatch.setattr(one_release, "_row", shown)
    folder = tmp_path / "keras"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "master")
    for number in range(10):
        version = "next" if number == 4 else "3.15.0" if number < 8 else "3.16.0"
        put_keras(folder, version=version, layers="breaks" if number >= 6 else "holds")
        commit(folder, f"Change {number} (#{100 + number})")
    return folder


def asked(clonediff: Command, *arguments: str) -> tuple[int, str, str]:
    return clonediff("history", *arguments, "--repo", "keras", "--commits", "master~9..master", "--jobs", "2")


@pytest.mark.usefixtures("repository")
def test_the_commit_that_broke_it_is_named_with_its_pull_request(clonediff: Command, repository: Path) -> None:
    code, out, err = asked(clonediff, "lambda-refused")
    assert code == 0, err
    bad = hash_of(repository, "master~3")
    date = git(repository, "log", "-1", "--format=%cs", bad)
    assert out.splitlines()[-1] == f"broken by {bad} of {date}: Change 6 (#106)"
    [row] = [line for line in out.splitlines() if line.startswith(bad)]
    assert row.split() == [bad, date, "#106", "breaks", "Change", "6"]
    assert f"{bad}: breaks (" in err
    assert installed() == []


@pytest.mark.usefixtures("repository")
def test_a_commit_that_cannot_be_copied_is_passed_over_and_named(clonediff: Command, repository: Path) -> None:
    code, out, err = asked(clonediff, "lambda-refused", "--all", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert [row["commit"]["pull"] for row in said["rows"]] == list(range(100, 110))
    assert said["rows"][4]["verdict"] == "not to be had"
    assert "says 'next', which is not a version" in said["rows"][4]["reason"]
    [change] = said["changes"]
    assert change["commit"]["commit"] == git(repository, "rev-parse", "master~3")
    assert (change["before"], change["after"], change["or_one_of"]) == ("holds", "breaks", [])


@pytest.mark.usefixtures("repository")
def test_a_copy_that_was_there_before_stays(clonediff: Command, repository: Path) -> None:
    name = in_full(f"{repository}#master", str)
    assert asked(clonediff, "lambda-refused")[0] == 0
    assert [each.release for each in installed()] == [name]


def test_a_copy_that_somebody_else_made_meanwhile_stays(repository: Path) -> None:
    copies = CommitCopies(str(repository), "", str)
    name = in_full(f"{repository}#master", str)
    subject = copies.of(Commit(git(repository, "rev-parse", "master"), "2026-06-01", "Change 9"))
    copies.remove(ReleaseRow(str(subject), "keras", "", ReleaseVerdict.HOLDS))
    copies.close()
    assert [each.release for each in installed()] == [name]


@pytest.mark.usefixtures("repository")
def test_an_interrupt_leaves_no_copy_behind(clonediff: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> ReleaseRow:
        assert len(installed()) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(one_release, "_row", interrupted)
    arguments = ("--repo", "keras", "--commits", "master~9..master", "--jobs", "1")
    assert clonediff("history", "lambda-refused", *arguments)[0] == 130
    assert installed() == []


@pytest.mark.usefixtures("repository")
def test_what_is_of_another_keras_is_not_looked_for_in_commits(clonediff: Command) -> None:
    code, _, err = asked(clonediff, "tf-model-trainable")
    assert code == 2
    assert "--commits asks about Keras 3, and this is of tf_keras" in " ".join(err.split())


@pytest.mark.usefixtures("repository")
def test_the_answer_is_kept_beside_that_for_releases(clonediff: Command, tmp_path: Path) -> None:
    write(tmp_path / "one/finding.json", finding(0, since="keras 3.15.0", history="breaks in 3.15.0"))
    code, _, err = asked(clonediff, "one", "--keep")
    assert code == 0, err
    its = read(tmp_path / "one/finding.json", Finding)
    assert (its.since, its.history) == ("keras 3.15.0", "breaks in 3.15.0")
    assert its.commits.endswith("Change 6 (#106)")
    assert "Commit by commit: broken by" in (tmp_path / "one/issue.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--commits", "a..b"), "--commits A..B and --repo FOLDER go together"),
        (("--repo", "keras"), "--commits A..B and --repo FOLDER go together"),
        (("--repo", "keras", "--commits", "a..b", "--releases", "keras"), "leave --releases and --no-install out"),
        (("--repo", "keras", "--commits", "master~9..b"), "has no commit, tag or branch 'b'"),
        (("--repo", "nowhere", "--commits", "a..b"), "there is no folder"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_what_does_not_go_together_is_told(arguments: tuple[str, ...], said: str, clonediff: Command) -> None:
    code, _, err = clonediff("history", "lambda-refused", *arguments)
    assert code == 2
    assert said in " ".join(err.split())
