"""What a replay makes of the script of a known issue."""

from __future__ import annotations

import json

import pytest

from tests.command_line import Command


@pytest.mark.parametrize(
    ("name", "options", "answer", "code"),
    [
        pytest.param("model-trainable", (), "breaks", 1, id="upstream"),
        pytest.param("model-trainable", ("--cloner", "fixed"), "gone", 0, id="fixed"),
        pytest.param("compile-lost", (), "gone", 0, id="mended in a release"),
        pytest.param("model-trainable", ("--subject", "tf_keras"), "cannot tell", 2, id="another generation"),
    ],
)
def test_a_known_issue_is_replayed_by_its_script(
    name: str, options: tuple[str, ...], answer: str, code: int, warm_commands: None, clonediff: Command
) -> None:
    ended, out, _ = clonediff("replay", name, *options, "--json")
    assert [row["answer"] for row in json.loads(out)["replayed"]] == [answer]
    assert ended == code
