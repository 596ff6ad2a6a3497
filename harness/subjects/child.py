"""A process that answers lines with lines: started, watched for time and memory, ended with all that it started."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil  # type: ignore[import-untyped]  # it comes without types

from clonediff.harness.inside.failures import package_path
from clonediff.harness.observation import Frame
from clonediff.harness.subjects.outcomes import OUT_OF_MEMORY, TIMED_OUT, Lost

_PREFIX = "clonediff-"
_LOCK = "lock"
_WATCH_EVERY = 0.05
_STACK_WAIT = 0.3
_STDERR_BYTES = 256 * 1024
_MOST_STDERR_BYTES = 16 << 20
_LINES = 40
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*?\(most recent call first\):$", re.MULTILINE)
_FRAME = re.compile(r'^\s*File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


class Child:
    """A running process, in a folder of its own that is removed when it ends. A file there has its standard error.

    It ends with this process, however that ends, and so does all that it has started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        folder = tempfile.TemporaryDirectory(dir=scratch(), ignore_cleanup_errors=True)
        self._stderr = Path(folder.name, "stderr").open("a+b")  # noqa: SIM115  (it is read after the end of the child)
        pipe, ours = os.pipe()
        self._process = subprocess.Popen(
            list(command),
            # TensorFlow leaves a file for each function that it traces, and removes none if it is killed.
            env={**environment, "TMPDIR": folder.name},
            cwd=folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
            pass_fds=(pipe,),
        )
        self.pid = self._process.pid
        end_together(self.pid, pipe)
        os.close(pipe)
        self._how = self._message = ""
        # Runs at the latest when this process exits.
        self._close = weakref.finalize(self, _end, self._process, ours, folder)

    def ask(self, line: bytes, seconds: float, memory: int = sys.maxsize) -> bytes | Lost:
        """Write a line, unless it is empty, and read one; or say how the child was lost, ended if it took too much."""
        done = threading.Event()
        watchdog = threading.Thread(target=self._watch, args=(done, seconds, memory), daemon=True)
        watchdog.start()
        try:
            answer = self._exchange(line)
        except BaseException:  # of an interrupt, say: the next line would be the answer to this one
            self.close()
            raise
        finally:
            done.set()
            watchdog.join()
        return answer if answer.endswith(b"\n") and not self._how else self._lost(seconds)

    def resident(self) -> int:
        """The memory that it holds, 0 if it is gone."""
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def running(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End it and everything that it started."""
        self._close()

    def _exchange(self, line: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._process.stdout.readline()
        return b""

    def _watch(self, done: threading.Event, seconds: float, memory: int) -> None:
        deadline = time.monotonic() + seconds
        while not done.wait(max(0.0, min(_WATCH_EVERY, deadline - time.monotonic()))):
            if os.fstat(self._stderr.fileno()).st_size > _MOST_STDERR_BYTES:
                self._stderr.truncate(0)
            resident = self.resident()
            if resident > memory:
                self._how, self._message = OUT_OF_MEMORY, f"{resident >> 20} MiB of {memory >> 20} MiB"
            elif time.monotonic() >= deadline:
                self._how, self._message = TIMED_OUT, f"no answer in {seconds:g} s"
            if self._how:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGUSR1)  # it writes where it is
                time.sleep(_STACK_WAIT)
                _kill(self._process)
                return

    def _lost(self, seconds: float) -> Lost:
        how, message = self._how, self._message
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _STDERR_BYTES))
        errors = self._stderr.read().decode("utf-8", "replace")
        lines = tuple(errors.splitlines()[-_LINES:])
        if not how and self._process.returncode == -signal.SIGALRM:  # a cloner took too long
            how, message = TIMED_OUT, "no clone in time"
        elif not how:
            how, message = _ending(self._process.returncode), lines[-1] if lines else ""
        return Lost(how=how, message=message, seconds=seconds, frames=crash_frames(errors), stderr=lines)


def end_together(group: int, pipe: int) -> None:
    """Have the kernel kill a process group, which has the reading end of a pipe, when the writing end is closed.

    That is when its parent ends. A request to the kernel for a signal at the parent's death is of the thread that
    started the process, and a thread in the process that looks for its parent waits for whatever holds Python's lock.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -group)
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)


def crash_frames(stderr: str) -> tuple[Frame, ...]:
    """The frames that `faulthandler` wrote of the thread that serves, the innermost last; none where it wrote none."""
    for thread in reversed(_THREAD.split(stderr)[1:]):
        frames = [Frame(package_path(file), function, int(line)) for file, line, function in _FRAME.findall(thread)]
        if any(frame.file.startswith("inside/") for frame in frames):
            return tuple(reversed(frames))
    return ()


def _ending(code: int | None) -> str:
    """How a process ended, in a word; one that only closed its output has no code."""
    if code is None or code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes], ours: int, folder: tempfile.TemporaryDirectory[str]) -> None:
    with contextlib.suppress(OSError), process:  # which closes its pipes and waits for it
        _kill(process)
    os.close(ours)
    folder.cleanup()


def scratch() -> Path:
    """The folder below the temporary directory in which all processes of this one work, made when it is asked for.

    It is removed when this process ends. What a process that was killed has left is removed by the next one: a folder
    whose lock is free has no owner.
    """
    return _scratch(os.getpid())  # a fork has one of its own


@functools.cache
def _scratch(pid: int) -> Path:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is in use, or is removed meanwhile
            _remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = (folder / f".{_LOCK}").open("xb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / f".{_LOCK}").rename(folder / _LOCK)  # until now another process takes it for none of ours
    # At exit these run in the reverse order of their creation: after all that end the processes in the folder.
    weakref.finalize(_scratch, _remove, pid, folder, lock)
    return folder


def _remove(pid: int, folder: Path, lock: IO[bytes]) -> None:
    lock.close()
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(lock)
