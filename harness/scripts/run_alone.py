"""Whether a reproducer fails on its own: in a fresh process, where nothing of ours can be imported."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clonediff.harness.inside.cloners.users import is_users
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.subject import Subject

LIMIT = 180.0
"""The seconds that a script may take: importing TensorFlow on a loaded machine takes most of it."""

UNTOLD = ("timed out", "out of memory")
"""What a trial ends in that a run of a script says nothing of: it takes longer, or holds more, than a trial may."""

_ALONE = """\
import os, runpy, signal, sys

try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
except Exception:
    pass
os.kill({parent}, 0)
{hidden}path = sys.argv[1]
sys.path[:0] = sys.argv[2:]
runpy.run_path(path, run_name="__main__")
"""
"""It dies with the thread that started it, which is the one that waits for it; and at once if that is gone already."""

_CODE = re.compile(r"exit code (-?\d{1,10})")
_SIGNAL = re.compile(r"signal (\d{1,3})")


def is_proven(cloner: str) -> bool:
    """Whether the scripts of a cloner are run: they are plain Keras, or that and the import of a user's own cloner."""
    return cloner == "upstream" or is_users(cloner)


@dataclass(frozen=True, slots=True)
class ScriptEnded:
    """How a script ended: its exit code, negative for a signal, None where its time was over; what it said."""

    code: int | None
    stderr: str


def _run(
    command: Sequence[str],
    folder: str | Path,
    variables: Mapping[str, str],
    limit: float,
    started: Callable[[subprocess.Popen[bytes]], None],
) -> ScriptEnded:
    """Run a command for so many seconds at the most, and end all that it has started."""
    with subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        started(process)
        try:
            _, errors = process.communicate(timeout=limit)
            return ScriptEnded(process.returncode, errors.decode(errors="replace"))
        except subprocess.TimeoutExpired:
            return ScriptEnded(None, "")
        finally:
            end_all(process)


def end_all(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def tried_alone(script: Script, subject: Subject, place: ReleasePlace = BESIDE) -> tuple[bool | None, str]:
    """Run a script of plain Keras: whether it ends in the exception that it should; where it is None, why.

    A script that is to hang or to fill the memory is not run at all.
    """
    if not script.raises:
        return None, "it shows the models, and compares nothing"
    if script.raises in UNTOLD:
        return None, "it is to run for too long, or to take too much memory"
    done = run_alone(script.text, subject, place, with_clonediff=script.with_clonediff)
    if done.code is None:
        return None, "it did not end in time"
    fails = ended_so(script, done)
    return fails, "" if fails is not None else "it did not, and it does not make the very comparison that differed"


def ended_so(script: Script, done: ScriptEnded) -> bool | None:
    """Whether a script that ended has ended in the exception that it should; None where that cannot be said."""
    if done.code is None or script.raises in UNTOLD:
        return None
    code = _code(script.raises)
    if code == 0:
        return None  # so does a script in which nothing is wrong
    if code is not None:
        # An exception that nobody caught has an exit code too.
        return done.code == code and (code < 0 or "Traceback (most recent call last)" not in done.stderr)
    if done.code != 0 and script.raises in raised_in(done.stderr):
        return True
    return False if script.sure else None


def _code(ended: str) -> int | None:
    """The exit code of a script that takes its process with it in this way; None where it is to end in an exception."""
    if found := _CODE.fullmatch(ended):
        return int(found[1])
    if found := _SIGNAL.fullmatch(ended):  # those that have no name
        return -int(found[1])
    return -signal.Signals[ended] if ended in signal.Signals.__members__ else None


def run_alone(
    text: str,
    subject: Subject,
    place: ReleasePlace = BESIDE,
    *,
    limit: float = LIMIT,
    started: Callable[[subprocess.Popen[bytes]], None] = lambda process: None,
    with_clonediff: bool = False,
) -> ScriptEnded:
    """Run a script on a subject's release. `started` is handed the process, for whoever may have to end it.

    Nothing of clonediff can be imported, unless a user's own cloner may be made of it.

    It finds what is on the PYTHONPATH, as the subject's process does: that may be the Keras itself, or a user's layers.
    """
    with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(text, encoding="utf-8")
        surroundings = environment(subject, place)
        folders = filter(None, surroundings.pop("PYTHONPATH", "").split(os.pathsep))
        hidden = "" if with_clonediff else 'sys.modules["clonediff"] = None\n'
        program = _ALONE.format(parent=os.getpid(), hidden=hidden)
        command = [sys.executable, "-I", "-c", program, str(path), *folders]
        return _run(command, folder, surroundings, limit, started)


def raised_in(stderr: str) -> tuple[str, ...]:
    """The types of the exceptions that tracebacks end in, without their modules."""
    found = re.findall(r"^([A-Za-z_][\w.]*)(?::|$)", stderr, re.MULTILINE)
    return tuple(name.rpartition(".")[2] for name in found)
