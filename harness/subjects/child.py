"""One operating-system process spoken to in lines: started, asked, watched, ended, never left behind.

Owns pipes, signals and memory. Knows nothing of trials. A line is asked and answered in one loop over the child's
pipes, with no thread between: an answer is here as soon as it is written.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import fcntl
import os
import queue
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import IO

import psutil  # type: ignore[import-untyped]  # it comes without types

_WATCH_EVERY = 0.05
_STDERR_KEPT = 256 * 1024
_PIPE_BYTES = 1 << 20
_STACK_WAIT = 0.3
_F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", None)


class ChildEnded(Exception):
    """The child is gone."""


class ChildLate(Exception):
    """The child did not answer in time; it still runs."""


class ChildTooLarge(Exception):
    """The child holds more memory than it may; it still runs."""

    def __init__(self, resident: int) -> None:
        """Keep how much it held."""
        super().__init__(resident)
        self.resident = resident


class Child:
    """A running process. Its standard error is kept in a ring, so that it can write without end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it in a folder of its own, which goes when it does."""
        self._folder = tempfile.mkdtemp(prefix="clonediff-subject-")
        self._ring: collections.deque[bytes] = collections.deque()
        self._ring_bytes = 0
        self._pending = b""
        try:
            # TensorFlow leaves a file for each function that it traces, and takes none away where it is killed.
            variables = {**environment, "TMPDIR": self._folder}
            self._process = _spawner.start(list(command), variables, self._folder)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.pid = self._process.pid
        self._about = _about(self.pid)
        self._stdin, self._stdout, self._stderr = (
            _raw(pipe) for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe, False)
            if _F_SETPIPE_SZ is not None:
                with contextlib.suppress(OSError):  # a user's pipes may be limited: then they are smaller
                    fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        # Runs at the latest when this process exits.
        self._close = weakref.finalize(self, _end, self._process, self._folder)

    def ask(
        self, line: bytes, seconds: float, memory: int | None = None, wanted: Callable[[bytes], bool] = bool
    ) -> bytes:
        """Write a line (none where it is empty) and read lines until one is `wanted`; the others go to the ring."""
        deadline = time.monotonic() + seconds
        look = time.monotonic() + _WATCH_EVERY
        unsent = memoryview(line)
        if unsent:
            unsent = self._write(unsent)
        writing = bool(unsent)
        if writing:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            while True:
                now = time.monotonic()
                if now >= deadline:
                    raise ChildLate
                if memory is not None and now >= look:
                    look = now + _WATCH_EVERY
                    resident = self.resident()
                    if resident > memory:
                        raise ChildTooLarge(resident)
                until = deadline if memory is None else min(deadline, look)
                for key, _ in self._selector.select(until - now):
                    if key.fd == self._stdin:
                        unsent = self._write(unsent)
                        if not unsent:
                            writing = False
                            self._selector.unregister(self._stdin)
                    elif key.fd == self._stderr:
                        self._read_stderr()
                    else:
                        found = self._read_lines(wanted)
                        if found is not None:
                            return found
        finally:
            if writing:
                self._selector.unregister(self._stdin)

    def stack(self) -> str:
        """Ask for its stack, and give what it then writes; it may be too far gone to write any."""
        before = self._ring_bytes
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
        deadline = time.monotonic() + _STACK_WAIT
        while time.monotonic() < deadline:
            if self._read_stderr(_STACK_WAIT / 6) == 0 and self._ring_bytes > before:
                break
        return self.stderr()

    def resident(self) -> int:
        """The memory it holds, 0 where it is gone."""
        try:
            return int(self._about.memory_info().rss) if self._about else 0
        except psutil.Error:
            return 0

    def cpu(self) -> float:
        """The seconds of the processor that it has taken, 0 where it is gone."""
        try:
            times = self._about.cpu_times() if self._about else None
        except psutil.Error:
            return 0.0
        return float(times.user + times.system) if times else 0.0

    def running(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stderr(self) -> str:
        """The last it wrote to standard error."""
        return b"".join(self._ring).decode("utf-8", "replace")

    def close(self) -> int | None:
        """End it and everything it started; its exit code, negative for the signal that ended it."""
        if self._close.alive:
            self._drain()
            self._close()
            self._selector.close()
        return self._process.returncode

    def wait(self, seconds: float) -> int | None:
        """Wait for its end, and read what it still had to say."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._drain()
        return self._process.returncode

    def _write(self, data: memoryview) -> memoryview:
        try:
            return data[os.write(self._stdin, data) :]
        except BlockingIOError:
            return data
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChildEnded from error

    def _read_lines(self, wanted: Callable[[bytes], bool]) -> bytes | None:
        try:
            data = os.read(self._stdout, _PIPE_BYTES)
        except BlockingIOError:
            return None
        if not data:
            raise ChildEnded
        self._pending += data
        while b"\n" in self._pending:
            line, _, self._pending = self._pending.partition(b"\n")
            if wanted(line):
                return line
            self._keep(line + b"\n")
        return None

    def _read_stderr(self, wait: float = 0.0) -> int:
        if wait:
            with selectors.DefaultSelector() as waiting:
                waiting.register(self._stderr, selectors.EVENT_READ)
                if not waiting.select(wait):
                    return 0
        try:
            data = os.read(self._stderr, _PIPE_BYTES)
        except (BlockingIOError, OSError):
            return 0
        if data:
            self._keep(data)
        else:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(self._stderr)
        return len(data)

    def _drain(self) -> None:
        with contextlib.suppress(ValueError):
            for _ in range(64):
                if not self._read_stderr():
                    break

    def _keep(self, data: bytes) -> None:
        self._ring.append(data[-_STDERR_KEPT:])
        self._ring_bytes += len(self._ring[-1])
        while self._ring_bytes > _STDERR_KEPT and len(self._ring) > 1:
            self._ring_bytes -= len(self._ring.popleft())


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    shutil.rmtree(folder, ignore_errors=True)


class _Spawner:
    """Starts every child from one thread that lives as long as this process.

    A child asks the kernel to die with its parent, and by that the kernel means the thread that started it: were that
    a thread of a pool, the child would be killed when the pool shrinks, or when Python begins to exit and other threads
    still ask the child. So the thread is a daemon.
    """

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[_Started, list[str], dict[str, str], str]] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._runs = False

    def start(self, command: list[str], variables: dict[str, str], folder: str) -> subprocess.Popen[bytes]:
        with self._starting:
            if not self._runs:
                threading.Thread(target=self._work, name="clonediff-spawner", daemon=True).start()
                self._runs = True
        started: _Started = concurrent.futures.Future()
        self._asked.put((started, command, variables, folder))
        return started.result()

    def _work(self) -> None:
        while True:
            started, command, variables, folder = self._asked.get()
            try:
                started.set_result(_start(command, variables, folder))
            except BaseException as error:  # it is the caller's to hear of
                started.set_exception(error)


_Started = concurrent.futures.Future[subprocess.Popen[bytes]]


def _new_spawner() -> None:
    """Have a thread of this process: after a fork, the one that there was is the parent's."""
    global _spawner
    _spawner = _Spawner()


_spawner: _Spawner
_new_spawner()
os.register_at_fork(after_in_child=_new_spawner)


def _start(command: list[str], variables: dict[str, str], folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=variables,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


def _about(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _raw(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise ValueError("a child has three pipes")
    return pipe.fileno()
