"""The folder below the temporary directory in which all processes of this one work.

It is removed when this process ends. What a process that was killed has left is removed by the next one: a folder whose
lock is free has no owner.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import threading
import weakref
from pathlib import Path

PREFIX = "clonediff-"
_LOCK = "lock"


class _Scratch:
    """The folder of one process, locked for as long as that lives."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        unlocked = self.path / f".{_LOCK}"
        self._lock = os.open(unlocked, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unlocked.rename(self.path / _LOCK)  # until now another process takes it for none of ours
        # At exit these run in the reverse order of their creation: after all that end the processes in the folder.
        weakref.finalize(self, _remove, self.pid, self.path)


_guard = threading.Lock()
_scratch: list[_Scratch] = []


def scratch() -> Path:
    """The folder of this process, which is made when it is first asked for."""
    with _guard:
        if not _scratch or _scratch[-1].pid != os.getpid():  # a fork has one of its own
            _remove_abandoned()
            _scratch.append(_Scratch())
        return _scratch[-1].path


def _remove(pid: int, folder: Path) -> None:
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # it is removed meanwhile, or in use
            status = folder.lstat()
            if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)
