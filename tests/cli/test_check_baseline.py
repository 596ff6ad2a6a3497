"""`clonediff check` of several models, and with a project's baseline: what it says, and with which exit code."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import Accepted, BaselineSeen, CheckedModel, Cloned, Status
from clonediff.harness.cli.text.check import checked_text
from clonediff.reports.records import SEVERITIES, Difference, Raised, Severity
from tests.command_line import Command
from tests.interrupting import interrupt, under_way
from tests.waiting import until

Here = Callable[..., tuple[int, str, str]]

TOWERS = """
import keras
from keras import layers


def make_plain():
    x = keras.Input((4,), name="x")
    return keras.Model(x, layers.Dense(2)(x))


def make_scaled():
    x = keras.Input((4,), name="x")
    return keras.Model(x, layers.Lambda(lambda t: t / 255)(x))


def make_block(units):
    return layers.Dense(units)
"""
PLAIN, SCALED = "own_scaled.py:make_plain", "own_scaled.py:make_scaled"
FILE = "clonediff-baseline.toml"
ACCEPTED = f"""format = 1

[[accepted]]
model = "{SCALED}"
cause = "lambda-refused"
reason = "we scale in the pipeline soon"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "own_scaled.py").write_text(TOWERS)
    return tmp_path


@pytest.fixture
def check(clonediff: Command, warm_commands: None, project: Path) -> Here:
    """`clonediff check` in the folder of a project, on subjects that are warm."""
    return lambda *arguments: clonediff("check", *arguments, "--no-costly", cwd=project)


def test_a_folder_is_checked_model_by_model_and_summed_up(check: Here, project: Path) -> None:
    code, out, err = check(".")
    assert code == 1, err
    assert f"{PLAIN} on keras: cloned faithfully" in out
    assert f"{SCALED} on keras: cannot be cloned (Keras' clone_model)" in out
    last = out.splitlines()[-1]
    assert last.startswith("2 models in ")
    assert last.endswith(f" s: 1 cloned faithfully; 1 broken: {SCALED}")
    assert err.startswith("own_scaled.py: make_block needs arguments (units), and is left out\n")
    assert check("own_scaled.py", "--allow-known")[1].splitlines()[-1].endswith("1 with accepted breaks alone")


def test_one_that_is_not_checked_is_told_in_the_last_line(check: Here, project: Path) -> None:
    (project / "cut.keras").write_bytes(b"PK\x05\x06" + bytes(18))
    code, out, _ = check("cut.keras", PLAIN)
    assert code == 2
    assert out.splitlines()[-1].endswith("s: 1 cloned faithfully; 1 not checked: cut.keras")


def test_a_json_has_nothing_else_on_its_side(check: Here) -> None:
    code, out, err = check("own_scaled.py", "--json")
    assert (code, [each["baseline"] for each in json.loads(out)]) == (1, [None, None])
    assert err.splitlines()[-1].startswith("2 models in ")


def test_what_a_baseline_accepts_does_not_fail(check: Here, project: Path) -> None:
    (project / FILE).write_text(ACCEPTED)
    code, out, err = check("own_scaled.py", "--baseline", FILE)
    assert code == 0, err
    assert "      accepted in the baseline: we scale in the pipeline soon" in out
    assert out.splitlines()[-2] == f"{FILE}: 1 accepted, 0 new"
    assert (project / FILE).read_text() == ACCEPTED


def test_what_it_does_not_accept_fails_and_is_not_written(check: Here, project: Path) -> None:
    nothing = "format = 1\n"
    (project / FILE).write_text(nothing)
    code, out, err = check(SCALED, "--baseline", FILE)
    assert code == 1, err
    assert "      not in the baseline" in out
    assert f"{FILE}: 0 accepted, 1 new\n  new: {SCALED}, cloned by upstream: lambda-refused: A Lambda " in out
    assert (project / FILE).read_text() == nothing


def test_one_that_expired_and_one_that_is_gone_are_told(check: Here, project: Path) -> None:
    late = f"{ACCEPTED}expires = 2026-01-31\n"
    gone = f'\n[[accepted]]\nmodel = "{PLAIN}"\ncause = "frozen-attention"\nreason = "of before"\n'
    other = '\n[[accepted]]\nmodel = "old.keras"\ncause = "frozen-attention"\nreason = "of before"\n'
    (project / FILE).write_text(late + gone + other)
    code, out, err = check("own_scaled.py", "--baseline", FILE)
    assert code == 1, err
    assert f"{FILE}: 0 accepted, 0 new, 1 expired, 1 no longer there, 1 not tried" in out
    assert "we scale in the pipeline soon (until 2026-01-31): mend it, or give the entry another date" in out
    assert f"  no longer there: {PLAIN}, cloned by upstream: frozen-attention: take the entry out" in out
    assert "  not tried: old.keras, cloned by upstream: frozen-attention" in out
    code, out, _ = check("own_scaled.py", "--baseline", FILE, "--json")
    plain, scaled = (each["baseline"] for each in json.loads(out))
    assert code == 1
    assert [each["cause"] for each in plain["gone"]] == ["frozen-attention"]
    assert [each["expired"]["expires"] for each in scaled["new"]] == ["2026-01-31"]


