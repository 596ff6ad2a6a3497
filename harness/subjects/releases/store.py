"""The folder in which releases are kept, once for a user: what is in it, and how it gets there whole or not at all.

Owns the layout, the manifests and the locks. What is put into an entry is not its business.

    <cache>/releases/<entry>/manifest.json   written last, before the folder gets its name
    <cache>/releases/.<entry>~.../           one that is being built, or was when its process was killed
    <cache>/locks/<entry>.lock
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.place import How
from clonediff.reports.records import RecordError, read, write

Say = Callable[[str], None]

MANIFEST = "manifest.json"


class StartedOn(msgspec.Struct, frozen=True):
    """On what an entry was seen to work: the interpreter with the packages around it, and the backend there."""

    python: str
    prefix: str
    backend: str
    backend_version: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an entry holds. `python` and `path` are relative to its folder; `stack` is the entry that it stands on.

    `versions` are exact, of everything that was installed there, `unmet` the requirements that were left as they are:
    another version of a package that must not be replaced is there.
    """

    release: str
    how: How
    python_version: str
    versions: dict[str, str]
    by: str
    bytes: int = 0
    seconds: float = 0.0
    installed: str = ""
    clonediff: str = ""
    python: str | None = None
    path: tuple[str, ...] = ()
    stack: str | None = None
    unmet: tuple[str, ...] = ()
    checked: tuple[StartedOn, ...] = ()
    schema: Literal["clonediff release"] = "clonediff release"
    format: int = 1


def cache() -> Path:
    """The cache folder: that of the user, or the one that CLONEDIFF_CACHE names."""
    named = os.environ.get("CLONEDIFF_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("clonediff")


def folder_of(entry: str) -> Path:
    """The folder of an entry, whether it is there or not."""
    return cache() / "releases" / entry


def manifest_of(entry: str, say: Say | None = None) -> Manifest | None:
    """What an entry holds; None where there is none, or one that cannot be used, which is then told."""
    folder = folder_of(entry)
    path = folder / MANIFEST
    if not folder.is_dir():
        return None
    try:
        manifest = read(path, Manifest)
    except RecordError as error:
        if say is not None:
            say(f"{error}: taken as not installed")
        return None
    if manifest.python is not None and not os.access(folder / manifest.python, os.X_OK):
        if say is not None:
            say(f"{folder / manifest.python}: its interpreter is gone: taken as not installed")
        return None
    return manifest


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

    For the holder of the lock. Folders that a killed process left are removed first. Each build has a folder of its
    own, since what a killed process had started may still write to the old one for a moment.
    """
    clear(entry)
    final = folder_of(entry)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{entry}~", dir=final.parent))
    except OSError as error:
        raise ReleaseError(_unwritable(error)) from error
    try:
        folder.chmod(0o755)
        yield folder
        if not (folder / MANIFEST).is_file():
            raise AssertionError(f"{folder}: built without its {MANIFEST}")
        discard(entry)
        folder.rename(final)
    except OSError as error:
        raise ReleaseError(_unwritable(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def seal(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of an entry, the last thing that is put into it."""
    write(folder / MANIFEST, manifest)


def discard(entry: str) -> None:
    """Remove an entry. It loses its name at once, so that none is ever found half removed."""
    folder = folder_of(entry)
    if folder.is_dir():
        aside = Path(tempfile.mkdtemp(prefix=f".{entry}~", dir=folder.parent))
        folder.rename(aside / "old")
        shutil.rmtree(aside, ignore_errors=True)


def clear(entry: str) -> None:
    """Remove what killed processes left of an entry."""
    for leftover in (cache() / "releases").glob(f".{entry}~*"):
        shutil.rmtree(leftover, ignore_errors=True)


def size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def cache_tag() -> str:
    """What tells compiled packages of one interpreter from those of another: "cpython-311"."""
    return sys.implementation.cache_tag or f"python-{sys.version_info.major}{sys.version_info.minor}"


def clonediff_version() -> str:
    """The version of clonediff that wrote a manifest."""
    try:
        return importlib.metadata.version("clonediff")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _unwritable(error: OSError) -> str:
    where = error.filename or cache()
    return (
        f"{where}: {error.strerror or error}: make room or give write access, or name another folder in CLONEDIFF_CACHE"
    )
