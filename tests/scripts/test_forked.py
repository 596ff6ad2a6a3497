"""Scripts that are run in forks of one Keras: they prove what scripts prove that are run alone."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it comes without types
import pytest

from clonediff.harness.scripts.forked import ForkedScripts
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.subjects import Subject
from tests.waiting import PATIENCE

NOTE = "open(%r, 'a').write(f'{os.getppid()}\\n')\n"


@pytest.fixture(scope="module")
def scripts() -> Iterator[ForkedScripts]:
    forked = ForkedScripts(Subject.parse("keras"))
    yield forked
    forked.close()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Script("assert False\n", "AssertionError", sure=True), id="fails"),
        pytest.param(Script("import keras\nkeras.Input()\n", "ValueError", sure=True), id="fails in Keras"),
        pytest.param(Script("pass\n", "AssertionError", sure=True), id="holds"),
        pytest.param(Script("pass\n", "AssertionError"), id="makes another comparison"),
        pytest.param(Script("1 / 0\n", "AssertionError", sure=True), id="fails otherwise"),
        pytest.param(Script("1 / 0\n"), id="compares nothing"),
        pytest.param(Script("import os\nos.abort()\n", "SIGABRT", sure=True), id="ends by a signal"),
        pytest.param(Script("raise SystemExit(7)\n", "exit code 7", sure=True), id="ends with an exit code"),
        pytest.param(Script("import clonediff\n", "ModuleNotFoundError", sure=True), id="imports clonediff"),
        pytest.param(Script("assert __name__ != '__main__'\n", "AssertionError", sure=True), id="is the main program"),
        pytest.param(
            Script("import sys\nF = 2\nassert sys.modules[__name__].F == 3\n", "AssertionError", sure=True),
            id="reads its module",
        ),
    ],
)
def test_a_fork_proves_what_a_process_proves(script: Script, scripts: ForkedScripts) -> None:
    assert scripts.tried(script) == tried_alone(script, Subject.parse("keras"))


def test_what_a_script_has_started_ends_with_it(scripts: ForkedScripts, tmp_path: Path) -> None:
    note = tmp_path / "note"
    begins = "import subprocess\nit = subprocess.Popen(['sleep', '60'], stderr=subprocess.DEVNULL)\n"
    text = f"{begins}open({str(note)!r}, 'w').write(str(it.pid))\nassert False\n"
    assert scripts.tried(Script(text, "AssertionError", sure=True)) == (True, "")
    started = int(note.read_text())
    with contextlib.suppress(psutil.NoSuchProcess):
        it = psutil.Process(started)
        assert it.status() == psutil.STATUS_ZOMBIE or it.wait(PATIENCE) is None


def test_a_script_that_fails_as_it_should_is_run_once_and_leaves_nothing_to_the_next(
    scripts: ForkedScripts, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    text = "import os, keras\n" + NOTE % str(note) + "assert hasattr(keras, 'left')\nkeras.left = True\n"
    for text_of_one in (text.replace("assert", "del os; assert not"), text):
        assert scripts.tried(Script(text_of_one + "assert False\n", "AssertionError", sure=True)) == (True, "")
    parents = note.read_text().split()
    assert len(parents) == 2, "neither was run a second time, in a process of its own"
    assert len(set(parents)) == 1, "both are forks of one process"
    assert int(parents[0]) != os.getpid()


def test_what_a_fork_does_not_show_is_run_in_a_process_of_its_own(scripts: ForkedScripts, tmp_path: Path) -> None:
    note = tmp_path / "note"
    script = Script("import os\n" + NOTE % str(note), "AssertionError", sure=True)
    assert scripts.tried(script) == (False, "")
    fork, process = note.read_text().split()
    assert int(fork) != os.getpid()
    assert int(process) == os.getpid()


def test_where_its_process_is_killed_scripts_are_run_alone(tmp_path: Path) -> None:
    note = tmp_path / "note"
    script = Script("import os\n" + NOTE % str(note) + "assert False\n", "AssertionError", sure=True)
    forked = ForkedScripts(Subject.parse("keras"))
    try:
        assert forked.tried(script) == (True, "")
        first = int(note.read_text())
        os.kill(first, signal.SIGKILL)
        assert forked.tried(script) == (True, "")
        assert int(note.read_text().split()[-1]) == os.getpid()
        assert not psutil.pid_exists(first)
    finally:
        forked.close()


@pytest.mark.parametrize("subject", ["keras/jax", "keras@gpu"])
def test_what_cannot_be_forked_is_run_alone(subject: str) -> None:
    """JAX and GPUs come with threads."""
    assert not ForkedScripts(Subject.parse(subject)).forks
