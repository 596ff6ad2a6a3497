"""`action.yml` without GitHub: its steps are run by bash, with the environment that a workflow would give them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from clonediff.harness.cli import cli
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILES = (ROOT / "action.yml", *WORKFLOWS)

COMMANDS = ("check", "fuzz", "replay", "judge")
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")

PYTHON = """#!/bin/bash
# pip only says what it was asked for: no index is asked
if [[ $1 == -m ]]; then printf '%s\\n' "$@" >"$SAID/pip"; exit "${PIP:-0}"; fi
exec {python} "$@"
"""
CLONEDIFF = """#!/bin/bash
printf '%s\\n' "$@" >"$SAID/clonediff"
env >"$SAID/environment"
if [[ -n $INSTALLS ]]; then mkdir -p "$CLONEDIFF_CACHE/releases/$INSTALLS"; fi
for each in "$@"; do
  if [[ $before == --out ]]; then out=$each; fi
  before=$each
done
if [[ -n $WRITES ]]; then mkdir -p "$out"; printf '# of its own\\n' >"$out/$WRITES"; fi
printf '%s\\n' '# no heading' '</details> ::error::'
exit "${CODE:-0}"
"""


@dataclass
class Ran:
    """What came of an action: what each step printed and left to those behind it, and whether all went well."""

    folder: Path
    printed: str = ""
    failed: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text(encoding="utf-8")

    def said(self, program: str) -> list[str]:
        """The arguments that a program was given, [] where it was not started."""
        file = self.folder / "said" / program
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    @property
    def arguments(self) -> list[str]:
        """What a command was given by the caller, behind what the action gives it."""
        return [each for each in self.said("clonediff") if str(self.folder) not in each and each != "--out"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("python", PYTHON.replace("{python}", sys.executable)), ("clonediff", CLONEDIFF)):
        program = tmp_path / "programs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    for each in ("said", "work", "temp"):
        (tmp_path / each).mkdir()
    return tmp_path


def holds(step: str, ran: Ran, **inputs: str) -> bool:
    """Whether a step that is an action of others' is run, by its `if`, behind the steps that were."""
    (condition,) = (each["if"] for each in STEPS if each.get("name") == step)

    def value(match: re.Match[str]) -> str:
        room, *path = match[0].split(".")
        return repr(inputs[path[0]] if room == "inputs" else ran.outputs.get(path[0], {}).get(path[2], ""))

    python = re.sub(r"(?:inputs|steps)\.[\w.-]+", value, condition)
    for theirs, ours in (("always()", "True"), ("&&", "and"), ("||", "or")):
        python = python.replace(theirs, ours)
    return bool(eval(python))


def run(folder: Path, environment: Mapping[str, str] = {}, **inputs: str) -> Ran:
    """Run the steps of the action that are scripts, as GitHub does: where one has failed, those for `always()` only."""
    unknown = set(inputs) - {each.replace("-", "_") for each in ACTION["inputs"]}
    assert not unknown
    given = {each: inputs.get(each.replace("-", "_"), its.get("default", "")) for each, its in ACTION["inputs"].items()}
    ran = Ran(folder)
    (folder / "summary.md").write_text("")

    def value(match: re.Match[str]) -> str:
        room, *path = match[1].split(".")
        if room == "inputs":
            return given[path[0]]
        if room == "steps":
            return ran.outputs.get(path[0], {}).get(path[2], "")
        assert match[1] == "runner.temp"
        return str(folder / "temp")

    for step in STEPS:
        condition = step.get("if", "")
        if "run" not in step or (ran.failed and "always()" not in condition):
            continue
        if "steps.run.outputs.report != ''" in condition and not ran.outputs.get("run", {}).get("report"):
            continue
        its = {name: _EXPRESSION.sub(value, text) for name, text in step.get("env", {}).items()}
        output = folder / "output"
        output.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder / "work" / _EXPRESSION.sub(value, step.get("working-directory", ".")),
            env={
                "PATH": f"{folder / 'programs'}:{os.environ['PATH']}",
                "HOME": str(folder),
                "SAID": str(folder / "said"),
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
                **environment,
                **its,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        ran.printed += done.stdout
        ran.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in output.read_text().splitlines())
        if done.returncode and not ran.failed:
            ran.failed = f"{step['name']}: {done.returncode}"
    return ran


