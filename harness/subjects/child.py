"""A process that is asked in lines: started, watched for time and memory, ended with everything that it started."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it comes without types

_WATCH_EVERY = 0.05
_STACK_WAIT = 0.3
_STDERR_BYTES = 256 * 1024
_MOST_STDERR_BYTES = 16 << 20


class ChildEnded(Exception):
    """The child is gone."""


class ChildLate(Exception):
    """The child did not answer in time; it is ended."""


class ChildTooLarge(Exception):
    """The child held more memory than it may; it is ended."""

    def __init__(self, resident: int) -> None:
        """`resident` is in bytes."""
        super().__init__(resident)
        self.resident = resident


class Child:
    """A running process, in a folder of its own that is removed when it ends. A file there has its standard error."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it."""
        self._folder = tempfile.mkdtemp(prefix="clonediff-subject-")
        self._stderr = Path(self._folder, "stderr").open("a+b")  # noqa: SIM115  (it is read after the end of the child)
        # TensorFlow leaves a file for each function that it traces, and removes none if it is killed.
        variables = {**environment, "TMPDIR": self._folder}

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                list(command),
                env=variables,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
            )

        try:
            self._process = _start_in_a_lasting_thread(start)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.pid = self._process.pid
        self._over_limit: ChildLate | ChildTooLarge | None = None
        # Runs at the latest when this process exits.
        self._close = weakref.finalize(self, _end, self._process, self._folder)

    def ask(
        self, line: bytes, seconds: float, memory: int | None = None, wanted: Callable[[bytes], bool] = bool
    ) -> bytes:
        """Write a line, unless it is empty, and read lines until one is `wanted`."""
        done = threading.Event()
        watchdog = threading.Thread(target=self._watch, args=(done, seconds, memory), daemon=True)
        watchdog.start()
        try:
            answer = self._exchange(line, wanted)
        finally:
            done.set()
            watchdog.join()
        if self._over_limit is not None:
            raise self._over_limit
        if not answer:
            raise ChildEnded
        return answer

    def resident(self) -> int:
        """The memory that it holds, 0 if it is gone."""
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def cpu(self) -> float:
        """The seconds of the processor that it has taken, 0 if it is gone."""
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def running(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stderr(self) -> str:
        """The end of what it wrote to standard error."""
        self._stderr.seek(max(0, self._stderr_size() - _STDERR_BYTES))
        return self._stderr.read().decode("utf-8", "replace")

    def wait(self, seconds: float) -> int | None:
        """Wait for its end: the exit code, negative for a signal, None if it does not end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode

    def close(self) -> None:
        """End it and everything that it started."""
        self._close()

    def _exchange(self, line: bytes, wanted: Callable[[bytes], bool]) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._process.stdin.write(line)
            self._process.stdin.flush()
            for answer in iter(self._process.stdout.readline, b""):
                if answer.endswith(b"\n") and wanted(answer[:-1]):
                    return answer[:-1]
        return b""

    def _watch(self, done: threading.Event, seconds: float, memory: int | None) -> None:
        deadline = time.monotonic() + seconds
        while True:
            if self._stderr_size() > _MOST_STDERR_BYTES:
                self._stderr.truncate(0)
            if done.wait(max(0.0, min(_WATCH_EVERY, deadline - time.monotonic()))):
                return
            resident = self.resident() if memory is not None else 0
            if memory is not None and resident > memory:
                self._over_limit = ChildTooLarge(resident)
            elif time.monotonic() >= deadline:
                self._over_limit = ChildLate()
            if self._over_limit is not None:
                self._write_stack()
                _kill(self._process)
                return

    def _write_stack(self) -> None:
        before = size = self._stderr_size()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
        deadline = time.monotonic() + _STACK_WAIT
        while time.monotonic() < deadline:
            time.sleep(_WATCH_EVERY)
            last, size = size, self._stderr_size()
            if before < size == last:
                return

    def _stderr_size(self) -> int:
        return os.fstat(self._stderr.fileno()).st_size


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
    shutil.rmtree(folder, ignore_errors=True)


_Start = Callable[[], subprocess.Popen[bytes]]
_Started = concurrent.futures.Future[subprocess.Popen[bytes]]


def _start_in_a_lasting_thread(start: _Start) -> subprocess.Popen[bytes]:
    """Start a child from a thread that lives as long as this process.

    A child asks the kernel to die with its parent, by which the kernel means the thread that started it. A thread of a
    pool may end earlier, and so may the main one: hence a daemon.
    """
    started: _Started = concurrent.futures.Future()
    _orders(os.getpid()).put((start, started))
    return started.result()


@functools.cache
def _orders(pid: int) -> queue.SimpleQueue[tuple[_Start, _Started]]:
    """The orders of the starting thread of a process: after a fork, that thread is the parent's."""
    orders: queue.SimpleQueue[tuple[_Start, _Started]] = queue.SimpleQueue()
    threading.Thread(target=_start_children, args=(orders,), name=f"starts children of {pid}", daemon=True).start()
    return orders


def _start_children(orders: queue.SimpleQueue[tuple[_Start, _Started]]) -> None:
    while True:
        start, started = orders.get()
        try:
            started.set_result(start())
        except BaseException as error:  # the caller raises it
            started.set_exception(error)
