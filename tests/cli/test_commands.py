"""The command line, as a person and as a script meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clonediff.reports.records import Finding, Run, read
from tests.command_line import Command, ran
from tests.interrupting import interrupt, under_way
from tests.waiting import until


def test_help_lists_the_commands(tmp_path: Path) -> None:
    done = ran("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "fuzz" in done.stdout
    assert "replay" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("fuzz", "--subject", "kerras"), "unknown release 'kerras'", id="subject"),
        pytest.param(("fuzz", "--minutes", "-1"), "--minutes", id="minutes"),
        pytest.param(("fuzz", "--trials", "many"), "--trials", id="trials"),
        pytest.param(("fuzz", "--known-issues", "none"), "none", id="known-issues"),
        pytest.param(("fuzz", "--cloner", "fixd"), "'fixd'", id="cloner"),
        pytest.param(("fuzz", "--cloner", "mine:"), "expected module:function", id="cloner-of-ones-own"),
        pytest.param(("fuzz", "--at-least", "speed"), "--at-least", id="at-least"),
        pytest.param(("fuzz", "--subject", "keras==2.2.4", "--jobs", "2"), "does not take --jobs", id="exhibit"),
        pytest.param(("fuss",), "fuss", id="command"),
    ],
)
def test_a_bad_argument_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], said: str, clonediff: Command, tmp_path: Path
) -> None:
    code, out, err = clonediff(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("fuzz", "--subject"), id="fuzz"),
        pytest.param(("judge", "fix.patch", "--subject"), id="judge"),
        pytest.param(("replay", "lambda-refused", "--subject"), id="replay"),
        pytest.param(("repro", "runs/latest", "--subject"), id="repro"),
    ],
)
def test_whatever_takes_a_subject_takes_a_tree(arguments: tuple[str, ...], clonediff: Command, tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    code, out, err = clonediff(*arguments, "./checkout/jax")
    assert (code, out) == (2, "")
    assert err.startswith("clonediff: ./checkout: has no version in ")


def test_a_bad_argument_ends_the_process_with_exit_code_2(tmp_path: Path) -> None:
    done = ran("fuzz", "--known-issues", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert "none: not a folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_with_something_in_it_is_left_alone(clonediff: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = clonediff("fuzz", "--trials", "5", "--out", str(tmp_path))
    assert code == 2
    assert "expected an empty folder" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow(reason="a campaign, two replays and a repro; tests/trials/test_users_cloners.py has the rest")
def test_fuzz_tries_a_cloner_of_the_users_own_and_its_findings_are_replayed_where_it_is_named(tmp_path: Path) -> None:
    cloner = "def through_config(model):\n    return type(model).from_config(model.get_config())\n"
    (tmp_path / "of_mine.py").write_text(cloner)
    out = tmp_path / "run"
    asked = ("--cloner", "of_mine:through_config", "--at-least", "computes")
    done = ran("fuzz", "--trials", "8", "--seed", "1", *asked, "--out", str(out), "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)["findings"]
    assert {each["cloner"] for each in found} == {f"{tmp_path}/of_mine:through_config"}
    proven = next(each for each in found if each["reproduced"])
    assert "from of_mine import through_config as cloner" in Path(proven["folder"], "repro.py").read_text()
    replayed = ran("replay", proven["folder"], "--cloner", "of_mine:through_config", cwd=tmp_path)
    assert replayed.returncode == 1, replayed.stdout
    unnamed = ran("replay", proven["folder"], cwd=tmp_path)
    assert "is code: name it with --cloner" in unnamed.stdout
    assert unnamed.returncode == 2
    repro = ran("repro", proven["folder"], "--run", cwd=tmp_path)
    assert "which is code of somebody's own" in repro.stderr
    assert repro.returncode == 2


@pytest.mark.slow(reason="a campaign that starts a Keras to ask it what a test of trials asks")
def test_fuzz_names_a_cloner_that_cannot_be_called(tmp_path: Path) -> None:
    (tmp_path / "of_mine.py").write_text("def through(model, path):\n    return model\n")
    done = ran("fuzz", "--trials", "8", "--cloner", "of_mine:through", "--out", str(tmp_path / "run"), cwd=tmp_path)
    assert done.returncode == 2
    assert "of_mine:through: it is called with a model and nothing else" in done.stderr


@pytest.mark.slow(reason="told nothing, it has much to make small; tests/campaign looks at what is kept, too")
def test_fuzz_keeps_what_it_finds_with_a_script_that_fails_alone(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    out = tmp_path / "run"
    done = ran(*("fuzz", "--trials", "60", "--known-issues", str(nothing), "--out", str(out), "--json"), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert summary["trials"] >= 60
    assert summary["verdicts"]["fixed: faithful"] == summary["drawn"] == 60
    assert summary["findings"]
    assert all(each["reproduced"] is not False for each in summary["findings"])
    assert any(each["reproduced"] for each in summary["findings"])
    run = read(out / "run.json", Run)
    assert list(run.findings) == [each["id"] for each in summary["findings"]]
    for folder in (out / "findings").iterdir():
        finding = read(folder / "finding.json", Finding)
        assert finding.id in run.findings
        assert (folder / "repro.py").read_text().startswith("import ")


@pytest.mark.slow(reason="tests/campaign interrupts a campaign, too")
def test_an_interrupt_keeps_everything_so_far(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with under_way("fuzz", "--minutes", "5", "--out", str(out), cwd=tmp_path) as process:
        until((out / "run.json").exists, process)
        stdout, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert "trials" in stdout
    assert read(out / "run.json", Run).subjects["keras"]["keras"]
