"""`clonediff check` on the command line: what it prints, and with which exit code."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import (
    Accepted,
    BaselineSeen,
    BreakSeen,
    CheckedModel,
    Cloned,
    Status,
)
from clonediff.harness.cli.check import _code, _print_script
from clonediff.reports.records import SEVERITIES, Difference, Severity
from tests.command_line import Command, ran
from tests.interrupting import interrupt, under_way
from tests.waiting import until

Here = Callable[..., tuple[int, str, str]]


def check(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return ran("check", *arguments, cwd=cwd, **environment)


@pytest.fixture
def here(clonediff: Command, warm_commands: None, models: Path) -> Here:
    """`clonediff check` in this process, beside the models, on subjects that are warm."""
    return lambda *arguments: clonediff("check", *arguments, cwd=models)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param((), "name a MODEL", id="nothing"),
        pytest.param(("none.keras",), "no such file", id="missing"),
        pytest.param(("dict.keras", "--cloner", "fixd"), "'fixd'", id="cloner"),
        pytest.param(("dict.keras", "--cloner", "mine:"), "expected module:function or FILE.py", id="no-function"),
        pytest.param(("dict.keras", "--cloner", "none.py:clone"), "none.py:clone: there is no file", id="no-file"),
        pytest.param(("dict.keras", "--promises", "outputs"), "--cloner module:function", id="promises-of-nobody"),
        pytest.param(
            ("dict.keras", "--cloner", "theirs:f", "--promises", "wights"),
            "expected some of all, made, weights, own, ",
            id="no-promise",
        ),
        pytest.param(("dict.keras", "--subject", "kerras"), "'kerras'", id="subject"),
        pytest.param(("dict.keras", "--inputs", "none.npz"), "none.npz", id="inputs"),
        pytest.param(("dict.keras", "--custom", "none.py"), "none.py", id="custom"),
        pytest.param(("dict.keras", "--script", "--json"), "--json", id="script"),
        pytest.param(("dict.keras", "--size", "0"), "--size 0: expected N", id="size"),
        pytest.param(("dict.keras", "--size", "a=many"), "--size a=many: expected N", id="size-of-one"),
        pytest.param(("dict.keras", "--size", "=4"), "--size =4: expected N", id="size-of-none"),
    ],
)
def test_a_bad_argument_is_exit_code_2(arguments: tuple[str, ...], said: str, clonediff: Command, models: Path) -> None:
    code, out, err = clonediff("check", *arguments, cwd=models)
    assert (code, out) == (2, "")
    assert said in err


def test_a_faithful_model_is_exit_code_0(here: Here, tmp_path: Path) -> None:
    out = tmp_path / "checked.json"
    code, printed, err = here("dict.keras", "--json", "--no-costly", "--out", str(out))
    assert code == 0, err
    (checked,) = json.loads(printed)
    assert (checked["model"], checked["status"], checked["versions"]["keras"] != "") == ("dict.keras", "checked", True)
    assert json.loads(out.read_text()) == json.loads(printed)


CLONERS = """
def clone(model):
    return type(model).from_config(model.get_config())


def itself(model):
    return model
