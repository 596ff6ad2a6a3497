"""Runs a child process that answers lines, within limits of time and memory."""

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
_WATCH_INTERVAL = 0.05
_STACK_SECONDS = 0.3
_STDERR_TAIL_BYTES = 256 * 1024
_MAX_STDERR_BYTES = 16 << 20
_KEPT_STDERR_LINES = 40
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*?\(most recent call first\):$", re.MULTILINE)
_FRAME = re.compile(r'^\s*File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


class Child:
    """A running process in a temporary folder, which also has its standard error.

    It and its children end when this process ends, even if this process is killed.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        folder = tempfile.TemporaryDirectory(dir=scratch_folder(), ignore_cleanup_errors=True)
        self._stderr = Path(folder.name, "stderr").open("a+b")  # noqa: SIM115  (read after the child has ended)
        read_end, write_end = os.pipe()
        self._process = subprocess.Popen(
            list(command),
            # TensorFlow leaves the files of traced functions if it is killed.
            env={**environment, "TMPDIR": folder.name},
            cwd=folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
            pass_fds=(read_end,),
        )
        self.pid = self._process.pid
        kill_with_parent(self.pid, read_end)
        os.close(read_end)
        self._reason = self._message = ""
        # Runs at the latest when this process exits.
        self._close = weakref.finalize(self, _end_process, self._process, write_end, folder)

    def ask(self, line: bytes, seconds: float, memory: int = sys.maxsize) -> bytes | Lost:
        """Write a line, if not empty, and read the answer. Kill the child at its limits."""
        is_finished = threading.Event()
        watchdog = threading.Thread(target=self._watch, args=(is_finished, seconds, memory), daemon=True)
        watchdog.start()
        try:
            answer = self._exchange(line)
        except BaseException:  # such as an interrupt: the next request would get this answer
            self.close()
            raise
        finally:
            is_finished.set()
            watchdog.join()
        return answer if answer.endswith(b"\n") and not self._reason else self._describe_loss(seconds)

    def resident_bytes(self) -> int:
        """The resident bytes, 0 if the process has ended."""
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def is_running(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Kill the process and all of its children."""
        self._close()

    def _exchange(self, line: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._process.stdout.readline()
        return b""

    def _watch(self, is_finished: threading.Event, seconds: float, memory: int) -> None:
        deadline = time.monotonic() + seconds
        while not is_finished.wait(max(0.0, min(_WATCH_INTERVAL, deadline - time.monotonic()))):
            if os.fstat(self._stderr.fileno()).st_size > _MAX_STDERR_BYTES:
                self._stderr.truncate(0)
            resident = self.resident_bytes()
            if resident > memory:
                self._reason, self._message = OUT_OF_MEMORY, f"{resident >> 20} MiB of {memory >> 20} MiB"
            elif time.monotonic() >= deadline:
                self._reason, self._message = TIMED_OUT, f"no answer in {seconds:g} s"
            if self._reason:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGUSR1)  # writes the stack to standard error
                time.sleep(_STACK_SECONDS)
                _kill(self._process)
                return

    def _describe_loss(self, seconds: float) -> Lost:
        reason, message = self._reason, self._message
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _STDERR_TAIL_BYTES))
        stderr = self._stderr.read().decode("utf-8", "replace")
        lines = tuple(stderr.splitlines()[-_KEPT_STDERR_LINES:])
        if not reason and self._process.returncode == -signal.SIGALRM:  # raised for a cloner that takes too long
            reason, message = TIMED_OUT, "no clone in time"
        elif not reason:
            reason, message = _exit_text(self._process.returncode), lines[-1] if lines else ""
        return Lost(reason=reason, message=message, seconds=seconds, frames=crash_frames(stderr), stderr=lines)


def kill_with_parent(group: int, pipe: int) -> None:
    """Make the kernel kill a process group once a pipe's other end closes.

    `PR_SET_PDEATHSIG` would already kill it when the thread that started it ends.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -group)
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)


def crash_frames(stderr: str) -> tuple[Frame, ...]:
    """The serving thread's frames from `faulthandler`, the innermost last."""
    for thread in reversed(_THREAD.split(stderr)[1:]):
        frames = [Frame(package_path(file), function, int(line)) for file, line, function in _FRAME.findall(thread)]
        if any(frame.file.startswith("inside/") for frame in frames):
            return tuple(reversed(frames))
    return ()


def _exit_text(code: int | None) -> str:
    """Describe an exit code; None if the process only closed its output."""
    if code is None or code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end_process(process: subprocess.Popen[bytes], write_end: int, folder: tempfile.TemporaryDirectory[str]) -> None:
    with contextlib.suppress(OSError), process:  # closes the pipes of the process and waits for it
        _kill(process)
    os.close(write_end)
    folder.cleanup()


def scratch_folder() -> Path:
    """Return the temporary folder of this process and its children.

    It is removed when this process ends, or by the next process if this one is killed.
    """
    return _create_scratch_folder(os.getpid())  # a fork gets another folder


@functools.cache
def _create_scratch_folder(pid: int) -> Path:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # in use, or just removed by another process
            _remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = (folder / f".{_LOCK}").open("xb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / f".{_LOCK}").rename(folder / _LOCK)  # until now, other processes ignore the folder
    # Finalizers run in reverse order: the folder's processes end first.
    weakref.finalize(_create_scratch_folder, _remove_folder, pid, folder, lock)
    return folder


def _remove_folder(pid: int, folder: Path, lock: IO[bytes]) -> None:
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
