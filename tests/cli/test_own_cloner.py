"""A user's cloner: a campaign runs it, and `replay` runs it if the command names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import run_clonediff

CLONER = "def through_config(model):\n    return type(model).from_config(model.get_config())\n"
CLONER_OPTION = ("--cloner", "my_cloner:through_config")


@pytest.mark.slow(reason="a campaign, two replays and a repro; tests/trials/test_cloners.py tests the same by day")
def test_a_custom_cloner_is_tried_and_replayed_if_the_command_names_it(tmp_path: Path) -> None:
    (tmp_path / "my_cloner.py").write_text(CLONER)
    options = ("--trials", "8", "--seed", "1", *CLONER_OPTION, "--at-least", "wrong-output", "--out", "run", "--json")
    result = run_clonediff("fuzz", *options, cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    findings = json.loads(result.stdout)["findings"]
    assert {finding["cloner"] for finding in findings} == {f"{tmp_path}/my_cloner:through_config"}
    folder = next(finding["folder"] for finding in findings if finding["proof"])
    assert 'cloner = importlib.import_module("my_cloner")' in Path(folder, "repro.py").read_text()
    replayed = run_clonediff("replay", folder, *CLONER_OPTION, cwd=tmp_path)
    assert replayed.returncode == 1, replayed.stdout
    refused = run_clonediff("replay", folder, cwd=tmp_path)
    assert refused.returncode == 2
    assert "only if you name it: pass --cloner" in refused.stdout + refused.stderr