@pytest.mark.parametrize("file", FILES, ids=lambda each: each.name)
def test_actions_of_others_are_pinned_by_commit(file: Path) -> None:
    used = re.findall(r"^ *(?:- )?uses: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    for each in used:
        assert each == "./" or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


def test_one_action_is_pinned_to_one_commit() -> None:
    texts = "\n".join(each.read_text(encoding="utf-8") for each in FILES)
    pins = set(re.findall(r"uses: ([\w-]+/[\w-]+)\S*@([0-9a-f]+)", texts))
    assert len(pins) == len({name for name, _ in pins})


@pytest.mark.parametrize("file", FILES, ids=lambda each: each.name)
def test_no_script_has_text_of_a_caller_in_it(file: Path) -> None:
    def scripts(node: Any) -> list[str]:
        if isinstance(node, dict):
            mine = [node["run"]] if isinstance(node.get("run"), str) else []
            return mine + [each for value in node.values() for each in scripts(value)]
        return [each for value in node for each in scripts(value)] if isinstance(node, list) else []

    found = scripts(yaml.safe_load(file.read_text(encoding="utf-8")))
    assert found
    assert not [each for each in found if "${{" in each]


def test_every_input_and_script_says_what_it_is() -> None:
    assert all(each["description"] and "default" in each for each in ACTION["inputs"].values())
    assert all(each["name"] and each["shell"] == "bash" for each in STEPS if "run" in each)
    assert {each.replace("inputs.", "") for each in re.findall(r"inputs\.[\w-]+", str(STEPS))} == {*ACTION["inputs"]}


def test_what_it_runs_are_commands_with_these_options(folder: Path) -> None:
    for name in COMMANDS:
        command = cli.get_command(cli.make_context("clonediff", ["--help"], resilient_parsing=True), name)
        assert command is not None
        ran = run(folder, command=name, arguments="x")
        assert not ran.failed, ran.printed
        options = {option for each in command.params for option in each.opts}
        assert {each for each in ran.said("clonediff") if each.startswith("--")} <= options
        assert ran.arguments[0] == name


def test_a_check_is_run_told_and_kept(folder: Path) -> None:
    ran = run(folder, arguments="models --baseline clonediff-baseline.toml", install="keras==3.15.1 -r 'a b.txt'")
    assert not ran.failed, ran.printed
    assert ran.said("pip") == [
        *("-m", "pip", "install", "--disable-pip-version-check", str(ROOT), "keras==3.15.1", "-r", "a b.txt")
    ]
    assert ran.arguments == ["check", "models", "--baseline", "clonediff-baseline.toml"]
    assert ran.outputs["run"]["exit-code"] == "0"
    report = Path(ran.outputs["run"]["report"])
    assert (report / "output.txt").read_text() == "# no heading\n</details> ::error::\n"
    assert ran.summary == "### clonediff check\n\n    # no heading\n    </details> ::error::\n\n"


@pytest.mark.parametrize("code", [1, 2, 130])
def test_its_exit_code_is_that_of_the_command_and_the_summary_is_written(code: int, folder: Path) -> None:
    ran = run(folder, {"CODE": str(code)}, arguments="models")
    assert ran.failed == f"Run clonediff: {code}"
    assert ran.outputs["run"]["exit-code"] == str(code)
    assert "    # no heading\n" in ran.summary


@pytest.mark.parametrize(
    ("command", "writes"), [("fuzz", "summary.md"), ("judge", "comment.md")], ids=["fuzz", "judge"]
)
def test_a_summary_of_the_command_is_that_of_the_job(command: str, writes: str, folder: Path) -> None:
    assert run(folder, {"WRITES": writes}, command=command).summary == "# of its own\n\n"


def test_a_long_summary_is_cut(folder: Path) -> None:
    program = folder / "programs" / "clonediff"
    program.write_text("#!/bin/bash\nyes 0123456789 | head -n 300000\nexit 1\n")
    ran = run(folder)
    assert ran.failed == "Run clonediff: 1"
    assert len(ran.summary) < 1 << 20


def test_arguments_are_words_and_nothing_else(folder: Path) -> None:
    hostile = (
        "a'b c' $(touch pwned) `touch pwned` ; touch pwned \"$HOME\" * ~ \\$x\n--way 'f = 1'\n  # it's a comment\n&& x"
    )
    ran = run(folder, arguments=hostile, install="x; touch pwned $(touch pwned)", report_name="$(touch pwned)")
    assert not ran.failed, ran.printed
    assert ran.arguments == [
        *("check", "ab c", "$(touch", "pwned)", "`touch", "pwned`", ";", "touch", "pwned", "$HOME", "*", "~", "$x"),
        *("--way", "f = 1", "&&", "x"),
    ]
    assert ran.said("pip")[5:] == ["x;", "touch", "pwned", "$(touch", "pwned)"]
    assert not list(folder.rglob("pwned"))


@pytest.mark.parametrize("name", ["arguments", "install"])
def test_a_number_sign_within_a_line_begins_no_comment(name: str, folder: Path) -> None:
    text = "# of ours\n--subject ../keras#v3.15.0 --reason 'known, #12'\n\t#--minutes 1\n#"
    ran = run(folder, **{name: text})
    assert not ran.failed, ran.printed
    said = ran.arguments[1:] if name == "arguments" else ran.said("pip")[5:]
    assert said == ["--subject", "../keras#v3.15.0", "--reason", "known, #12"]


@pytest.mark.parametrize("exported", [{}, {"token": "of before"}], ids=["not-there", "there"])
def test_the_runner_obeys_nothing_that_the_command_prints(exported: dict[str, str], folder: Path) -> None:
    (folder / "programs" / "clonediff").write_text(
        "#!/bin/bash\nenv >\"$SAID/environment\"\nprintf '::error::of a model\\n::set-env::'; echo ::add-mask::x >&2\n"
    )
    tokens = set()
    for _ in range(2):
        ran = run(folder, exported)
        lines = ran.printed.splitlines()
        (token,) = (each.removeprefix("::stop-commands::") for each in lines if each.startswith("::stop-commands::"))
        stopped = lines[lines.index(f"::stop-commands::{token}") + 1 : lines.index(f"::{token}::")]
        commands = {"::error::of a model", "::set-env::", "::add-mask::x"}
        assert commands & {*lines} == commands & {*stopped} != set()
        assert re.fullmatch("[0-9a-f]{32}", token)
        assert token not in "\n".join(ran.said("environment"))
        tokens.add(token)
    assert len(tokens) == 2


@pytest.mark.parametrize(("code", "kept"), [("0", True), ("1", True), ("2", False), ("130", False), ("", False)])
def test_releases_are_kept_where_the_command_has_gone_to_its_end(code: str, kept: bool, folder: Path) -> None:
    ran = run(folder, {"CODE": code, "INSTALLS": "keras-3.15.1"})
    if not code:  # it was cancelled: nothing is written behind the command
        ran.outputs["run"].pop("exit-code")
    assert holds("Keep the releases", ran, cache="true") is kept
    assert not holds("Keep the releases", ran, cache="false")
    again = run(folder, {"CODE": code, "INSTALLS": "keras-3.15.1"})
    assert not holds("Keep the releases", again, cache="true"), "there is nothing more to keep"


def test_the_releases_of_each_run_have_a_key_of_their_own() -> None:
    (fetched,) = (each["with"] for each in STEPS if each.get("id") == "releases")
    first, *others = (fetched["key"], *fetched["restore-keys"].splitlines())
    assert all(each in first for each in ("runner.os", "runner.arch", "inputs.python-version", "github.run_id"))
    assert len(others) == 2
    assert all(first.startswith(each) and "runner.arch" in each for each in others)


@pytest.mark.parametrize("command", ["history", "check; touch pwned", "$(touch pwned)", "", "check\n::error::x"])
def test_another_command_is_refused(command: str, folder: Path) -> None:
    ran = run(folder, command=command)
    assert ran.failed == "Read what is asked for: 2"
    assert ran.printed.startswith("::error title=clonediff::command: expected check, fuzz, replay or judge, found ")
    assert len(ran.printed.splitlines()) == 1
    assert not ran.said("clonediff")
    assert not list(folder.rglob("pwned"))
    assert ran.summary == ""


@pytest.mark.parametrize("name", ["arguments", "install"])
def test_a_quote_that_does_not_end_is_refused(name: str, folder: Path) -> None:
    ran = run(folder, **{name: "models 'a"})
    assert ran.failed == "Read what is asked for: 2"
    assert ran.printed == f"::error title=clonediff::{name}: No closing quotation\n"


def test_where_it_cannot_be_installed_nothing_is_run(folder: Path) -> None:
    ran = run(folder, {"PIP": "1"}, arguments="models")
    assert ran.failed == "Install clonediff: 1"
    assert (ran.said("clonediff"), ran.summary) == ([], "")


def test_each_use_in_a_job_has_a_report_of_its_own(folder: Path) -> None:
    assert run(folder).outputs["run"]["report"] != run(folder).outputs["run"]["report"]


def test_replay_tries_what_fuzz_has_kept(folder: Path) -> None:
    corpus = folder / "temp" / "clonediff" / "corpus"
    (corpus / "keras").mkdir(parents=True)
    (corpus / ".lock").touch()  # as a search leaves that finds nothing
    ran = run(folder, command="replay")
    assert not ran.failed, ran.printed
    assert "there is no finding to replay: fuzz has kept none in the cache" in ran.summary
    assert not ran.said("clonediff")
    (corpus / "keras" / "a.json").write_text("{}")
    assert run(folder, command="replay").said("clonediff") == ["replay", str(corpus)]
    assert run(folder, command="fuzz").said("clonediff")[-2:] == ["--corpus", str(corpus)]
    assert run(folder, command="replay", arguments="lambda-refused").said("clonediff") == ["replay", "lambda-refused"]


def test_other_arguments_have_another_cache(folder: Path) -> None:
    keys = [run(folder, arguments=each).outputs["asked"]["key"] for each in ("a", "a", "a b", "")]
    assert keys[0] == keys[1]
    assert len({*keys}) == 3
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in keys)


def test_a_folder_to_work_in_is_that_of_the_command(folder: Path) -> None:
    (folder / "work" / "my project").mkdir()
    (folder / "programs" / "clonediff").write_text("#!/bin/bash\npwd\n")
    ran = run(folder, working_directory="my project")
    assert str(folder / "work" / "my project") in ran.summary


@pytest.mark.slow(reason="a Keras of its own; the workflow has a job that does the same")
def test_our_own_ci_checks_the_models_of_the_example(folder: Path) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (given,) = [step["with"] for job in workflow["jobs"].values() for step in job["steps"] if step.get("uses") == "./"]
    (folder / "programs" / "clonediff").write_text(
        f"#!{sys.executable}\nimport os, sys\nos.chdir({str(ROOT)!r})\nfrom clonediff.harness.cli import main\nmain()\n"
    )
    ran = run(
        folder,
        {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)},
        **{name.replace("-", "_"): text for name, text in given.items()},
    )
    assert not ran.failed, ran.printed
    assert ran.summary.strip().endswith("s: 1 cloned faithfully; 1 with accepted breaks alone")
