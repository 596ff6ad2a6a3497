"""What the script of a known issue answers, and what a replay makes of that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from clonediff.harness.cli import cli
from clonediff.harness.scripts.forked import ForkedScripts
from clonediff.harness.scripts.known_scripts import IssueAnswer, answer_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load

ISSUE = load()["model-trainable"]


@pytest.fixture(scope="module")
def scripts() -> Iterator[ForkedScripts]:
    with closing(ForkedScripts(Subject.parse("keras"))) as forks:
        yield forks


@pytest.mark.parametrize(
    ("script", "answer", "line"),
    [
        pytest.param("raise AssertionError('no')\n", IssueAnswer.BREAKS, "AssertionError: no", id="as it should"),
        pytest.param("pass\n", IssueAnswer.GONE, "", id="not at all"),
        pytest.param("raise SystemExit(0)\n", IssueAnswer.GONE, "", id="by exit code 0"),
        pytest.param("raise KeyError('no')\n", IssueAnswer.OTHER, "KeyError: 'no'", id="otherwise"),
        pytest.param("raise SystemExit(7)\n", IssueAnswer.OTHER, "exit code 7", id="by another exit code"),
    ],
)
def test_a_script_is_answered_by_how_it_ends(
    script: str, answer: IssueAnswer, line: str, scripts: ForkedScripts
) -> None:
    assert answer_of(replace(ISSUE, script=script), scripts) == (answer, line)


@pytest.mark.parametrize(
    ("name", "options", "outcome", "code"),
    [
        pytest.param("model-trainable", (), "STILL BROKEN", 1, id="upstream"),
        pytest.param("model-trainable", ("--cloner", "fixed"), "FIXED", 0, id="fixed"),
        pytest.param("compile-lost", (), "FIXED", 0, id="mended in a release"),
        pytest.param("model-trainable", ("--cloner", "deepcopy"), "ERROR", 2, id="no clone_model"),
        pytest.param("model-trainable", ("--subject", "tf_keras"), "ERROR", 2, id="another generation"),
    ],
)
def test_a_known_issue_is_replayed_by_its_script(
    name: str, options: tuple[str, ...], outcome: str, code: int, warm_commands: None
) -> None:
    done = CliRunner().invoke(cli, ["replay", name, *options, "--json"])
    assert [row["outcome"] for row in json.loads(done.stdout)["replayed"]] == [outcome]
    assert done.exit_code == code
