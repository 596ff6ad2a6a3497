"""Scripts run alone: in a process of their own, where nothing of ours can be imported.

A runner is a process that imports nothing and forks for each script. Importing Keras takes seconds, and most scripts
take a tenth of one after that, so a second runner has already imported Keras. It is for CPUs only, since GPUs start
threads, which a fork does not have. A script that ends there in an unexpected way is run again by the first.
"""

from __future__ import annotations

import enum
import inspect
import os
import re
import signal
import sys
import tempfile
from pathlib import Path

import msgspec

from clonediff.harness.scripts.known_scripts import cloning_line
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.child import Child, kill_with_parent, scratch
from clonediff.harness.subjects.environment import INSTALLED, SearchPath, environment
from clonediff.harness.subjects.outcomes import OUT_OF_MEMORY, TIMED_OUT, Lost
from clonediff.harness.subjects.subject import Subject

LIMIT = 180.0
"""The seconds that a script may take: importing TensorFlow on a loaded machine takes most of it."""

UNTOLD = (TIMED_OUT, OUT_OF_MEMORY, "exit code 0")
"""Ways in which a trial ends that a script cannot show: it has other limits, and may end with exit code 0 itself."""

_RUNNER = """\
import contextlib, faulthandler, fcntl, importlib, json, os, runpy, signal, sys, traceback

{kill_with_parent}
{hide}sys.path[:0] = sys.argv[1:]
del sys.argv[1:]
answers, nowhere = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_RDWR)
os.dup2(nowhere, 1)
{preload}for folder in sys.stdin:
    pipe, ours = os.pipe()
    script = os.fork()
    if not script:
        os.close(ours)
        os.setpgid(0, 0)
        kill_with_parent(os.getpid(), pipe)
        os.chdir(folder.rstrip("\\n"))
        os.dup2(nowhere, 0)
        os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT, 0o600), 2)
        faulthandler.enable()
        answers.close()
        code, ended = 0, {{}}
        try:
            exec({first!r}, {{}})
            runpy.run_path("repro.py", run_name="__main__")
        except BaseException as error:
            lines = [line for frame, line in traceback.walk_tb(error.__traceback__)
                     if frame.f_code.co_filename == "repro.py"]
            ended["line"] = lines[0] if lines else getattr(error, "lineno", None) or 0
            if isinstance(error, SystemExit):
                code = error.code if isinstance(error.code, int) else int(error.code is not None)
            else:
                traceback.print_exc()
                message = str(error).encode("utf-8", "backslashreplace").decode()
                code, ended = 1, {{**ended, "type": type(error).__name__, "message": message}}
        with open("ended", "w") as file:
            json.dump(ended, file)
        sys.stderr.flush()
        os._exit(code & 255)  # to take down TensorFlow would take a second and more
    os.close(pipe)
    code = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(script, signal.SIGKILL)  # what it has started
    os.close(ours)
    print(code, file=answers, flush=True)
"""
"""Reads the folder of a script from each line, runs its `repro.py` there in a fork, and answers with the exit code.

Standard error goes to the file `stderr` of that folder, and how the script ended to the file `ended`.
"""

_OURS = "import clonediff, {0}; {0}.models.clone_model = clonediff.clone_model"
"""What runs before a script, where our `clone_model` stands in for that of the release."""
_IMPORTED = """\
importlib.import_module({!r})
with contextlib.suppress(ImportError):
    importlib.import_module("tensorflow")  # where it is there, Keras on torch imports it with the first model
"""
_LINE = re.compile(r'File "repro.py", line (\d+) in <module>')
_ENDING = re.compile(r"exit code (-?\d{1,10})|signal (\d{1,3})")


class ReplayAnswer(enum.StrEnum):
    """Whether a finding, a graph or a script still shows what it is to show."""

    BREAKS = "breaks"
    GONE = "gone"
    OTHER = "other"
    UNKNOWN = "cannot tell"


class Ended(msgspec.Struct, frozen=True):
    """How a script ended: its exit code, negative for a signal and None where it was stopped, as `message` says.

    An exception that ended it has a type. `line` is where the script was, None if that is not known.
    """

    code: int | None = None
    type: str = ""
    message: str = ""
    line: int | None = None
    stderr: str = ""

    @property
    def last(self) -> str:
        """How it ended, in a line."""
        if self.type:
            return f"{self.type}: {self.message}".partition("\n")[0]
        return (self.stderr.strip().splitlines() or [f"exit code {self.code}"])[-1]


