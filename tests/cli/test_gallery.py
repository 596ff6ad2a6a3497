"""`clonediff gallery`: the examples of known issues, tried once, as a page and in Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.answers.gallery import declared_severity
from clonediff.reports.known import load
from clonediff.reports.records import Severity
from tests.command_line import Command

HEAD = "format = 1\n"
MENDED = """
[[issue]]
id = "mended"
generation = "keras"
title = "A ReLU loses its name"
because = "keras/src/models/cloning.py:1 loses it"
example = '{}'

[[issue.match]]
check = "structure"
aspect = "config.never"
"""


def entry(id_: str) -> str:
    """An entry of the list, as it stands there."""
    text = (Path(__file__).parents[2] / "reports" / "known_issues.toml").read_text(encoding="utf-8")
    start = text.index(f'[[issue]]\nid = "{id_}"')
    return text[start : text.index("\n[[issue]]", start)] + "\n"


def test_each_cause_is_tried_and_written(clonediff: Command, warm_commands: None, tmp_path: Path) -> None:
    graph = load()["model-trainable"].example or ""
    entries = (
        entry("model-trainable") + entry("lambda-refused") + entry("input-name") + MENDED.replace("'{}'", f"'{graph}'")
    )
    (tmp_path / "known.toml").write_text(HEAD + entries)
    code, out, err = clonediff("gallery", "--subject", "keras", "--known-issues", "known.toml", "--out", "there")
    assert (code, err.splitlines()[-1]) == (0, "written to there/README.md")
    assert ": 3 causes: 1 where it crashes, " in out
    assert "; of 1 it no longer breaks." in out
    text = (tmp_path / "there" / "README.md").read_text()
    crashes, trains, name = (
        text.index(f"Known as: `{each}`") for each in ("lambda-refused", "model-trainable", "input-name")
    )
    assert crashes < trains < name
    assert "model.trainable = False\n\nclone = keras.models.clone_model(model)\n" in text
    assert "- clonediff's own cloner: holds\n" in text
    assert "- `mended`: A ReLU loses its name: known issues remain: model-trainable, input-name" in text


@pytest.mark.parametrize(
    ("id_", "severity"),
    [
        ("tf-given-made", Severity.CRASHES),
        ("model-trainable", Severity.TRAINS),
        ("clone-function-uncallable", Severity.PROPERTY),
        ("compile-huber", Severity.TRAINS),
        ("unnamed-lookup", Severity.NAME),
    ],
)
def test_a_severity_is_that_of_what_an_entry_matches(id_: str, severity: Severity) -> None:
    assert declared_severity(load()[id_]) is severity


def test_a_subject_that_is_none_is_exit_code_2(clonediff: Command) -> None:
    code, _, err = clonediff("gallery", "--subject", "kerass")
    assert code == 2
    assert "kerass" in err
