"""Scripts that run alone: the answer for each ending, what they can import, and how they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects import Subject
from tests.helpers.waiting import has_ended, wait_until

NOT_REPRODUCIBLE = ("timed out", "out of memory", "exit code 0")
"""Outcomes that only a trial can show, and no script."""

BREAKS, GONE, OTHER, UNKNOWN = ReplayAnswer
NOTE = "import os\nopen(%r, 'a').write(f'{os.getppid()}\\n')\n"


@pytest.fixture(scope="module")
def runner() -> Iterator[ScriptRunner]:
    with closing(ScriptRunner(Subject.parse("keras"))) as runner:
        yield runner


SCRIPTS = {
    "fails": ("assert False, 'no'", "AssertionError", True, BREAKS, "AssertionError: no"),
    "fails in Keras": ("import keras\nkeras.Input()", "ValueError", True, BREAKS, "ValueError: "),
    "fails, but need not fail": ("assert False", "AssertionError", False, BREAKS, "AssertionError"),
    "passes": ("pass", "AssertionError", True, GONE, ""),
    "ends with exit code 0": ("raise SystemExit(0)", "AssertionError", True, GONE, ""),
    "passes, and need not fail": ("pass", "AssertionError", False, UNKNOWN, "it did not fail, but it does not"),
    "fails otherwise": ("1 / 0", "AssertionError", True, OTHER, "ZeroDivisionError: "),
    "prints the error and passes": (
        "import sys\nsys.stderr.write('AssertionError: no')", "AssertionError", True, GONE, ""
    ),
    "compares nothing": ("1 / 0", "", False, UNKNOWN, "the script compares nothing"),
    "ends by a signal": ("import os\nos.abort()", "SIGABRT", True, BREAKS, ""),
    "ends by no signal": ("pass", "SIGABRT", True, GONE, ""),
    "ends with an exit code": ("raise SystemExit(7)", "exit code 7", True, BREAKS, "exit code 7"),
    "ends with another exit code": ("raise SystemExit(7)", "AssertionError", True, OTHER, "exit code 7"),
    "an exception has an exit code": ("1 / 0", "exit code 1", True, OTHER, "ZeroDivisionError: "),
    "an exception named like a signal": ("class SIGNALError(Exception): pass\nraise SIGNALError", "SIGNALError", True,
                                         BREAKS, "SIGNALError"),
    "imports clonediff": ("import clonediff", "ModuleNotFoundError", True, BREAKS, "ModuleNotFoundError: "),
    "is the main program": ("assert __name__ != '__main__'", "AssertionError", True, BREAKS, "AssertionError"),
    "is its own module": (
        "import sys\nF = 2\nassert sys.modules[__name__].F == 3", "AssertionError", True, BREAKS, "AssertionError"
    ),
    "cannot build its model": (
        "import keras\nkeras.layers.Dense(2, of_the_next_release=True)\nclone = 1", "ValueError", True, OTHER,
        "in line 2, before it clones: ValueError: Unrecognized keyword",
    ),
    "fails before it clones": (
        "def clone_model(model): pass\nassert False\nclone_model(1)", "AssertionError", True, OTHER, "in line 2",
    ),
    "fails as it clones": (
        "def clone_model(model): assert False\nclone_model(1)", "AssertionError", True, BREAKS, "AssertionError",
    ),
    "fails in a line of many": (
        "clone = (\n  1,\n  1 / 0,\n)", "ZeroDivisionError", True, BREAKS, "ZeroDivisionError: division",
    ),
    "has another type": ("clone = 1\nraise KeyError('\\nAssertionError:')", "AssertionError", True, OTHER, "KeyError"),
    "ends by a signal before it clones": (
        "import os\nos.abort()\nclone = 1", "SIGABRT", True, OTHER, "in line 2, before it clones: "
    ),
    "ends by a signal as it clones": ("import os\nclone = os.abort()", "SIGABRT", True, BREAKS, ""),
    "is no Python": ("clone =", "SyntaxError", True, BREAKS, "SyntaxError"),
    **{f"has to end in {how}": ("1 / 0", how, True, UNKNOWN, f"only a trial can show it: {how}")
       for how in NOT_REPRODUCIBLE},
}  # fmt: skip
"""By name: a script, its expected end, whether it must fail, the answer, and how the reason begins."""
IMPORT_KERAS = ("fails in Keras", "cannot build its model")
"""Scripts that run only in a process that has Keras, since importing it takes seconds."""


RUNS = [(name, preloads) for preloads in (True, False) for name in SCRIPTS if preloads or name not in IMPORT_KERAS]


@pytest.mark.parametrize(("name", "preloads"), RUNS)
def test_the_answer_depends_on_how_a_script_ends(
    name: str, preloads: bool, runner: ScriptRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, raises, must_fail, answer, reason = SCRIPTS[name]
    monkeypatch.setattr(runner, "_preloads", preloads)
    found = runner.answer(Script(f"{text}\n", raises, must_fail))
    assert found[0] is answer
    assert found[1].startswith(reason)


def test_a_script_can_import_users_modules_but_not_clonediff(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "users_module.py").write_text("")
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[2]}:{tmp_path.name}")
    text = "import users_module\ntry:\n    import clonediff\nexcept ImportError:\n    raise KeyError\n"
    with closing(ScriptRunner(Subject.parse("keras"))) as runner:
        monkeypatch.setattr(runner, "_preloads", False)
        assert runner.answer(Script(text, "KeyError", must_fail=True))[0] is BREAKS


def test_a_script_leaves_no_state_and_no_process(runner: ScriptRunner, tmp_path: Path) -> None:
    started = tmp_path / "started"
    text = f"""\
import subprocess, keras
assert not hasattr(keras, "left")
keras.left = subprocess.Popen(["sleep", "60"], stderr=subprocess.DEVNULL)
open({str(started)!r}, "a").write(f"{{keras.left.pid}}\\n")
raise KeyError
"""
    for _ in range(2):
        assert runner.answer(Script(text, "KeyError", must_fail=True))[0] is BREAKS
    for pid in map(int, started.read_text().split()):
        wait_until(lambda pid=pid: has_ended(pid))


def test_a_killed_runner_is_replaced(tmp_path: Path) -> None:
    note = tmp_path / "note"
    script = Script(NOTE % str(note) + "assert False\n", "AssertionError", must_fail=True)
    with closing(ScriptRunner(Subject.parse("keras"))) as runner:
        assert runner.answer(script)[0] is BREAKS
        first = int(note.read_text())
        os.kill(first, signal.SIGKILL)
        assert runner.answer(script)[0] is BREAKS
        assert int(note.read_text().split()[-1]) != first


@pytest.mark.no_keras
def test_a_script_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    text = f"import os, threading\nopen({str(note)!r}, 'w').write(str(os.getpid()))\nthreading.Event().wait()\n"
    program = f"""
from clonediff.harness.scripts.runner import ScriptRunner
from clonediff.harness.subjects import Subject

ScriptRunner(Subject.parse("keras")).run({text!r}, preload=False)
"""
    parent = subprocess.Popen([sys.executable, "-c", program])
    wait_until(lambda: note.exists() and note.read_text(), parent)
    parent.kill()
    parent.wait()
    wait_until(lambda: has_ended(int(note.read_text())))
