"""The nightly workflow: its shell steps run with fakes of gh, clonediff and pip."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml  # type: ignore[import-untyped]  # Dask brings it

from clonediff.reports.run_folder import folder_name
from tests.helpers.example_runs import example_finding, write

pytestmark = pytest.mark.no_keras

ROOT = Path(__file__).parents[1]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text())
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["fuzz"]["steps"]
FAKE_GH = """
import json, pathlib, sys

file = pathlib.Path("github.json")
issues = json.loads(file.read_text()) if file.exists() else []
what, task, *rest = sys.argv[1:]
options = dict(zip(rest, rest[1:]))
match what, task:
    case "label", "create":
        pass
    case "issue", "list":
        print(json.dumps([{"number": issue["number"], "title": issue["title"]} for issue in issues]))
    case "issue", "create":
        number = len(issues) + 1
        issues.append({"number": number, "title": options["--title"], "body": sys.stdin.read(), "comments": []})
        print(f"issues/{number}")
    case "issue", "view":
        print(json.dumps(issues[int(rest[0]) - 1]))
    case "issue", "comment":
        issues[int(rest[0]) - 1]["comments"].append({"body": sys.stdin.read()})
    case _:
        sys.exit(f"gh has no {what} {task}")
file.write_text(json.dumps(issues))
"""
"""A fake `gh` that keeps issues in a file. It has only the commands that the workflow uses."""
FAKE_CLONEDIFF = """
import os, pathlib, shutil, sys

print(sys.argv[1:], file=open("commands.txt", "a"))
if sys.argv[1] == "replay":
    print(pathlib.Path("answers.json").read_text())
else:
    shutil.rmtree("runs/nightly", ignore_errors=True)
    shutil.copytree("found", "runs/nightly")
sys.exit(1)
"""
NIGHTLY = "3.16.0.dev2026112903"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {
        "gh": FAKE_GH,
        "clonediff": FAKE_CLONEDIFF,
        "pip": "",
        "pytest": "import sys\nsys.exit(sys.argv.count('no'))",
    }.items():
        file = programs / name
        file.write_text(f"#!{sys.executable}\n{text}")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    work = tmp_path / "work"
    work.mkdir()
    for name in (".ci", "clonediff"):
        (work / name).symlink_to(ROOT / name)
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    return work


def run_night(folder: Path, number: int, findings: list[Any], gone: list[str]) -> list[str]:
    """Run the shell steps of a night as GitHub does, also after a failure; return the steps that fail."""
    for finding in findings:
        write(folder / "found" / "findings" / folder_name(finding) / "finding.json", msgspec.json.encode(finding))
        write(folder / "found" / "summary.md", b"## A night\n")
    rows = [{"id": name, "answer": "gone", "versions": {"keras": NIGHTLY}} for name in gone]
    rows.append({"id": "input-name", "answer": "breaks", "versions": {"keras": NIGHTLY}})
    (folder / "answers.json").write_text(json.dumps({"replayed": rows}))
    variables = {**os.environ, "GITHUB_RUN_NUMBER": str(number), "MINUTES": "1"}
    variables |= {name: str(folder / f"{name}.txt") for name in ("GITHUB_ENV", "GITHUB_STEP_SUMMARY")}
    Path(variables["GITHUB_ENV"]).unlink(missing_ok=True)
    failed: list[str] = []
    for step in STEPS:
        if "run" in step and (not failed or step.get("if") == "always()"):
            if Path(variables["GITHUB_ENV"]).exists():
                lines = Path(variables["GITHUB_ENV"]).read_text().splitlines()
                variables |= dict(line.split("=", 1) for line in lines)
            result = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=variables, check=False)
            failed += [step["name"]] if result.returncode else []
    return failed


def issues_on_github(folder: Path) -> list[tuple[str, int]]:
    """Return the title of each issue on the fake GitHub, and its number of comments."""
    return [(issue["title"], len(issue["comments"])) for issue in json.loads((folder / "github.json").read_text())]


def test_a_nightly_run_opens_one_issue_for_each_new_cause(folder: Path) -> None:
    confirmed = msgspec.structs.replace(example_finding(0), proof=True, known=None)
    on_torch = msgspec.structs.replace(confirmed, subject="keras/torch")
    others = [
        msgspec.structs.replace(example_finding(n), proof=proof, known=known)
        for n, proof, known in ((1, None, None), (2, True, "input-name"), (3, False, None))
    ]
    another = msgspec.structs.replace(example_finding(4), proof=True, known=None)
    gone = "Known issues of Keras that are gone on keras-nightly"
    assert run_night(folder, 3, [confirmed, on_torch, *others], []) == ["Search"]
    assert issues_on_github(folder) == [(f"{confirmed.title} [{confirmed.id}]", 0)]
    (issue,) = json.loads((folder / "github.json").read_text())
    assert "## Script" in issue["body"] and issue["body"].startswith(f"# {confirmed.title}")
    assert run_night(folder, 4, [another], ["lambda-refused"]) == ["Search"]
    expected = [(f"{confirmed.title} [{confirmed.id}]", 0), (f"{another.title} [{another.id}]", 0), (gone, 1)]
    assert issues_on_github(folder) == expected
    assert run_night(folder, 5, [], ["lambda-refused"]) == ["Search"], "an issue is not reported twice"
    assert issues_on_github(folder) == expected
    commands = (folder / "commands.txt").read_text()
    assert [line.count("keras/torch") for line in commands.splitlines() if "fuzz" in line] == [1, 0, 0]
    assert (folder / "GITHUB_STEP_SUMMARY.txt").read_text().count("## A night") == 3


def test_the_corpus_is_saved_even_after_a_failure() -> None:
    (save,) = [step for step in STEPS if "cache/save" in step.get("uses", "")]
    (restore,) = [step for step in STEPS if "cache/restore" in step.get("uses", "")]
    assert save["if"] == "always()"
    assert save["with"]["path"] == restore["with"]["path"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])
