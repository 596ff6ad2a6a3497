"""Replays of known issues, and the issue for all bugs of a root cause."""

from __future__ import annotations

import ast
import json
import re

import pytest

from clonediff.harness.answers.repro import FIXES_FOLDER, MAX_SCRIPTS, issue_of_root
from clonediff.reports.known import ROOTS, header_of, load
from tests.helpers.command_line import Command

KNOWN = load()


@pytest.mark.parametrize(
    ("name", "options", "answer", "code"),
    [
        pytest.param("model-trainable", (), "breaks", 1, id="upstream"),
        pytest.param("model-trainable", ("--cloner", "fixed"), "gone", 0, id="fixed"),
        pytest.param("compile-lost", (), "gone", 0, id="fixed in a release"),
        pytest.param("model-trainable", ("--subject", "tf_keras"), "cannot tell", 2, id="another generation"),
    ],
)
def test_a_known_issue_is_replayed_by_its_script(
    name: str, options: tuple[str, ...], answer: str, code: int, warm_commands: None, clonediff: Command
) -> None:
    ended, out, _ = clonediff("replay", name, *options, "--json")
    assert [row["answer"] for row in json.loads(out)["replayed"]] == [answer]
    assert ended == code


@pytest.mark.no_keras
@pytest.mark.parametrize("root", [*ROOTS, *(f"tf-{root}" for root in ROOTS)])
def test_the_issue_for_a_root_cause_lists_its_open_bugs_with_scripts(root: str) -> None:
    generation = "tf_keras" if root.startswith("tf-") else "keras"
    of_root = [bug for bug in KNOWN.select(generation).bugs if bug.root == root.removeprefix("tf-")]
    bugs = {bug.id for bug in of_root if bug.until is None}
    text = issue_of_root(root, KNOWN)
    if not bugs:
        assert text is None
        return
    assert text is not None
    assert {*re.findall(r"- \[ \] .*\(`([\w.-]+)`\)$", text, re.MULTILINE)} == bugs
    assert "# ///" not in text
    scripts = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(scripts) == min(MAX_SCRIPTS, len(bugs))
    assert all("clone_model" in ast.unparse(ast.parse(script)) for script in scripts)
    fixed = {id_ for path in FIXES_FOLDER.glob("*.py") for id_ in header_of(path.read_text("utf-8"), path)["fixes"]}
    listed = " ".join(re.findall(r"\(\d\d-[\w-]+: (.*)\)$", text, re.MULTILINE))
    assert {*re.findall(r"`([\w.-]+)`", listed)} == fixed & bugs
