"""What a history says is kept with the finding that it is about."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from clonediff.harness.answers.history.answer import since
from clonediff.harness.answers.history.record import ReleaseRow, ReleaseVerdict
from clonediff.harness.answers.history.releases_option import ReleaseLine
from clonediff.harness.cli import cli
from clonediff.harness.subjects import Subject, SubjectProcess
from clonediff.reports.reading import read_run
from clonediff.reports.records import Finding, read, write
from clonediff.reports.writing import write_reports
from tests.cli.finding_folders import folder_of, found, kept
from tests.reports.making import finding

LETTERS = {
    "h": ReleaseVerdict.HOLDS,
    "b": ReleaseVerdict.BREAKS,
    "o": ReleaseVerdict.OTHERWISE,
    "n": ReleaseVerdict.NOT_TRIED,
}


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        ("hhbb", "keras 3.2"),
        ("hb", "keras 3.1"),
        ("hbob", "keras 3.1"),
        ("bbbb", None),  # it may be older
        ("hhhh", None),
        ("hbhb", None),  # mended, and back again
        ("hnbb", None),  # one of two
        ("hobb", None),
        ("hhb-b", "keras 3.2"),
        ("h-bb", None),  # one that was not asked for
    ],
)
def test_a_bug_is_since_a_release_where_that_is_plain(tried: str, expected: str | None) -> None:
    rows = [
        ReleaseRow(f"keras==3.{minor}", "keras", f"3.{minor}", LETTERS[letter])
        for minor, letter in enumerate(tried)
        if letter != "-"
    ]
    between = tuple(f"3.{minor}" for minor, letter in enumerate(tried) if letter == "-")
    line = ReleaseLine(Subject.parse("keras"), tuple(row.version for row in rows), between=between)
    assert since([(line, rows)]) == expected
    assert since([(line, rows), (line, rows)]) is None
    trees = [
        replace(row, version=f"{row.version}+gaaaaaaaaaa") if row.verdict is ReleaseVerdict.BREAKS else row
        for row in rows
    ]
    assert since([(line, trees)]) is None
    unknown = ReleaseLine(Subject.parse("keras"), line.asked, between=None)
    assert since([(unknown, rows)]) is None


@pytest.fixture
def one(keras: SubjectProcess, warm_commands: None, tmp_path: Path) -> Path:
    """The folder of a finding, with all that a run leaves in it."""
    refused = found(keras, "lambda-refused")
    run = kept(tmp_path / "run", refused)
    write_reports(read_run(run))
    return folder_of(run, refused)


def history(*arguments: str) -> tuple[int, str]:
    installed = f"keras=={importlib.metadata.version('keras')}"
    done = CliRunner().invoke(cli, ["history", *arguments, "--releases", installed, "--no-install", "--keep"])
    return done.exit_code, done.stderr


def test_the_answer_is_kept_in_the_finding_and_in_its_issue(one: Path) -> None:
    release = importlib.metadata.version("keras")
    assert history(str(one))[0] == 0
    its = read(one / "finding.json", Finding)
    assert its.history.endswith(f"breaks in {release}")
    assert its.since is None
    assert f"breaks in {release}." in (one / "issue.md").read_text()
    assert history(str(one / "finding.json"))[0] == 0


def test_an_issue_that_somebody_has_worked_on_stays(one: Path) -> None:
    text = one / "issue.md"
    text.write_text(text.read_text() + "I saw this too.\n")
    before = text.read_text()
    code, said = history(str(one))
    assert code == 0
    assert f"{text}: was changed" in said
    assert text.read_text() == before
    assert read(one / "finding.json", Finding).history


def test_there_has_to_be_a_finding_to_keep_it_in(tmp_path: Path) -> None:
    code, said = history("lambda-refused")
    assert code == 2
    assert "expected a finding" in said


@pytest.mark.parametrize(
    ("changes", "arguments", "said"),
    [
        pytest.param({}, ("--cloner", "fixed"), "of upstream, and fixed is asked about", id="another cloner"),
        pytest.param({"id": "original-refused-valueerror", "cloner": "", "differences": (), "detail": "ValueError: no"},
                     (), "of an original that fails", id="no original"),
        pytest.param({"id": "process-lost-sigsegv", "cloner": "", "differences": (), "detail": "SIGSEGV"},
                     (), "of an original that fails", id="a lost process"),
    ],
)  # fmt: skip
def test_the_answer_to_another_question_is_not_kept(
    changes: dict[str, Any], arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "finding.json"
    write(file, finding(0, **changes))
    before = file.read_bytes()
    code, told = history(str(tmp_path), *arguments)
    assert code == 2
    assert said in " ".join(told.split())
    assert file.read_bytes() == before
    assert not (tmp_path / "issue.md").exists()
