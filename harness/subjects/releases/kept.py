"""What is kept in the store: told, and removed."""

from __future__ import annotations

from fnmatch import fnmatchcase

import msgspec

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.place import How
from clonediff.harness.subjects.releases import store
from clonediff.harness.subjects.releases.store import Manifest, Say
from clonediff.reports.records import RecordError


class Installed(msgspec.Struct, frozen=True):
    """A release or a stack that is installed; `broken` says why one cannot be used.

    `on` is what it is laid over ("tensorflow 2.21.0"), `python` the version of the Python it runs on.
    """

    release: str
    how: How | None
    python: str
    on: str
    bytes: int
    folder: str
    versions: dict[str, str] = {}
    broken: str | None = None


def installed() -> list[Installed]:
    """Everything in the store, by name."""
    return [_told(entry, held) for entry, held in store.entries().items()]


def remove(release: str | None, say: Say) -> list[str]:
    """Remove a release (with `*` as in a shell), had in whatever way, or everything for None; what was removed.

    What stands on a removed stack goes with it, and a TensorFlow 1 goes with the last Keras that stands on it.
    """
    held = store.entries()
    chosen = [name for name, each in held.items() if release is None or _is(release, name, each)]
    if release is not None and not chosen:
        raise ReleaseError(f"{release}: is not installed: `clonediff subjects list` names what is")
    standing = {name: each.stack for name, each in held.items() if isinstance(each, Manifest) and each.stack}
    chosen += [name for name, stack in standing.items() if stack in chosen and name not in chosen]
    for stack in sorted({standing[name] for name in chosen if name in standing} - set(chosen)):
        if stack.startswith("tensorflow-1.") and all(name in chosen for name, on in standing.items() if on == stack):
            chosen.append(stack)
    for name in chosen:
        with store.locked(name, say):
            store.clear(name)
            store.discard(name)
    if release is None:
        for name in store.leftovers():
            with store.locked(name, say):
                store.clear(name)
    return chosen


def _is(release: str, entry: str, held: Manifest | RecordError) -> bool:
    if isinstance(held, Manifest):
        return fnmatchcase(held.release, release)
    name = release.replace("==", "-")
    return entry == name or entry.startswith(f"{name}-")


def _told(entry: str, held: Manifest | RecordError) -> Installed:
    folder = store.folder_of(entry)
    if not isinstance(held, Manifest):
        return Installed(entry, None, "", "", 0, str(folder), broken=f"{held}: taken as not installed")
    broken = None
    if store.manifest_of(entry) is None:
        broken = f"{folder}: its interpreter is gone: taken as not installed"
    elif held.stack is not None and store.manifest_of(held.stack) is None:
        broken = f"{folder}: {held.stack}, which it stands on, is gone"
    last = held.checked[0] if held.checked else None
    if held.stack is not None:
        on = held.stack.replace("-", " ", 1)
    elif held.python is not None:
        on = held.release.replace("==", " ")
    else:
        on = f"{last.backend} {last.backend_version}" if last else ""
    return Installed(held.release, held.how, held.python_version, on, held.bytes, str(folder), held.versions, broken)
