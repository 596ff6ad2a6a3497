"""Run each script alone. Only a script that needs clonediff can import it.

There are two kinds of fork server, which fork for each script. The first imports Keras, which takes seconds; it is for
CPUs only, since a fork lacks the threads that a GPU starts. The second imports nothing; scripts that ended unexpectedly
run there again.
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
from clonediff.harness.subjects.child import Child, kill_with_parent, scratch_folder
from clonediff.harness.subjects.environment import DEFAULT_SEARCH_PATH, SearchPath, environment
from clonediff.harness.subjects.outcomes import OUT_OF_MEMORY, TIMED_OUT, Lost
from clonediff.harness.subjects.subject import Subject

LIMIT_SECONDS = 180.0
"""The seconds that a script may take."""

NOT_REPRODUCIBLE = (TIMED_OUT, OUT_OF_MEMORY, "exit code 0")
"""Outcomes that no script can show: its limits differ, and exit code 0 means that it passed."""

_FORK_SERVER = """\
import contextlib, faulthandler, fcntl, importlib, json, os, runpy, signal, sys, traceback

{kill_with_parent}
{hide}sys.path[:0] = sys.argv[1:]
del sys.argv[1:]
responses, devnull = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_RDWR)
os.dup2(devnull, 1)
{preload}for folder in sys.stdin:
    pipe, parent_end = os.pipe()
    script = os.fork()
    if not script:
        os.close(parent_end)
        os.setpgid(0, 0)
        kill_with_parent(os.getpid(), pipe)
        os.chdir(folder.rstrip("\\n"))
        os.dup2(devnull, 0)
        os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT, 0o600), 2)
        faulthandler.enable()
        responses.close()
        code, ending = 0, {{}}
        try:
            exec({prologue!r}, {{}})
            runpy.run_path("repro.py", run_name="__main__")
        except BaseException as error:
            lines = [line for frame, line in traceback.walk_tb(error.__traceback__)
                     if frame.f_code.co_filename == "repro.py"]
            ending["line"] = lines[0] if lines else getattr(error, "lineno", None) or 0
            if isinstance(error, SystemExit):
                code = error.code if isinstance(error.code, int) else int(error.code is not None)
            else:
                traceback.print_exc()
                message = str(error).encode("utf-8", "backslashreplace").decode()
                code, ending = 1, {{**ending, "type": type(error).__name__, "message": message}}
        with open("ending", "w") as file:
            json.dump(ending, file)
        sys.stderr.flush()
        os._exit(code & 255)  # shutting down TensorFlow takes seconds
    os.close(pipe)
    code = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(script, signal.SIGKILL)  # processes that the script started
    os.close(parent_end)
    print(code, file=responses, flush=True)
"""
"""Read the path of a folder from a line, run its `repro.py` in a fork, and print the exit code.

Standard error goes to the file `stderr` in the folder, the rest of an `Ending` to the file `ending`.
"""

_REPLACE_CLONE_MODEL = "import clonediff, {0}; {0}.models.clone_model = clonediff.clone_model"
_PRELOAD = """\
importlib.import_module({!r})
with contextlib.suppress(ImportError):
    importlib.import_module("tensorflow")  # Keras on torch imports it with the first model, if it is installed
