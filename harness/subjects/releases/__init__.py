"""How a release is found on this machine, and installed: from a `Subject` to its `ReleasePlace`.

A release is laid over the packages beside clonediff: a folder that is first on the path of the subject's process. It is
installed once, in the user's cache folder.
"""

from __future__ import annotations

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.presence import missing
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import store
from clonediff.harness.subjects.releases.installer import put_packages
from clonediff.harness.subjects.releases.store import Say, tell
from clonediff.harness.subjects.releases.trees import in_full, split
from clonediff.harness.subjects.subject import Subject, is_snapshot
from clonediff.harness.subjects.warm_child import Limits

__all__ = ["ReleaseError", "in_full", "open_subject", "place_of", "split"]


def place_of(subject: Subject, *, say: Say = tell) -> ReleasePlace:
    """Where the release of a subject is; it is installed first where it has to be. A `ReleaseError` says why not."""
    reason = missing(subject)
    if reason is not None:
        raise ReleaseError(reason)
    if subject.version is None:
        return BESIDE
    entry = store.entry_of(subject)
    folder = store.folder_of(entry)
    if not folder.is_dir():
        if is_snapshot(subject.version):
            raise ReleaseError(
                f"{subject.release}: is the copy of a tree, and there is none in {store.cache()}: name the tree, as in "
                "--subject ../keras"
            )
        with store.locked(entry, say):
            if not folder.is_dir():
                say(f"{subject.release}: installing")
                with store.building(entry) as unfinished:
                    put_packages(subject.release, unfinished)
    return ReleasePlace((str(folder),))


def open_subject(subject: Subject, *, limits: Limits | None = None) -> SubjectProcess:
    """The process of a subject, on the release that it names; installs that first where it has to be."""
    return SubjectProcess(subject, limits=limits, place=place_of(subject))
