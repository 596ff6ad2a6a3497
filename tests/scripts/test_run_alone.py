"""Scripts that are run alone: which are not run at all, what an end proves, and that none outlives who started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it comes without types
import pytest

from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.run_alone import UNTOLD, ScriptEnded, ended_so, raised_in, run_alone, tried_alone
from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.environment import HARNESS
from tests.waiting import until

TRACEBACK = "Traceback (most recent call last):\n  File x\nImportError: no\n"

PARENT = """
from clonediff.harness.scripts.run_alone import run_alone
from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.environment import HARNESS

text = "import threading\\nopen({ready!r}, 'w').close()\\nthreading.Event().wait()\\n"
run_alone(text, Subject.parse("keras"), started=lambda process: print(process.pid, flush=True))
"""


@pytest.mark.parametrize("raises", UNTOLD)
def test_a_script_that_hangs_or_fills_the_memory_is_not_run(raises: str, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = Script(f"open({str(ran)!r}, 'w').close()\n", raises, sure=True)
    assert tried_alone(script, Subject.parse("keras")) == (
        None,
        "it is to run for too long, or to take too much memory",
    )
    assert not ran.exists()


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        pytest.param(Script("1 / 0\n"), (None, "it shows the models, and compares nothing"), id="no comparison"),
        pytest.param(
            Script("pass\n", "AssertionError"),
            (None, "it did not, and it does not make the very comparison that differed"),
            id="another comparison",
        ),
        pytest.param(Script("assert False\n", "AssertionError"), (True, ""), id="fails"),
        pytest.param(Script("pass\n", "AssertionError", sure=True), (False, ""), id="holds"),
    ],
)
def test_it_is_said_why_it_is_not_known_whether_a_script_fails(script: Script, answer: tuple[bool | None, str]) -> None:
    assert tried_alone(script, Subject.parse("keras")) == answer


def test_a_script_finds_what_is_on_the_path_and_nothing_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "somebodys.py").write_text("")
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("PYTHONPATH", f"{HARNESS.parent}:{tmp_path.name}")
    script = "import somebodys\ntry:\n    import clonediff\nexcept ImportError:\n    raise KeyError\n"
    assert raised_in(run_alone(script, Subject.parse("keras")).stderr)[-1] == "KeyError"


def test_what_a_script_defines_is_found_in_its_module() -> None:
    """`tf_keras` looks there for what the function of a Lambda reads."""
    reads = "import sys\nFACTOR = 2\nassert sys.modules[__name__].FACTOR == 3\n"
    assert tried_alone(Script(reads, "AssertionError", sure=True), Subject.parse("keras")) == (True, "")


@pytest.mark.parametrize(
    ("raises", "ended", "proves"),
    [
        pytest.param("exit code 7", ScriptEnded(7, ""), True, id="its exit code"),
        pytest.param("exit code 7", ScriptEnded(1, ""), False, id="another exit code"),
        pytest.param("exit code 1", ScriptEnded(1, TRACEBACK), False, id="an exception with that exit code"),
        pytest.param("exit code 0", ScriptEnded(0, ""), None, id="nothing is wrong"),
        pytest.param("SIGSEGV", ScriptEnded(-signal.SIGSEGV, ""), True, id="its signal"),
        pytest.param("SIGSEGV", ScriptEnded(-signal.SIGABRT, ""), False, id="another signal"),
        pytest.param("signal 34", ScriptEnded(-34, ""), True, id="a signal without a name"),
        pytest.param("exit code abc", ScriptEnded(1, TRACEBACK), False, id="no exit code"),
        pytest.param(
            "SIGNALError", ScriptEnded(1, "keras.SIGNALError: no\n"), True, id="an exception named like a signal"
        ),
        pytest.param("timed out", ScriptEnded(0, ""), None, id="a hang"),
    ],
)
def test_a_lost_process_is_proved_by_the_way_it_ends(raises: str, ended: ScriptEnded, proves: bool | None) -> None:
    assert ended_so(Script("pass\n", raises, sure=True), ended) is proves


def test_a_script_ends_with_who_started_it(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(ready=str(ready))], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    try:
        until(ready.exists)
        os.kill(parent.pid, signal.SIGKILL)
        until(lambda: not _runs(child))
    finally:
        parent.kill()
        parent.communicate()
        if _runs(child):
            child.kill()


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
