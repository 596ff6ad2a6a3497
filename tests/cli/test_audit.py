"""`clonediff audit` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Command

PLANTED = Path(__file__).parent.parent / "answers" / "audit" / "planted.py"


@pytest.fixture
def audit(clonediff: Command, warm_commands: None) -> Command:
    return lambda *arguments: clonediff("audit", "--jobs", "1", *arguments)


def test_what_is_lost_has_a_script_that_fails_alone(audit: Command, tmp_path: Path) -> None:
    code, out, _ = audit(f"{PLANTED}:Loses", "--out", "found")
    assert code == 1
    assert "factor=0.25" in out and "computes something else" in out and "not every script fails alone" not in out
    scripts = sorted(path.name for path in (tmp_path / "found" / "scripts").iterdir())
    assert scripts == [f"planted.py_Loses.{name}.py" for name in ("factor", "note", "seed")]
    assert "factor=0.25" in (tmp_path / "found" / "audit.md").read_text()
    found = json.loads((tmp_path / "found" / "audit.json").read_text())
    assert [each["proven"] for each in found["classes"][0]["arguments"] if each["answer"] == "lost"] == [True] * 3
    done = subprocess.run(
        [sys.executable, tmp_path / "found" / "scripts" / scripts[1]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stderr.rstrip().splitlines()[-1].startswith("AssertionError: 'none' in the")


def test_nothing_lost_is_exit_code_0(audit: Command) -> None:
    code, out, _ = audit(f"{PLANTED}:Normalises", "--json")
    (found,) = json.loads(out)["classes"]
    assert code == 0
    assert {each["answer"] for each in found["arguments"]} == {"kept", "cannot tell"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("keras.ops",), "expected classes that have get_config and from_config", id="no classes"),
        pytest.param((f"{PLANTED}:Clips", "--values", "low"), "expected NAME=VALUE", id="values"),
        pytest.param(("keras.no_such_module",), "cannot look at keras.no_such_module", id="no such module"),
    ],
)
def test_what_is_wrong_is_said(audit: Command, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = audit(*arguments)
    assert code == 2 and said in err