def test_a_baseline_is_written_only_when_it_is_asked_for(check: Here, project: Path) -> None:
    (project / "ci").mkdir()
    asked = ("own_scaled.py", "--baseline", f"ci/{FILE}", "--update-baseline", "--reason", "known, #12")
    code, out, err = check(*asked)
    assert code == 0, err
    assert f"ci/{FILE} is written: 1 added, 0 taken out\n  + ../{SCALED}, cloned by upstream: lambda-refused: " in out
    assert "not in the baseline" not in out
    text = (project / "ci" / FILE).read_text()
    assert f'model = "../{SCALED}"\ncause = "lambda-refused"\nreason = "known, #12"\n' in text
    code, out, _ = check("own_scaled.py", "--baseline", f"ci/{FILE}")
    assert code == 0
    code, out, _ = check(*asked[:-2])
    assert (code, f"ci/{FILE}: nothing to add, nothing to take out" in out) == (0, True)
    assert (project / "ci" / FILE).read_text() == text


def test_an_entry_of_a_plain_clone_accepts_nothing_of_one_with_arguments(check: Here, project: Path) -> None:
    (project / FILE).write_text(ACCEPTED)
    asked = (SCALED, "--way", "new-inputs", "--baseline", FILE)
    code, out, err = check(*asked)
    assert code == 1, err
    assert f"{FILE}: 0 accepted, 1 new, 1 not tried" in out
    assert f"  new: {SCALED}, cloned by upstream with --way new-inputs: lambda-refused: " in out
    assert f"  not tried: {SCALED}, cloned by upstream: lambda-refused" in out
    assert check(*asked, "--update-baseline", "--reason", "so, too")[0] == 0
    text = (project / FILE).read_text()
    assert text.count("\n[[accepted]]") == 2
    assert 'reason = "so, too"\nway = "new-inputs"\n' in text
    for flags in (asked, (SCALED, "--baseline", FILE)):
        code, out, err = check(*flags)
        assert (code, f"{FILE}: 1 accepted, 0 new, 1 not tried" in out) == (0, True), err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--baseline", "none.toml"), "none.toml: no such file: ", id="missing"),
        pytest.param(("--baseline", "."), "cannot be read (Is a directory)", id="folder"),
        pytest.param(
            ("--baseline", "own_scaled.py/x.toml", "--update-baseline"), "own_scaled.py is no folder", id="file"
        ),
        pytest.param(("--baseline", "own_scaled.py"), "own_scaled.py: not TOML: ", id="python"),
        pytest.param(("--update-baseline",), "--baseline clonediff-baseline.toml", id="no-file"),
        pytest.param(("--baseline", "x.toml", "--reason", "why"), "--update-baseline", id="reason"),
        pytest.param(("--baseline", "x.toml", "--update-baseline", "--reason", " "), "expected a text", id="blank"),
        pytest.param(("--baseline", "x.toml", "--update-baseline", "--reason", "caf\udce9"), "UTF-8", id="bytes"),
        pytest.param(("bare",), "bare: no model in this folder", id="no-model"),
    ],
)
def test_a_bad_argument_is_exit_code_2(
    arguments: tuple[str, ...], said: str, clonediff: Command, project: Path
) -> None:
    (project / "bare").mkdir()
    code, out, err = clonediff("check", PLAIN, *arguments, cwd=project)
    assert (code, out) == (2, "")
    assert said in err


def test_a_baseline_that_is_cut_is_not_written_over(clonediff: Command, project: Path) -> None:
    cut = f'{ACCEPTED}\n[[accepted]]\nmodel = "\x1b[31m'
    (project / FILE).write_text(cut)
    code, _, err = clonediff("check", PLAIN, "--baseline", FILE, "--update-baseline", cwd=project)
    assert code == 2
    assert f"{FILE}: not TOML: " in err
    assert "\x1b" not in err
    assert (project / FILE).read_text() == cut


