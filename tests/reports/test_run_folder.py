"""A finding that is replaced by a smaller one: what a report made of the old one goes, what a person wrote stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clonediff.harness.scripts.of_finding import finding_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import LOST, Hit
from clonediff.reports.issue import issue
from clonediff.reports.reading import read_run
from clonediff.reports.records import Cause, Finding, read
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.writing import write_reports
from tests.reports.making import TWO, difference, finding, graph_of

BIG = finding(0, TWO, subject="keras", versions={"keras": "3.15.1"})
SMALL = finding(0, graph_of(0), subject="keras", versions={"keras": "3.15.1"}, proof=True)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    """A run that was interrupted, with its reports."""
    folder = RunFolder(tmp_path / "run")
    folder.finding(BIG, "big = 1\n")
    write_reports(read_run(folder.path))
    yield folder
    folder.close()


def test_the_issue_is_that_of_the_finding_that_is_there(run: RunFolder) -> None:
    folder = run.of(BIG)
    assert "big = 1" in (folder / "issue.md").read_text()
    assert run.finding(SMALL, "small = 1\n") == folder
    assert not (folder / "issue.md").exists()
    write_reports(read_run(run.path))
    assert (folder / "issue.md").read_text() == issue(SMALL, "small = 1\n")


@pytest.mark.parametrize("damage", [lambda path: None, lambda path: path.write_text("{")], ids=["whole", "damaged"])
def test_an_issue_that_somebody_has_worked_on_stays(damage: Callable[[Path], None], run: RunFolder) -> None:
    folder = run.of(BIG)
    text = folder / "issue.md"
    text.write_text(text.read_text() + "I saw this too.\n")
    damage(folder / "finding.json")
    before = text.read_text()
    run.finding(SMALL, "small = 1\n")
    write_reports(read_run(run.path))
    assert text.read_text() == before
    assert "small = 1" in (folder / "repro.py").read_text()


class KilledError(BaseException):
    """In the place of a SIGKILL: what comes after it is not done."""


@pytest.mark.parametrize("step", range(6))
def test_a_finding_never_stands_beside_the_script_or_the_issue_of_another(
    step: int, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [step]

    def dying(name: str) -> Callable[..., None]:
        real = getattr(os, name)

        def die(*arguments: object, **options: object) -> None:
            if not left[0]:
                raise KilledError
            left[0] -= 1
            real(*arguments, **options)

        return die

    for name in ("replace", "unlink"):
        monkeypatch.setattr(os, name, dying(name))
    monkeypatch.setattr("clonediff.reports.run_folder.shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(KilledError):
        run.finding(SMALL, "small = 1\n")
    monkeypatch.undo()
    folder = run.of(BIG)
    if (folder / "finding.json").exists():
        assert read(folder / "finding.json", Finding).proof is None, "the one before"
        assert (folder / "repro.py").read_text() == "big = 1\n"
    run.finding(SMALL, "small = 1\n")
    write_reports(read_run(run.path))
    assert read(folder / "finding.json", Finding).proof is True
    assert (folder / "issue.md").read_text() == issue(SMALL, "small = 1\n")


@pytest.mark.parametrize(
    ("cloner", "cause", "said"),
    [
        pytest.param("upstream", True, "there was no time to run it yet", id="upstream"),
        pytest.param("fixed", True, "it needs clonediff, and is not run", id="fixed"),
        pytest.param(
            "roundtrip", True, "only scripts of clone_model are run, and this is one of roundtrip", id="another"
        ),
        pytest.param("", False, "it is the model alone", id="no clone"),
    ],
)
def test_a_script_that_nobody_ran_says_why(cloner: str, cause: bool, said: str) -> None:
    root = Cause("a-cause", difference(0)) if cause else None
    seen = Hit("a-cause" if cause else LOST, cloner, "a title", case_of(TWO, "keras"), TWO, root)
    found = finding_of(seen, Subject.parse("keras"), {})
    assert found.alone == f"not known whether its script fails alone: {said}"


def test_runs_that_begin_in_one_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [RunFolder(None) for _ in range(5)]
    assert len({folder.path for folder in folders}) == 5
    for folder in folders:
        folder.close()
