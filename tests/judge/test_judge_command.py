"""`clonediff judge`, as a person and as a script meet it: on the Keras of the bug report, and with bad arguments."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clonediff.harness.judge.session import JudgeSession
from clonediff.harness.scripts.run_alone import raised_in, run_alone
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject
from tests.command_line import Command, ran
from tests.interrupting import interrupt, under_way
from tests.judge.texts import HOLLOW, MENDS, TENSORS, UPWARDS, answer
from tests.waiting import until

OLD = "keras==2.2.4"

SLOW = pytest.mark.slow(reason="six candidates are tried on dozens of graphs of Keras 2.2.4, one process after another")


def judge(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return ran("judge", *arguments, cwd=cwd)


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


@pytest.mark.parametrize("flags", [(), ("--private",)])
def test_private_attributes_of_a_candidate_are_compared_where_it_is_said(
    flags: tuple[str, ...], tmp_path: Path, clonediff: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def opened(session: JudgeSession) -> None:
        compared.append(session._reference.private)
        raise SubjectError("it does not start")

    monkeypatch.setattr(JudgeSession, "open", opened)
    (tmp_path / "fix.py").write_text(MENDS)
    code, _, err = clonediff("judge", "fix.py", *flags)
    assert (code, compared) == (2, [bool(flags)]), err


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


@pytest.fixture(scope="module")
def verdicts(release_place: Callable[[str], ReleasePlace], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Five proposals and one that holds for the report, judged on the Keras that has the bug."""
    release_place(OLD)
    release_place("keras==2.2.5")
    folder = tmp_path_factory.mktemp("judged")
    files = {
        "mends.txt": answer(MENDS),
        "upwards.txt": answer(UPWARDS),
        "tensors.txt": answer(TENSORS),
        "hollow.py": HOLLOW,
        "without.md": "```\ndef other(model):\n    pass\n```\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    done = judge(*files, "keras==2.2.5", "--subject", OLD, "--trials", "1", "--out", "run", "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert not summary["interrupted"]
    assert summary["folder"] == "run"
    everything = (folder / "run" / "summary.txt").read_text()
    assert all(each["sentence"] in everything for each in summary["candidates"])
    return {each["candidate"]: each for each in summary["candidates"]} | {"": folder / "run"}


@SLOW
def test_the_release_itself_shows_the_reported_bug(verdicts: dict[str, Any]) -> None:
    upstream = verdicts["upstream"]
    assert upstream["verdict"] == "shows the reported bug"
    assert "Could not compute output" in upstream["reported"]["said"]
    assert "Could not compute output" in upstream["multi_gpu"]["said"]
    assert upstream["simulated"]
    assert upstream["broken"] == 0


@SLOW
def test_the_fixed_cloner_holds(verdicts: dict[str, Any]) -> None:
    assert verdicts["fixed"]["verdict"] == "holds"
    assert verdicts["fixed"]["tried"] > 15


@SLOW
def test_the_next_release_fixes_it_and_still_loses_masks(verdicts: dict[str, Any]) -> None:
    following = verdicts["keras==2.2.5"]
    assert following["verdict"] == "fixes it, leaves others broken"
    assert following["multi_gpu"]["holds"]
    assert following["broken"] == 0
    lost = [each for each in following["breaks"] if each["differences"][0]["aspect"] == "config.mask"]
    assert [(each["charge"], each["first_on"]) for each in lost] == [
        ("leaves broken", "a Lambda with a mask function"),
        ("leaves a property or a name lost", "the known issue keras2-lambda-mask"),
    ]


@SLOW
def test_a_proposal_that_mends_the_report_is_told_from_one_that_holds(verdicts: dict[str, Any]) -> None:
    mends = verdicts["mends.txt"]
    assert mends["reported"]["holds"]
    assert mends["replaced"] == ["_clone_functional_model"]
    assert mends["own_tests"]["failed"] == ["test_clone_functional_model"], "it does not look at `input_tensors`"
    assert not mends["holds"]
    masked = [each for each in mends["breaks"] if "Masking" in each["smallest"] or "mask" in each["smallest"]]
    assert masked


@SLOW
@pytest.mark.parametrize(
    ("name", "raised", "line", "share"),
    [
        ("upwards.txt", "KeyError", 25, 0.25),  # a layer that takes only inputs of the model is cloned
        ("tensors.txt", "TypeError", 26, 0.9),
        ("hollow.py", "NameError", 3, 0.9),
    ],
)
def test_each_fails_for_its_own_reason(
    name: str, raised: str, line: int, share: float, verdicts: dict[str, Any]
) -> None:
    verdict = verdicts[name]
    assert verdict["verdict"] == "fails"
    assert not verdict["fixes"]
    assert verdict["broken"] > verdict["worked"] * share
    first = verdict["breaks"][0]
    assert first["said"].startswith(raised)
    assert first["place"]["line"] == line
    assert first["reproduced"] is True
    assert raised in verdict["sentence"]
    assert verdict["own_tests"]["failed"] == ["test_clone_functional_model"]


@SLOW
def test_a_text_without_the_function_is_a_verdict(verdicts: dict[str, Any]) -> None:
    assert verdicts["without.md"]["verdict"] == "does not load"
    assert "`other`" in verdicts["without.md"]["sentence"]


@SLOW
def test_its_folder_has_a_verdict_and_scripts_that_fail_on_their_own(
    verdicts: dict[str, Any], release_place: Callable[[str], ReleasePlace]
) -> None:
    folder = verdicts[""] / "candidates" / "hollow.py"
    written = json.loads((folder / "verdict.json").read_text())
    assert written["format"] == 1
    assert written["sentence"] == verdicts["hollow.py"]["sentence"]
    script = (folder / written["breaks"][0]["script"]).read_text()
    assert "clonediff" not in script
    done = run_alone(script, Subject.parse(OLD), release_place(OLD))
    assert done.code == 1
    assert "NameError" in raised_in(done.stderr)


@SLOW
def test_an_interrupt_keeps_what_was_known(release_place: Callable[[str], ReleasePlace], tmp_path: Path) -> None:
    release_place(OLD)
    (tmp_path / "without.py").write_text("def other():\n    pass\n")
    (tmp_path / "fix.py").write_text(MENDS)
    asked = ("without.py", "fix.py", "--subject", OLD, "--minutes", "5", "--out", "run")
    with under_way("judge", *asked, cwd=tmp_path) as process:
        verdict = tmp_path / "run" / "candidates" / "without.py" / "verdict.json"
        until(verdict.exists, process)
        said, _ = interrupt(process)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "without.py: does not load" in said
    assert json.loads(verdict.read_text())["loads"] is False