"""


def test_a_cloner_of_the_users_own_is_held_to_what_it_promises(here: Here, models: Path) -> None:
    (models / "cloners_of_mine.py").write_text(CLONERS)
    promises = ("--cloner", "cloners_of_mine:itself", "--promises", "outputs,weights")
    code, printed, err = here("dict.keras", "--json", "--no-costly", *promises)
    assert code == 0, err
    (checked,) = json.loads(printed)
    assert [each["cloner"] for each in checked["clones"]] == [f"{models}/cloners_of_mine:itself[weights,outputs]"]
    assert checked["compared"] == ["whether it can be cloned", "weights", "outputs"]
    why = [each["why"] for each in checked["not_compared"]]
    assert "cloners_of_mine:itself[weights,outputs] does not promise it" in why
    code, printed, _ = here("dict.keras", "--no-costly", "--cloner", "cloners_of_mine:itself", "--cloner", "upstream")
    assert code == 1
    assert "cloners_of_mine:itself: diverged: the clone trains differently" in printed


def test_a_cloner_that_cannot_be_called_is_exit_code_2(here: Here, models: Path) -> None:
    (models / "more_cloners_of_mine.py").write_text(CLONERS)
    code, printed, _ = here("dict.keras", "--no-costly", "--cloner", "more_cloners_of_mine.py:clones")
    assert code == 2
    assert "there is no clones in more_cloners_of_mine; it has clone, itself" in printed


def test_answers_that_cannot_be_written_leave_those_of_before(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    out = tmp_path / "checked.json"
    out.write_text("of before")
    monkeypatch.setattr(os, "replace", full)
    code, _, err = here("dict.keras", "--no-costly", "--out", str(out))
    assert code == 2
    assert "disk full" in err
    assert out.read_text() == "of before"


def test_a_broken_one_is_exit_code_1_with_a_script_that_fails_alone(here: Here, tmp_path: Path) -> None:
    code, printed, err = here("lambda.keras", "--unsafe", "--script", "--no-costly")
    assert code == 1, err
    assert "upstream: crashed" in err
    script = tmp_path / "repro.py"
    script.write_text(printed)
    alone = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False)
    assert alone.returncode != 0
    assert "ValueError: Requested the deserialization of a `Lambda`" in alone.stderr
    code, printed, _ = here("lambda.keras", "--unsafe", "--allow-known", "--no-costly")
    assert code == 0, printed
    unknown = ("--allow-known", "--known-issues", "nothing-known.toml")
    assert here("lambda.keras", "--unsafe", "--no-costly", *unknown)[0] == 1


@pytest.mark.parametrize(
    ("severity", "allow_known", "strict", "code"),
    [
        pytest.param(Severity.NAME, False, False, 0, id="name"),
        pytest.param(Severity.NAME, False, True, 1, id="name-strict"),
        pytest.param(Severity.NAME, True, True, 0, id="known-name-strict"),
        pytest.param(Severity.PROPERTY, False, False, 1, id="property"),
        pytest.param(Severity.CRASHES, True, False, 0, id="known-crash"),
    ],
)
def test_a_changed_name_fails_a_strict_check_only(
    severity: Severity, allow_known: bool, strict: bool, code: int
) -> None:
    root = Difference("structure", "layers['a'].name", "name", "a", "a_1", severity)
    found = CauseShown("id", "title", SEVERITIES[severity], "upstream bug", root, known="one")
    checked = CheckedModel("m", "keras", Status.CHECKED, clones=(Cloned("upstream", "diverged", breaks=(found,)),))
    assert _code([checked], allow_known=allow_known, strict=strict) == code


def test_one_that_cannot_be_loaded_is_exit_code_2_and_the_others_are_checked(here: Here) -> None:
    code, printed, _ = here("junk.keras", "dict.keras", "--no-costly")
    assert code == 2
    assert "cannot be loaded" in printed
    assert "upstream: faithful" in printed


def test_a_subject_that_fails_takes_nothing_with_it_of_what_was_done(tmp_path: Path) -> None:
    broken, out = tmp_path / "packages" / "keras", tmp_path / "checked.json"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('half of it is missing')\n")
    (tmp_path / "dense.py").write_text(
        "import tf_keras\n\n\ndef make():\n"
        "    return tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])\n"
    )
    models, subjects = ("dense.py:make", "applications"), ("--subject", "tf_keras", "--subject", "keras")
    asked = (*models[:1], *subjects, "--no-costly", "--out", str(out))
    done = check(*asked, cwd=tmp_path, PYTHONPATH=str(broken.parent))
    assert done.returncode == 2, done.stderr
    assert "cannot be tried: keras: does not start: ImportError: half of it is missing" in done.stdout
    assert [(each["subject"], each["status"]) for each in json.loads(out.read_text())] == [
        ("tf_keras", "checked"),
        ("keras", "cannot be tried"),
    ]
    assert len([line for line in done.stdout.splitlines() if line.startswith("dense.py:make ")]) == 4, (
        "twice in a table"
    )
    all_ = check(*models[1:], *subjects[2:], "--json", cwd=tmp_path, PYTHONPATH=str(broken.parent))
    assert [(each["model"], each["status"]) for each in json.loads(all_.stdout)] == [
        ("applications", "cannot be tried")
    ]


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
    _print_script(
        [CheckedModel("model.keras", "keras", Status.CHECKED, clones=(Cloned("upstream", "crashed", (shown,)),))]
    )
    printed = capsys.readouterr().out
    assert not {"\x1b", "\x9b", "\u202e"} & {*printed}
    assert tokenize.detect_encoding(io.BytesIO(printed.encode()).readline)[0] == "utf-8"


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        pytest.param(None, "first", id="no-baseline"),
        pytest.param(BaselineSeen("m", accepted=(Accepted("m", "first", "why"),)), "first", id="accepted"),
        pytest.param(BaselineSeen("m", new=(BreakSeen("fixed", "known", ""),)), "second", id="new"),
        pytest.param(BaselineSeen("m", added=(Accepted("m", "known", "why", "fixed"),)), "second", id="added"),
    ],
)
def test_a_script_is_of_what_is_new_to_the_baseline(
    seen: BaselineSeen | None, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Difference("structure", "path", "aspect", "a", "b", Severity.PROPERTY)
    first = CauseShown("first", "title", "it loses", "upstream bug", root, script="first\n")
    second = CauseShown("second", "title", "it loses", "upstream bug", root, known="known", script="second\n")
    clones = (Cloned("upstream", "diverged", breaks=(first,)), Cloned("fixed", "diverged", breaks=(second,)))
    _print_script([CheckedModel("model.keras", "keras", Status.CHECKED, clones=clones, baseline=seen)])
    assert capsys.readouterr().out.splitlines()[-1] == shown


def test_a_model_may_take_no_more_than_its_time(models: Path) -> None:
    (models / "slow.py").write_text("import threading\n\n\ndef make():\n    threading.Event().wait()\n")
    done = check("slow.py:make", "--timeout", "1", cwd=models)
    assert done.returncode == 2
    assert "took more than 1 s while it was loaded" in done.stdout
    assert "--timeout" in done.stdout


@pytest.mark.slow(reason="a Keras of its own; its time is a limit of the same kind, and tests/subjects tries memory")
def test_a_model_may_take_no_more_than_its_memory(models: Path) -> None:
    (models / "large.py").write_text(
        "def make():\n    held = [bytearray(1 << 28) for _ in range(40)]\n    return held\n"
    )
    done = check("large.py:make", "--memory", "1.5", cwd=models)
    assert done.returncode == 2
    assert "took more than 1536 MiB" in done.stdout


def test_an_interrupt_is_exit_code_130(models: Path) -> None:
    (models / "waits.py").write_text(
        "import threading\n\n\ndef make():\n"
        f"    open({str(models / 'waiting')!r}, 'w').close()\n    threading.Event().wait()\n"
    )
    with under_way("check", "dict.keras", "waits.py:make", "--no-costly", cwd=models) as process:
        assert process.stdout is not None
        while "fixed: faithful" not in process.stdout.readline():
            assert process.poll() is None
        until((models / "waiting").exists, process)
        _, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert "interrupted" in stderr


@pytest.mark.slow(reason="a model of two million numbers; a file is checked in the same way")
def test_an_application_is_checked_and_all_are_listed(here: Here) -> None:
    code, printed, err = here("--list")
    assert code == 0, err
    names = [line.split()[0] for line in printed.splitlines()]
    assert names.index("MobileNetV3Small") < names.index("ResNet50") < names.index("VGG16")
    code, printed, err = here("applications:MobileNetV3Small", "--no-costly", "--json")
    assert code in (0, 1), err
    (checked,) = json.loads(printed)
    assert {each["cloner"]: each["verdict"] for each in checked["clones"]}["fixed"] == "faithful"
    assert checked["inputs"][0].endswith("float32 (1, 224, 224, 3)")
    assert checked["parameters"] > 2_000_000
