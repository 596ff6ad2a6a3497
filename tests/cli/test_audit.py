"""`clonediff audit` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Command, ran
from tests.interrupting import interrupt, under_way
from tests.waiting import until

MINE = """
import os

import keras


class Dies(keras.layers.Layer):
    def __init__(self):
        os.abort()


class Lives(keras.layers.Layer):
    pass
"""
WAIT = 'pathlib.Path("waits").touch()'
PLANTED = Path(__file__).parent.parent / "answers" / "audit" / "planted.py"


def test_what_is_lost_has_a_script_that_fails_alone(tmp_path: Path) -> None:
    done = ran("audit", f"{PLANTED}:Loses", "--json")
    assert done.returncode == 1, done.stderr
    (found,) = json.loads(done.stdout)
    lost = {argument["name"]: argument for argument in found["arguments"] if argument["answer"] == "lost"}
    assert {name: argument["tried"] for name, argument in lost.items()} == {
        "factor": "0.25",
        "note": '"mine"',
        "seed": "7",
    }
    (tmp_path / "script.py").write_text(lost["note"]["script"])
    alone = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert alone.stderr.rstrip().splitlines()[-1] == "AssertionError: 'none', expected 'mine'"


def test_a_class_that_ends_its_process_is_told_and_the_others_are_audited(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = ran("audit", "mine.py", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine.py:Dies: it takes its process with it" in done.stdout
    assert "mine.py: 2 classes; arguments: 0 lost, 4 kept, 1 not told" in done.stdout


def test_an_interrupt_ends_it_at_once(tmp_path: Path) -> None:
    sleeps = MINE.replace("import os", "import pathlib, time").replace("os.abort()", f"{WAIT}; time.sleep(600)")
    (tmp_path / "mine.py").write_text(sleeps)
    with under_way("audit", "mine.py", cwd=tmp_path) as process:
        until((tmp_path / "waits").exists, process)
        _, stderr = interrupt(process)
    assert process.returncode == 130, stderr


@pytest.mark.parametrize(
    ("target", "said"),
    [
        pytest.param("keras.ops", "expected classes that have get_config and from_config", id="no classes"),
        pytest.param("keras.no_such_module", "cannot look at keras.no_such_module", id="no such module"),
    ],
)
def test_what_is_wrong_is_said(target: str, said: str, clonediff: Command) -> None:
    code, _, err = clonediff("audit", target)
    assert code == 2 and said in err