class ScriptRunner:
    """Runs scripts on a subject's release, one at a time. Nothing is started until the first."""

    def __init__(self, subject: Subject, search_path: SearchPath = INSTALLED, *, fixed: bool = False) -> None:
        """For a release, in its place. `fixed`: our `clone_model` stands in for that of the release."""
        self._fixed = fixed
        self._subject = subject
        self._search_path = search_path
        self._preloads = subject.device == "cpu"
        self._runners: dict[tuple[bool, bool], Child] = {}
        self._over = False

    def answer(self, script: Script) -> tuple[ReplayAnswer, str]:
        """Whether a script ends in the exception that it should; if not, why not, in a line."""
        if not script.raises:
            return ReplayAnswer.UNKNOWN, "it shows the models, and compares nothing"
        if script.raises in UNTOLD:
            return ReplayAnswer.UNKNOWN, f"it shows in a trial only: {script.raises}"
        visible = self._fixed or script.with_clonediff
        answer = ReplayAnswer.OTHER, ""
        if self._preloads and not script.raises.startswith("SIG"):  # a signal may come of the fork itself
            answer = answer_of(script, self.run(script.text, visible=visible))
        if answer[0] in (ReplayAnswer.OTHER, ReplayAnswer.UNKNOWN):  # a fork may also hang
            answer = answer_of(script, self.run(script.text, preload=False, visible=visible))
        if answer[0] is ReplayAnswer.BREAKS or script.sure or self._fixed:
            return answer
        ended = "it did not fail" if answer[0] is ReplayAnswer.GONE else f"it failed otherwise ({answer[1]})"
        return ReplayAnswer.UNKNOWN, f"{ended}, and does not make the very comparison that differed"

    def run(self, text: str, *, preload: bool = True, visible: bool = False) -> Ended:
        """Run a script. It can import clonediff if that is `visible`."""
        key = preload and self._preloads, visible
        if key not in self._runners:
            self._runners[key] = self._start(*key)
        if self._over:  # perhaps since a moment ago
            self._runners.pop(key).close()
            return Ended(message="no longer asked")
        with tempfile.TemporaryDirectory(dir=scratch()) as name:
            folder = Path(name)
            (folder / "repro.py").write_text(text, encoding="utf-8")
            code = self._runners[key].ask(os.fsencode(folder) + b"\n", LIMIT)
            if not isinstance(code, Lost):
                stderr = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
                if (folder / "ended").exists():
                    ended = msgspec.json.decode((folder / "ended").read_bytes(), type=Ended)
                    return msgspec.structs.replace(ended, code=int(code), stderr=stderr)
                lines = _LINE.findall(stderr)  # of a crash
                return Ended(int(code), line=int(lines[-1]) if lines else None, stderr=stderr)
        self._runners.pop(key).close()
        return Ended(message=code.line)

    def close(self) -> None:
        """End the runners for good, from any thread."""
        self._over = True
        for runner in list(self._runners.values()):
            runner.close()

    def _start(self, preload: bool, visible: bool) -> Child:
        surroundings = environment(self._subject, self._search_path)
        # As in the subject's process, the Keras itself or a user's layers may be on this path.
        folders = filter(None, surroundings.pop("PYTHONPATH", "").split(os.pathsep))
        package = self._subject.generation
        program = _RUNNER.format(
            kill_with_parent=inspect.getsource(kill_with_parent),
            first=_OURS.format(package) if self._fixed else "",
            hide="" if visible else 'sys.modules["clonediff"] = None\n',
            preload=_IMPORTED.format(package) if preload else "",
        )
        return Child([sys.executable, "-I", "-c", program, *folders], surroundings)


def answer_of(script: Script, ended: Ended) -> tuple[ReplayAnswer, str]:
    """Whether a script has ended as it should, at the statement that clones or after it; if not, how it did."""
    if ended.code is None:
        return ReplayAnswer.UNKNOWN, f"it did not end in time: {ended.message}"
    if ended.code == 0:
        return ReplayAnswer.GONE, ""
    expected = _exit_code(script.raises)
    as_expected = ended.type == script.raises if expected is None else (ended.code, ended.type) == (expected, "")
    if ended.line is not None and ended.line < cloning_line(script.text):
        return ReplayAnswer.OTHER, f"in line {ended.line}, before it clones: {ended.last}"
    return ReplayAnswer.BREAKS if as_expected else ReplayAnswer.OTHER, ended.last


def _exit_code(ending: str) -> int | None:
    """The exit code of a process that ends so, "SIGSEGV" or "exit code 7"; None if `ending` is an exception."""
    if match := _ENDING.fullmatch(ending):
        return int(match[1]) if match[1] else -int(match[2])
    return -signal.Signals[ending] if ending in signal.Signals.__members__ else None
