"""Scripts run alone one after another, each in a fork of a process that has imported their Keras and nothing else.

Importing Keras takes seconds, and what most scripts do after it a tenth of one. A fork only ever proves that a script
fails as it should: whatever else becomes of it, the script is run in a process of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.run_alone import LIMIT, UNTOLD, ScriptEnded, ended_so, run_alone, tried_alone
from clonediff.harness.subjects.child import Child, ChildEnded, ChildLate
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.subject import Subject

_FORKING = """\
import importlib, os, runpy, signal, sys, traceback

def dies_with(parent):
    try:
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except Exception:
        pass
    if os.getppid() != parent:
        sys.exit("its parent is gone")

dies_with({parent})
{hidden}sys.path[:0] = sys.argv[1:]
del sys.argv[1:]
answers, nowhere = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_RDWR)
os.dup2(nowhere, 1)
importlib.import_module({package!r})
print("ready", file=answers, flush=True)
own = os.getpid()
for folder in sys.stdin:
    script = os.fork()
    if not script:
        dies_with(own)
        os.setpgid(0, 0)
        os.chdir(folder.rstrip("\\n"))
        os.dup2(nowhere, 0)
        os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT, 0o600), 2)
        answers.close()
        code = 0
        try:
            runpy.run_path("repro.py", run_name="__main__")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stderr.flush()
        os._exit(code & 255)  # to take down TensorFlow would take a second and more
    ended = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
    try:
        os.killpg(script, signal.SIGKILL)  # what it has started
    except ProcessLookupError:
        pass
    print(ended, file=answers, flush=True)
"""


class ForkedScripts:
    """Runs scripts on a subject's release. Nothing is started until the first, and no two run at once.

    `forks` says whether it forks at all: JAX and GPUs come with threads, of which a fork has none.
    """

    def __init__(self, subject: Subject, place: ReleasePlace = BESIDE, *, fixed: bool = False) -> None:
        """For a release, in its place. `fixed`: our `clone_model` stands in for that of the release."""
        self._fixed = fixed
        self._subject = subject
        self._place = place
        self.forks = subject.backend == "tensorflow" and subject.device == "cpu"
        self._child: Child | None = None

    def tried(self, script: Script) -> tuple[bool | None, str]:
        """Run a script of plain Keras: whether it ends in the exception that it should; where it is None, why."""
        told = script.raises and script.raises not in UNTOLD and not script.raises.startswith("SIG")
        if self.forks and told and not script.with_clonediff:  # a signal may come of the fork itself
            try:
                ended = self._run(script.text)
            except (ChildEnded, ChildLate, OSError):
                self.forks = False
                self.close()
            else:
                if ended_so(script, ended):
                    return True, ""
        return tried_alone(script, self._subject, self._place)

    def ended(self, text: str) -> ScriptEnded:
        """Run a script of plain Keras, whatever becomes of it."""
        if self._fixed:
            package = self._subject.package
            before = f"import clonediff\nimport {package}\n\n{package}.models.clone_model = clonediff.clone_model\n"
            text = before + text
        if self.forks:
            try:
                return self._run(text)
            except ChildLate:
                self.close()
                return ScriptEnded(None, "")
            except (ChildEnded, OSError):
                self.forks = False
                self.close()
        return run_alone(text, self._subject, self._place, with_clonediff=self._fixed)

    def close(self) -> None:
        """End the process, if there is one."""
        if self._child is not None:
            self._child.close()
        self._child = None

    def _run(self, text: str) -> ScriptEnded:
        if self._child is None:
            self._start()
        assert self._child is not None
        with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
            Path(folder, "repro.py").write_text(text, encoding="utf-8")
            code = int(self._child.ask(os.fsencode(folder) + b"\n", LIMIT))
            return ScriptEnded(code, Path(folder, "stderr").read_text(encoding="utf-8", errors="replace"))

    def _start(self) -> None:
        surroundings = environment(self._subject, self._place)
        folders = filter(None, surroundings.pop("PYTHONPATH", "").split(os.pathsep))
        program = _FORKING.format(
            parent=os.getpid(),
            hidden="" if self._fixed else 'sys.modules["clonediff"] = None\n',
            package=self._subject.package,
        )
        self._child = Child([sys.executable, "-I", "-c", program, *folders], surroundings)
        self._child.ask(b"", LIMIT)
