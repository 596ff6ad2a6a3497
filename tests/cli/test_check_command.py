"""`clonediff check` on the command line: what it prints, and with which exit code."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned, Status
from clonediff.harness.answers.checked_model.verdicts import fails
from clonediff.harness.cli.check import _print_script
from clonediff.reports.records import SEVERITIES, Difference, Severity
from tests.command_line import Command, ran
from tests.interrupting import interrupt, under_way
from tests.waiting import until

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(clonediff: Command, warm_commands: None, models: Path) -> Here:
    """`clonediff check` in this process, beside the models, on subjects that are warm."""
    return lambda *arguments: clonediff("check", *arguments, cwd=models)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param((), "Missing argument 'MODEL'", id="nothing"),
        pytest.param(("none.keras",), "no such file", id="missing"),
        pytest.param(("dict.keras", "--cloner", "fixd"), "'fixd'", id="cloner"),
        pytest.param(("dict.keras", "--cloner", "mine:"), "expected module:function or FILE.py", id="no-function"),
        pytest.param(("dict.keras", "--cloner", "none.py:clone"), "none.py:clone: there is no file", id="no-file"),
        pytest.param(("dict.keras", "--subject", "kerras"), "'kerras'", id="subject"),
        pytest.param(("dict.keras", "--script", "--json"), "--json", id="script"),
    ],
)
def test_a_bad_argument_is_exit_code_2(arguments: tuple[str, ...], said: str, clonediff: Command, models: Path) -> None:
    code, out, err = clonediff("check", *arguments, cwd=models)
    assert (code, out) == (2, "")
    assert said in err


def test_a_faithful_model_is_exit_code_0(here: Here) -> None:
    code, printed, err = here("dict.keras", "--json")
    assert code == 0, err
    checked = json.loads(printed)
    assert (checked["model"], checked["status"], checked["versions"]["keras"] != "") == ("dict.keras", "checked", True)


CLONERS = """
def clone(model):
    return type(model).from_config(model.get_config())


def itself(model):
    return model
"""


def test_a_cloner_of_the_users_own_is_tried(here: Here, models: Path) -> None:
    (models / "cloners_of_mine.py").write_text(CLONERS)
    code, printed, _ = here("dict.keras", "--cloner", "cloners_of_mine:itself", "--cloner", "upstream")
    assert code == 1
    assert "cloners_of_mine:itself: diverged: the clone trains differently" in printed


def test_a_cloner_that_cannot_be_called_is_exit_code_2(here: Here, models: Path) -> None:
    (models / "more_cloners_of_mine.py").write_text(CLONERS)
    code, printed, _ = here("dict.keras", "--cloner", "more_cloners_of_mine.py:clones")
    assert code == 2
    assert "there is no clones in more_cloners_of_mine; it has clone, itself" in printed


def test_a_broken_one_is_exit_code_1_with_a_script_that_fails_alone(here: Here, tmp_path: Path) -> None:
    code, printed, err = here("lambda.keras", "--unsafe", "--script")
    assert code == 1, err
    assert "upstream: crashed" in err
    script = tmp_path / "repro.py"
    script.write_text(printed)
    alone = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False)
    assert alone.returncode != 0
    assert "ValueError: Requested the deserialization of a `Lambda`" in alone.stderr
    code, printed, _ = here("lambda.keras", "--unsafe", "--ignore", "lambda-refused")
    assert code == 0, printed
    assert "(known: lambda-refused, ignored)" in printed


@pytest.mark.parametrize(
    ("severity", "ignored", "failed"),
    [
        pytest.param(Severity.NAME, (), False, id="name"),
        pytest.param(Severity.PROPERTY, (), True, id="property"),
        pytest.param(Severity.PROPERTY, ("another",), True, id="another-ignored"),
        pytest.param(Severity.CRASHES, ("one",), False, id="issue-ignored"),
        pytest.param(Severity.CRASHES, ("a-fingerprint",), False, id="fingerprint-ignored"),
    ],
)
def test_a_check_fails_for_more_than_a_name_that_is_not_ignored(
    severity: Severity, ignored: tuple[str, ...], failed: bool
) -> None:
    root = Difference("structure", "layers['a'].name", "name", "a", "a_1", severity)
    found = CauseShown("a-fingerprint", "title", SEVERITIES[severity], "upstream bug", root, known="one")
    checked = CheckedModel("m", "keras", Status.CHECKED, clones=(Cloned("upstream", "diverged", breaks=(found,)),))
    assert fails(checked, ignored) is failed


def test_one_that_cannot_be_loaded_is_exit_code_2(here: Here) -> None:
    code, printed, _ = here("junk.keras")
    assert code == 2
    assert "cannot be loaded" in printed


def test_a_subject_that_fails_is_an_answer(tmp_path: Path) -> None:
    broken = tmp_path / "packages" / "keras"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('half of it is missing')\n")
    (tmp_path / "dense.py").write_text("def make():\n    return None\n")
    done = ran("check", "dense.py:make", cwd=tmp_path, PYTHONPATH=str(broken.parent))
    assert done.returncode == 2, done.stderr
    assert "cannot be tried: keras: does not start: ImportError: half of it is missing" in done.stdout


def test_a_script_that_is_printed_does_nothing_to_a_terminal_or_to_its_encoding(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = "coding: utf-7 +AAo-x\x1b[31m\x9b\u202e"
    root = Difference("structure", hostile, hostile, hostile, hostile, Severity.PROPERTY)
    shown = CauseShown(
        "id",
        hostile,
        "it crashes",
        "upstream bug",
        root,
        headline=hostile,
        script=f"name = {hostile!r}\nother = '\x9b'\n",
    )
    _print_script(CheckedModel("model.keras", "keras", Status.CHECKED, clones=(Cloned("upstream", "", "", (shown,)),)))
    printed = capsys.readouterr().out
    assert "name = " in printed
    assert not {"\x1b", "\x9b", "\u202e"} & {*printed}
    assert tokenize.detect_encoding(io.BytesIO(printed.encode()).readline)[0] == "utf-8"


def test_an_interrupt_is_exit_code_130(models: Path) -> None:
    (models / "waits.py").write_text(
        "import threading\n\n\ndef make():\n"
        f"    open({str(models / 'waiting')!r}, 'w').close()\n    threading.Event().wait()\n"
    )
    with under_way("check", "waits.py:make", cwd=models) as process:
        until((models / "waiting").exists, process)
        _, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert "interrupted" in stderr
