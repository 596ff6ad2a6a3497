"""Scripts run alone: in a process of their own, where nothing of ours can be imported.

A runner is a process that imports nothing and forks for each script. Importing Keras takes seconds, and most scripts
take a tenth of one after that, so a second runner has already imported Keras. It is for TensorFlow on a CPU only, since
JAX and GPUs start threads, which a fork does not have. A script that ends there in an unexpected way is run again by
the first.
"""

from __future__ import annotations

import enum
import os
import re
import signal
import sys
import tempfile
from pathlib import Path

from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.child import Child
from clonediff.harness.subjects.environment import BESIDE, Place, environment
from clonediff.harness.subjects.outcomes import OUT_OF_MEMORY, TIMED_OUT, Lost
from clonediff.harness.subjects.subject import Subject

LIMIT = 180.0
"""The seconds that a script may take: importing TensorFlow on a loaded machine takes most of it."""

UNTOLD = (TIMED_OUT, OUT_OF_MEMORY, "exit code 0")
"""Ways in which a trial ends that a script cannot show: it has other limits, and may end with exit code 0 itself."""

_RUNNER = """\
import contextlib, ctypes, importlib, os, runpy, signal, sys, traceback

def dies_with(parent):
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("its parent is gone")

dies_with({parent})
{hide}sys.path[:0] = sys.argv[1:]
del sys.argv[1:]
answers, nowhere = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_RDWR)
os.dup2(nowhere, 1)
{preload}runner = os.getpid()
for folder in sys.stdin:
    script = os.fork()
    if not script:
        dies_with(runner)
        os.setpgid(0, 0)
        os.chdir(folder.rstrip("\\n"))
        os.dup2(nowhere, 0)
        os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT, 0o600), 2)
        answers.close()
        code = 0
        try:
            runpy.run_path("repro.py", run_name="__main__")
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stderr.flush()
        os._exit(code & 255)  # to take down TensorFlow would take a second and more
    code = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(script, signal.SIGKILL)  # what it has started
    print(code, file=answers, flush=True)
"""
"""Reads the folder of a script from each line, runs its `repro.py` there in a fork, and answers with the exit code.

Standard error goes to the file `stderr` of that folder. Runners and scripts end with the process that started them.
"""

_CHAINED = re.compile(r"^(?:During handling of the above|The above exception was)", re.MULTILINE)
_ENDING = re.compile(r"exit code (-?\d{1,10})|signal (\d{1,3})")


class ReplayAnswer(enum.StrEnum):
    """Whether a finding, a graph or a script still shows what it is to show."""

    BREAKS = "breaks"
    GONE = "gone"
    OTHER = "other"
    UNKNOWN = "cannot tell"


class ScriptRunner:
    """Runs scripts on a subject's release, one at a time. Nothing is started until the first."""

    def __init__(self, subject: Subject, place: Place = BESIDE, *, fixed: bool = False) -> None:
        """For a release, in its place. `fixed`: our `clone_model` stands in for that of the release."""
        self._fixed = fixed
        self._subject = subject
        self._place = place
        self._preloads = subject.backend == "tensorflow" and subject.device == "cpu"
        self._runners: dict[tuple[bool, bool], Child] = {}

    def answer(self, script: Script) -> tuple[ReplayAnswer, str]:
        """Whether a script ends in the exception that it should; if not, why not, in a line."""
        if not script.raises:
            return ReplayAnswer.UNKNOWN, "it shows the models, and compares nothing"
        if script.raises in UNTOLD:
            return ReplayAnswer.UNKNOWN, f"it shows in a trial only: {script.raises}"
        visible = self._fixed or script.with_clonediff
        answer = ReplayAnswer.OTHER, ""
        if self._preloads and not script.raises.startswith("SIG"):  # a signal may come of the fork itself
            answer = answer_of(script, *self.run(script.text, visible=visible))
        if answer[0] in (ReplayAnswer.OTHER, ReplayAnswer.UNKNOWN) and TIMED_OUT not in answer[1]:
            answer = answer_of(script, *self.run(script.text, preload=False, visible=visible))
        if answer[0] is ReplayAnswer.BREAKS or script.sure or self._fixed:
            return answer
        ended = "it did not fail" if answer[0] is ReplayAnswer.GONE else f"it failed otherwise ({answer[1]})"
        return ReplayAnswer.UNKNOWN, f"{ended}, and does not make the very comparison that differed"

    def run(self, text: str, *, preload: bool = True, visible: bool = False) -> tuple[int | None, str]:
        """Run a script, and return its exit code and what it wrote to standard error.

        The code is negative for a signal, and None if the script did not end in time: then the text says why. The
        script can import clonediff if that is `visible`.
        """
        if self._fixed:
            package = self._subject.generation
            text = f"import clonediff\nimport {package}\n\n{package}.models.clone_model = clonediff.clone_model\n{text}"
        key = preload and self._preloads, visible
        if key not in self._runners:
            self._runners[key] = self._start(*key)
        with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
            Path(folder, "repro.py").write_text(text, encoding="utf-8")
            code = self._runners[key].ask(os.fsencode(folder) + b"\n", LIMIT)
            if not isinstance(code, Lost):
                return int(code), Path(folder, "stderr").read_text(encoding="utf-8", errors="replace")
        self._runners.pop(key).close()
        return None, code.line

    def close(self) -> None:
        """End the runners."""
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()

    def _start(self, preload: bool, visible: bool) -> Child:
        surroundings = environment(self._subject, self._place)
        # As in the subject's process, the Keras itself or a user's layers may be on this path.
        folders = filter(None, surroundings.pop("PYTHONPATH", "").split(os.pathsep))
        program = _RUNNER.format(
            parent=os.getpid(),
            hide="" if visible else 'sys.modules["clonediff"] = None\n',
            preload=f"importlib.import_module({self._subject.generation!r})\n" if preload else "",
        )
        return Child([sys.executable, "-I", "-c", program, *folders], surroundings)


def answer_of(script: Script, code: int | None, stderr: str) -> tuple[ReplayAnswer, str]:
    """Whether a script has ended in the exception that it should; if not, the last line that it wrote."""
    if code is None:
        return ReplayAnswer.UNKNOWN, f"it did not end in time: {stderr}"
    if code == 0:
        return ReplayAnswer.GONE, ""
    expected = _exit_code(script.raises)
    if expected is None:
        last = _CHAINED.split(stderr)[-1]  # of a chain, the exception that nobody caught
        breaks = script.raises in re.findall(r"^(?:[\w.]+\.)?([A-Za-z_]\w*)(?::|$)", last, re.MULTILINE)
    else:
        # An exception that nobody caught has an exit code too.
        breaks = code == expected and (code < 0 or "Traceback (most recent call last)" not in stderr)
    lines = stderr.strip().splitlines() or [f"exit code {code}"]
    return ReplayAnswer.BREAKS if breaks else ReplayAnswer.OTHER, lines[-1]


def _exit_code(ending: str) -> int | None:
    """The exit code of a process that ends so, "SIGSEGV" or "exit code 7"; None if `ending` is an exception."""
    if match := _ENDING.fullmatch(ending):
        return int(match[1]) if match[1] else -int(match[2])
    return -signal.Signals[ending] if ending in signal.Signals.__members__ else None
