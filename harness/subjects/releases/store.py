"""The folder in which releases are kept, once for a user, and how one gets there whole or not at all.

<cache>/packages/<entry>/      a folder to import a release from
<cache>/packages/.<entry>~.../ one that is being built, or was when its process was killed
<cache>/locks/<entry>.lock
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from packaging.version import Version

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.subject import Subject

Say = Callable[[str], None]


def tell(line: str) -> None:
    """Say something to who waits: a line on standard error."""
    sys.stderr.write(f"clonediff: {line}\n")
    sys.stderr.flush()


def cache() -> Path:
    """The cache folder: that of the user, or the one that CLONEDIFF_CACHE names."""
    named = os.environ.get("CLONEDIFF_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("clonediff")


def entry_of(subject: Subject) -> str:
    """The name of the folder that a release is kept in. Compiled packages differ with the interpreter."""
    return f"{subject.package}-{Version(subject.version or '0')}-{sys.implementation.cache_tag}"


def folder_of(entry: str) -> Path:
    """The folder of an entry, whether it is there or not."""
    return cache() / "packages" / entry


@contextlib.contextmanager
def locked(entry: str, say: Say) -> Iterator[None]:
    """Alone with an entry; who comes second waits, and says so. A process that is killed leaves no lock behind."""
    from filelock import FileLock, Timeout

    path = cache() / "locks" / f"{entry}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"{entry}: another process is at work on it; waiting")
            lock.acquire()
    except OSError as error:
        raise ReleaseError(_unwritable(error)) from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def building(entry: str) -> Iterator[Path]:
    """A folder to build an entry in; it gets the entry's name at the end, unless there was an error: then it goes.

    For the holder of the lock. Folders that a killed process left are removed first.
    """
    final = folder_of(entry)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        for leftover in final.parent.glob(f".{entry}~*"):
            shutil.rmtree(leftover, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{entry}~", dir=final.parent))
    except OSError as error:
        raise ReleaseError(_unwritable(error)) from error
    try:
        folder.chmod(0o755)
        yield folder
        folder.rename(final)
    except OSError as error:
        raise ReleaseError(_unwritable(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unwritable(error: OSError) -> str:
    where = error.filename or cache()
    return (
        f"{where}: {error.strerror or error}: make room or give write access, or name another folder in CLONEDIFF_CACHE"
    )
