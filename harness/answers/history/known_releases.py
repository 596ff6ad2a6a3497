"""Which releases there are to choose from: those of the index, or where that is out of reach those of this machine."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence

from packaging.version import InvalidVersion, Version

from clonediff.harness.answers.history.releases_option import ReleasesWanted, VersionsThere
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.presence import missing
from clonediff.harness.subjects.releases import ReleaseError, available, installed, place_of
from clonediff.harness.subjects.subject import Package, Subject
from clonediff.reports.markup import one_line


def known_releases(
    items: Sequence[ReleasesWanted], *, here_only: bool
) -> tuple[dict[Package, VersionsThere], list[str]]:
    """What there is of each package that the items name, and what a reader has to know of it.

    The index says which releases exist, even where none is to be installed: a range is claimed only where that is
    known. A single release that is named asks nobody.
    """
    found: dict[Package, VersionsThere] = {}
    notes: list[str] = []
    for package in dict.fromkeys(item.package for item in items):
        mine = [item for item in items if item.package == package]
        ranged = any(item.exact is None for item in mine)
        here = on_this_machine(package) if ranged else ()
        if len(mine) == 1 and not ranged:
            found[package] = VersionsThere(here, None)
            continue
        try:
            exist = tuple(available(package))
        except ReleaseError as error:
            found[package] = VersionsThere(here, None)
            only = f"; of {package} only the releases on this machine are tried" if ranged else ""
            notes.append(f"{one_line(str(error))}{only}")
            continue
        if here_only and ranged:
            notes.append(f"of {package} only the releases on this machine are tried: --no-install")
        found[package] = VersionsThere(here if here_only else exist, exist)
    return found, notes


def on_this_machine(package: Package) -> tuple[str, ...]:
    """The versions of a package that are installed: beside clonediff, and by it."""
    names = [f"{package}=={_beside(package)}", *(each.release for each in installed())]
    versions = [version for name, _, version in (each.partition("==") for each in names) if name == package]
    return tuple(version for version in dict.fromkeys(versions) if _is_version(version))


def place(subject: Subject, *, install: bool, say: Callable[[str], None]) -> ReleasePlace:
    """Where a release is. The one beside clonediff is itself, where it is neither installed apart nor may be."""
    try:
        return place_of(subject, install=install, say=say)
    except ReleaseError:
        if subject.version is not None and subject.version == _beside(subject.package) and missing(subject) is None:
            return BESIDE
        raise


def _beside(package: Package) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