"""
_TRACEBACK_LINE = re.compile(r'File "repro.py", line (\d+) in <module>')
_EXIT_CODE = re.compile(r"exit code (-?\d{1,10})|signal (\d{1,3})")


class ReplayAnswer(enum.StrEnum):
    """Whether a finding, graph or script still fails in the same way."""

    BREAKS = "breaks"
    GONE = "gone"
    OTHER = "other"
    UNKNOWN = "cannot tell"


class Ending(msgspec.Struct, frozen=True):
    """How a script ended.

    `code` is the exit code: negative for a signal, None if the script was stopped, for the reason in `message`. `type`
    and `message` describe the exception. `line` is the last line that ran, None if unknown.
    """

    code: int | None = None
    type: str = ""
    message: str = ""
    line: int | None = None
    stderr: str = ""

    @property
    def summary(self) -> str:
        """The exception, or the last line of `stderr`."""
        if self.type:
            return f"{self.type}: {self.message}".partition("\n")[0]
        return (self.stderr.strip().splitlines() or [f"exit code {self.code}"])[-1]


class ScriptRunner:
    """Runs scripts on a subject, one at a time, in forks of its servers."""

    def __init__(self, subject: Subject, search_path: SearchPath = DEFAULT_SEARCH_PATH, *, fixed: bool = False) -> None:
        """With `fixed`, scripts use our `clone_model`."""
        self._fixed = fixed
        self._subject = subject
        self._search_path = search_path
        self._preloads = subject.device == "cpu"
        self._servers: dict[tuple[bool, bool], Child] = {}
        self._closed = False

    def answer(self, script: Script) -> tuple[ReplayAnswer, str]:
        """Run a script; return whether it ends as expected, and why."""
        if not script.raises:
            return ReplayAnswer.UNKNOWN, "the script compares nothing"
        if script.raises in NOT_REPRODUCIBLE:
            return ReplayAnswer.UNKNOWN, f"only a trial can show it: {script.raises}"
        uses_clonediff = self._fixed or script.uses_clonediff
        answer = ReplayAnswer.OTHER, ""
        if self._preloads and not script.raises.startswith("SIG"):  # a fork itself may cause a signal
            answer = answer_of(script, self.run(script.text, uses_clonediff=uses_clonediff))
        if answer[0] in (ReplayAnswer.OTHER, ReplayAnswer.UNKNOWN):  # perhaps because of the fork
            answer = answer_of(script, self.run(script.text, preload=False, uses_clonediff=uses_clonediff))
        if answer[0] is ReplayAnswer.BREAKS or script.must_fail or self._fixed:
            return answer
        result = "it did not fail" if answer[0] is ReplayAnswer.GONE else f"it failed in another way ({answer[1]})"
        return ReplayAnswer.UNKNOWN, f"{result}, but it does not compare exactly what differed, so it cannot decide"

    def run(self, text: str, *, preload: bool = True, uses_clonediff: bool = False) -> Ending:
        """Run a script; `uses_clonediff` lets it import clonediff."""
        key = preload and self._preloads, uses_clonediff
        if key not in self._servers:
            self._servers[key] = self._start(*key)
        if self._closed:  # by another thread
            self._servers.pop(key).close()
            return Ending(message="the runner was closed")
        with tempfile.TemporaryDirectory(dir=scratch_folder()) as name:
            folder = Path(name)
            (folder / "repro.py").write_text(text, encoding="utf-8")
            code = self._servers[key].ask(os.fsencode(folder) + b"\n", LIMIT_SECONDS)
            if not isinstance(code, Lost):
                stderr = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
                if (folder / "ending").exists():
                    ending = msgspec.json.decode((folder / "ending").read_bytes(), type=Ending)
                    return msgspec.structs.replace(ending, code=int(code), stderr=stderr)
                lines = _TRACEBACK_LINE.findall(stderr)  # after a crash
                return Ending(int(code), line=int(lines[-1]) if lines else None, stderr=stderr)
        self._servers.pop(key).close()
        return Ending(message=code.line)

    def close(self) -> None:
        """End the fork servers, and so all scripts, from any thread."""
        self._closed = True
        for server in list(self._servers.values()):
            server.close()

    def _start(self, preload: bool, uses_clonediff: bool) -> Child:
        variables = environment(self._subject, self._search_path)
        # Keras or a user's layers may be on this path, as in the child process.
        folders = filter(None, variables.pop("PYTHONPATH", "").split(os.pathsep))
        package = self._subject.generation
        program = _FORK_SERVER.format(
            kill_with_parent=inspect.getsource(kill_with_parent),
            prologue=_REPLACE_CLONE_MODEL.format(package) if self._fixed else "",
            hide="" if uses_clonediff else 'sys.modules["clonediff"] = None\n',
            preload=_PRELOAD.format(package) if preload else "",
        )
        return Child([sys.executable, "-I", "-c", program, *folders], variables)


def answer_of(script: Script, ending: Ending) -> tuple[ReplayAnswer, str]:
    """Compare an ending with the expected exception; return answer and reason."""
    if ending.code is None:
        return ReplayAnswer.UNKNOWN, f"the script was stopped: {ending.message}"
    if ending.code == 0:
        return ReplayAnswer.GONE, ""
    expected = _exit_code(script.raises)
    is_expected = ending.type == script.raises if expected is None else (ending.code, ending.type) == (expected, "")
    if ending.line is not None and ending.line < cloning_line(script.text):
        return ReplayAnswer.OTHER, f"in line {ending.line}, before it clones: {ending.summary}"
    return ReplayAnswer.BREAKS if is_expected else ReplayAnswer.OTHER, ending.summary


def _exit_code(raises: str) -> int | None:
    """The exit code of "SIGSEGV" or "exit code 7", or None."""
    if match := _EXIT_CODE.fullmatch(raises):
        return int(match[1]) if match[1] else -int(match[2])
    return -signal.Signals[raises] if raises in signal.Signals.__members__ else None
