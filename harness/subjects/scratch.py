"""The folder below the temporary directory in which all processes of this one work.

It is removed when this process ends. What a process that was killed has left is removed by the next one: a folder whose
lock is free has no owner.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import IO

PREFIX = "clonediff-"
_LOCK = "lock"


def scratch() -> Path:
    """The folder of this process, which is made when it is first asked for."""
    return _scratch(os.getpid())  # a fork has one of its own


@functools.cache
def _scratch(pid: int) -> Path:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # it is in use, or is removed meanwhile
            _remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
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
