"""From a subject to its place: which way its release is had, and whether it has to be installed first.

Owns the choice of the way, and when what is installed has to be seen to start again.
"""

from __future__ import annotations

import sys

import msgspec

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.place import BESIDE, How, ReleasePlace
from clonediff.harness.subjects.presence import missing, without
from clonediff.harness.subjects.releases import store
from clonediff.harness.subjects.releases.building import (
    around_now,
    entry_of,
    interpreter_of,
    lay,
    place_in,
    see_start,
    stack_entry,
    stack_up,
)
from clonediff.harness.subjects.releases.store import Manifest, Say
from clonediff.harness.subjects.releases.table import Stack, stack_of, with_stack
from clonediff.harness.subjects.subject import Subject, is_snapshot

_REMEMBERED = 8
"""How many environments an entry is remembered to have started in."""


def tell(line: str) -> None:
    """Say something to who waits: a line on standard error."""
    sys.stderr.write(f"clonediff: {line}\n")
    sys.stderr.flush()


def place_of(subject: Subject, *, install: bool = True, say: Say = tell, stack: How | None = None) -> ReleasePlace:
    """Where the release of a subject is. It is installed first where it has to be, unless `install` is false.

    `stack` forces a way to have it. What is installed is started once, to see that it starts here. A `ReleaseError`
    says why it cannot be had.
    """
    reason = missing(subject)
    if reason is not None:
        raise ReleaseError(reason)
    if subject.version is None:
        if stack not in (None, "beside"):
            raise ReleaseError(f"{subject}: is beside clonediff; name a release to have it {stack}")
        return BESIDE
    how, below = _way(subject, stack, install)
    entry = entry_of(subject, how, below)
    manifest = store.manifest_of(entry)
    if manifest is not None and around_now(subject, manifest) in manifest.checked:
        return place_in(store.folder_of(entry), manifest)
    with store.locked(entry, say):
        return _have(subject, entry, how, below, install, say)


def _have(subject: Subject, entry: str, how: How, below: Stack | None, install: bool, say: Say) -> ReleasePlace:
    """As the holder of the entry's lock: install it, or see that it starts here, or find that another has done so."""
    if subject.package != "tensorflow" and below is not None:
        _have_stack(below, subject, install, say)
    manifest = store.manifest_of(entry, say)
    if manifest is not None:
        place = place_in(store.folder_of(entry), manifest)
        if around_now(subject, manifest) in manifest.checked:
            return place
        try:
            _remember(subject, entry, manifest, place, say)
        except ReleaseError as error:
            if not install or is_snapshot(subject.version):
                raise
            say(f"{str(error).splitlines()[0]}: installing it again")
        else:
            return place
    if is_snapshot(subject.version):
        raise ReleaseError(
            f"{subject.release}: is the copy of a tree, and there is none in {store.cache()}: name the tree, as in "
            "--subject ../keras"
        )
    if not install:
        raise ReleaseError(f"{subject.release}: is not installed")
    if subject.package == "tensorflow" and below is not None and subject.version is not None:
        stack_up(below, subject.version, subject, say)
    else:
        lay(subject, entry, how, say, below)
    made = store.manifest_of(entry)
    if made is None:
        raise ReleaseError(f"{subject.release}: was removed by another process as soon as it was installed")
    return place_in(store.folder_of(entry), made)


def _have_stack(below: Stack, subject: Subject, install: bool, say: Say) -> None:
    entry = stack_entry(below)
    if store.manifest_of(entry) is not None:
        return
    with store.locked(entry, say):
        if store.manifest_of(entry, say) is not None:
            return
        if not install:
            raise ReleaseError(f"{subject.release}: is not installed")
        stack_up(below, below.tensorflow, subject, say)


def _remember(subject: Subject, entry: str, manifest: Manifest, place: ReleasePlace, say: Say) -> None:
    """See that an entry starts in surroundings that are new to it, and write that down."""
    now = see_start(subject, place, manifest, say)
    store.seal(
        store.folder_of(entry), msgspec.structs.replace(manifest, checked=(now, *manifest.checked)[:_REMEMBERED])
    )


def _way(subject: Subject, asked: How | None, install: bool) -> tuple[How, Stack | None]:
    """In which way a release is had, and the stack that this needs."""
    ways: dict[How, Stack | None]
    if subject.package == "tensorflow":
        ways = {"own stack": _stack(subject)}
    elif subject.laid_over:
        ways = {"laid over": None}
    else:
        ways = {"own stack": _stack(subject), "v1 mode": None}
    if asked is not None:
        if asked not in ways:
            raise ReleaseError(f"{subject.release}: cannot be had {asked!r}, only {' or '.join(map(repr, ways))}")
        chosen = asked
    elif len(ways) == 1:
        chosen = next(iter(ways))
    else:
        chosen = _preferred(subject, ways, install)
    if chosen == "v1 mode":
        reason = without(subject, "tensorflow")
        if reason is not None:
            raise ReleaseError(reason)
    return chosen, ways[chosen]


def _preferred(subject: Subject, ways: dict[How, Stack | None], install: bool) -> How:
    """The first way in which it is installed; else its own stack where its Python is found, else v1 mode."""
    for how, below in ways.items():
        if store.manifest_of(entry_of(subject, how, below)) is not None:
            return how
    below = ways["own stack"]
    if not install or below is None or store.manifest_of(stack_entry(below)) is not None:
        return "own stack"
    try:
        interpreter_of(below, subject)
    except ReleaseError:
        return "v1 mode" if without(subject, "tensorflow") is None else "own stack"
    return "own stack"


def _stack(subject: Subject) -> Stack:
    found = stack_of(subject.package, subject.version or "")
    if found is None:
        known = ", ".join(with_stack(subject.package))
        raise ReleaseError(f"{subject.release}: there is no such release with a stack of its own; there are {known}")
    return found
