"""`clonediff judge`, as a person and as a script meet it: with bad arguments, and without git."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.judge.session import JudgeSession
from clonediff.harness.subjects.outcomes import CloningFunctions
from tests.command_line import Command
from tests.judge.texts import MENDS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param((), "FILE", id="no file"),
        pytest.param(("missing.py",), "missing.py: cannot be read: No such file", id="missing"),
        pytest.param(("bytes.py",), "bytes.py: not UTF-8", id="not text"),
        pytest.param(("fix.py", "--subject", "kerras"), "unknown release 'kerras'", id="subject"),
        pytest.param(("fix.py", "--minutes", "-1"), "--minutes", id="minutes"),
        pytest.param(("fix.py", "--out", "full"), "expected an empty folder", id="out"),
    ],
)
def test_a_bad_argument_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], said: str, tmp_path: Path, clonediff: Command
) -> None:
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / "fix.py").write_text(MENDS)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    code, _, err = clonediff("judge", *arguments)
    assert code == 2
    assert said in err


DIFF = "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1 +1 @@\n-a\n+b\n"


def refuse(*arguments: object) -> None:
    pytest.fail("it goes on without git")


@pytest.fixture
def without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git, on which a release is opened at once."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def opened(session: JudgeSession) -> None:
        session.cloning = CloningFunctions("keras.models", "models.py", "keras", ("clone_model",))

    monkeypatch.setattr(JudgeSession, "open", opened)
    monkeypatch.setattr(JudgeSession, "references", refuse)


def test_a_diff_asks_for_git_before_anything_starts(
    without_git: None, tmp_path: Path, clonediff: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JudgeSession, "open", refuse)
    (tmp_path / "fix.txt").write_text(DIFF)
    code, _, err = clonediff("judge", "fix.txt")
    assert code == 2
    assert "git is not on PATH" in err
    assert not (tmp_path / "runs").exists()


def test_a_diff_in_a_code_block_asks_for_git_before_the_references_are_tried(
    without_git: None, tmp_path: Path, clonediff: Command
) -> None:
    (tmp_path / "answer.md").write_text(f"Apply this:\n```diff\n{DIFF}```\n")
    code, _, err = clonediff("judge", "answer.md")
    assert code == 2
    assert "git is not on PATH" in err
