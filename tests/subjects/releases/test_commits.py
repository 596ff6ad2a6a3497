"""The commits of a range: by first parents, with what came before, and what is told of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.subjects.releases import ReleaseError, commit_range
from clonediff.harness.subjects.releases.commits import CommitRange
from clonediff.harness.subjects.releases.git import parting
from tests.repositories import commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A branch with a pull request that was merged, one that was squashed, and a release that was mended apart."""
    folder = tmp_path / "keras"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "master")
    commit(folder, "The first")
    git(folder, "checkout", "-q", "-b", "release")
    commit(folder, "Mend the release (#9)")
    git(folder, "tag", "v1")
    git(folder, "checkout", "-q", "master", "-b", "feature")
    commit(folder, "Half of it")
    commit(folder, "The rest of it")
    git(folder, "checkout", "-q", "master")
    commit(folder, 'Revert "Add it (#7)" (#12)')
    git(folder, "merge", "-q", "--no-ff", "-m", "Merge pull request #13 from somebody/feature", "feature")
    commit(folder, "Say #5 \N{EM DASH} é (#14)")
    git(folder, "tag", "v2")
    commit(folder, "Later")
    return folder


def titles(found: CommitRange) -> list[str]:
    return [each.title for each in found.line]


def test_a_branch_goes_by_first_parents_and_begins_where_it_was_good(repository: Path) -> None:
    found = commit_range("keras", repository, "master~3..v2")
    assert titles(found) == [
        'Revert "Add it (#7)" (#12)',
        "Merge pull request #13 from somebody/feature",
        "Say #5 \N{EM DASH} é (#14)",
    ]
    assert [each.pull for each in found.line] == [12, 13, 14]
    assert found.apart is None
    assert found.line[-1].commit == git(repository, "rev-parse", "v2")
    assert str(found.line[-1]) == git(repository, "rev-parse", "v2")[:10]
    assert all(len(each.date) == len("2026-11-26") for each in found.line)


def test_a_release_on_another_branch_is_apart_and_where_it_was_cut_off_is_the_first(repository: Path) -> None:
    found = commit_range("keras", repository, "v1 .. v2")
    assert titles(found)[0] == "The first"
    assert len(found.line) == 4
    assert found.apart is not None
    assert (found.apart.title, found.apart.pull) == ("Mend the release (#9)", 9)


def test_a_range_may_end_where_the_repository_is(repository: Path) -> None:
    assert titles(commit_range("keras", repository, "v2..")) == ["Say #5 \N{EM DASH} é (#14)", "Later"]


def test_a_bare_repository_has_commits_too(repository: Path, tmp_path: Path) -> None:
    git(repository, "clone", "-q", "--bare", str(repository), str(tmp_path / "bare"))
    assert len(commit_range("bare", tmp_path / "bare", "v2..master").line) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("v2", "'v2' is no range of commits: write A..B"),
        ("..v2", "is no range of commits"),
        ("v1...v2", "is no range of commits"),
        ("v1..v3", "has no commit, tag or branch 'v3': git -C .* fetch"),
        ("--all..v2", "has no commit, tag or branch '--all'"),
        ("master..v2", "keras has no commit there, master has all of v2 in it; write v2..master"),
        ("v2..v2", "has no commit there, v2 has all of v2 in it$"),
    ],
)
def test_what_is_no_range_is_told_with_what_to_write(text: str, says: str, repository: Path) -> None:
    with pytest.raises(ReleaseError, match=says):
        commit_range("keras", repository, text)


def test_a_shallow_clone_is_told_what_to_fetch(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shallow"
    git(repository, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repository}", str(folder))
    with pytest.raises(ReleaseError, match=r"is a shallow clone: git -C .*shallow fetch --unshallow"):
        commit_range("keras", folder, "v1..origin/master")


def test_two_histories_with_nothing_in_common_are_no_range(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "apart")
    commit(repository, "Apart")
    with pytest.raises(ReleaseError, match=r"keras: v1 and apart have no commit in common"):
        commit_range("keras", repository, "v1..apart")
    with pytest.raises(ReleaseError, match=r"keras: master and apart have no commit in common"):
        parting("keras", repository, "master", "apart")


def test_a_folder_that_is_no_repository_is_told(repository: Path, tmp_path: Path) -> None:
    (repository / "part").mkdir()
    for folder, says in (("none", "there is no folder"), ("keras/part", "is the folder part of a checkout")):
        with pytest.raises(ReleaseError, match=says):
            commit_range(folder, tmp_path / folder, "v1..v2")
