"""What a replay makes of the script of a known issue."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from clonediff.harness.cli import cli


@pytest.mark.parametrize(
    ("name", "options", "outcome", "code"),
    [
        pytest.param("model-trainable", (), "STILL BROKEN", 1, id="upstream"),
        pytest.param("model-trainable", ("--cloner", "fixed"), "FIXED", 0, id="fixed"),
        pytest.param("compile-lost", (), "FIXED", 0, id="mended in a release"),
        pytest.param("model-trainable", ("--cloner", "deepcopy"), "ERROR", 2, id="no clone_model"),
        pytest.param("model-trainable", ("--subject", "tf_keras"), "ERROR", 2, id="another generation"),
    ],
)
def test_a_known_issue_is_replayed_by_its_script(
    name: str, options: tuple[str, ...], outcome: str, code: int, warm_commands: None
) -> None:
    done = CliRunner().invoke(cli, ["replay", name, *options, "--json"])
    assert [row["outcome"] for row in json.loads(done.stdout)["replayed"]] == [outcome]
    assert done.exit_code == code