def test_one_that_another_changes_meanwhile_is_left_and_what_was_found_is_told(check: Here, project: Path) -> None:
    (project / FILE).write_text("format = 1\n")
    (project / "own_colleague.py").write_text(
        f"import keras\n\nopen({str(project / FILE)!r}, 'w').write({ACCEPTED!r})\n\n\n"
        "def make():\n    x = keras.Input((4,))\n    return keras.Model(x, keras.layers.Lambda(lambda t: t / 2)(x))\n"
    )
    code, out, err = check("own_colleague.py:make", "--baseline", FILE, "--update-baseline")
    assert code == 2
    assert f"{FILE}: the file was changed meanwhile, and is left as it is now: run again" in err
    assert f"{FILE}: 0 accepted, 1 new" in out
    assert (project / FILE).read_text() == ACCEPTED


def test_one_that_cannot_be_written_is_left_and_what_was_found_is_told(
    check: Here, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if Path(target).name == FILE:
            raise OSError(errno.ENOSPC, "disk full")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    (project / FILE).write_text("format = 1\n")
    code, out, err = check(SCALED, "--baseline", FILE, "--update-baseline", "--out", "checked.json")
    assert code == 2
    assert "disk full" in err
    assert "is written" not in out
    assert f"{FILE}: 0 accepted, 1 new" in out
    assert (project / FILE).read_text() == "format = 1\n"
    assert json.loads((project / "checked.json").read_text())[0]["baseline"]["added"] == []
    assert {each.name for each in project.iterdir()} == {"own_scaled.py", FILE, "checked.json"}


def test_a_refusal_is_accepted_like_any_other_break() -> None:
    raised = Raised("ValueError", "own (Own) cannot be cloned: its get_config leaves out `units`")
    root = Difference("made", "clone", "raises", "a clone", "ValueError", Severity.CRASHES, raised=raised)
    cloned = Cloned("fixed", "crashed", breaks=(CauseShown("made-1", "", SEVERITIES[Severity.CRASHES], "", root),))
    entry = Accepted("a.keras", "made-1", "an \x1b[31mold layer", "fixed")
    seen = BaselineSeen("a.keras", accepted=(entry,))
    told = checked_text(CheckedModel("a.keras", "keras", Status.CHECKED, clones=(cloned,), baseline=seen))
    assert told[-2].startswith("  fixed: refused: own (Own) cannot be cloned")
    assert told[-1] == "      accepted in the baseline: an \\x1b[31mold layer"


def test_two_subjects_share_a_baseline(check: Here, project: Path) -> None:
    (project / "own_both.py").write_text(
        "import tf_keras\n\n\ndef make_plain():\n    x = tf_keras.Input((4,), name='x')\n"
        "    model = tf_keras.Model(x, tf_keras.layers.Dense(2)(x))\n    model.compile('sgd', 'mse')\n"
        "    return model\n"
    )
    entry = '[[accepted]]\nmodel = "own_both.py:make_plain"\ncause = "not-compiled"\nreason = "we compile it"\n'
    (project / FILE).write_text(f'format = 1\n{entry}{entry}cloner = "fixed"\n')
    code, out, err = check("own_both.py", "--baseline", FILE, "--subject", "tf_keras", "--subject", "keras")
    assert code == 2, err
    assert f"{FILE}: 2 accepted, 0 new\n" in out
    last = out.splitlines()[-1]
    assert last.startswith("2 checks, 1 model on 2 subjects, in ")
    assert last.endswith(
        "s: 0 cloned faithfully; 1 with accepted breaks alone; 1 not checked: own_both.py:make_plain on keras"
    )


@pytest.mark.slow(reason="a Keras of its own; test_check_command interrupts a check, too")
def test_an_interrupt_leaves_the_baseline_as_it_is(project: Path) -> None:
    (project / FILE).write_text(ACCEPTED)
    (project / "own_waiting.py").write_text(
        "import threading\n\n\ndef make_none():\n"
        f"    open({str(project / 'waiting')!r}, 'w').close()\n    threading.Event().wait()\n"
    )
    asked = (PLAIN, "own_waiting.py", SCALED, "--no-costly", "--baseline", FILE, "--update-baseline")
    with under_way("check", *asked, cwd=project) as process:
        until((project / "waiting").exists, process)
        out, err = interrupt(process)
    assert process.returncode == 130, err
    assert f"{FILE} is left as it was, since not all models were checked" in out
    assert out.splitlines()[-1].startswith("1 of 3 models in ")
    assert (project / FILE).read_text() == ACCEPTED
