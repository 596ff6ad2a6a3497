"""Which releases a history is asked for: the words of `--releases`, and the releases that they stand for.

Owns the grammar. Which versions there are is handed in; nothing here asks an index or the disk.

    keras==3.12.4                    one release, which is always tried
    keras>=3.10,<=3.15.1             a range, as in a requirement; a part that begins with an operator goes on with it
    keras==3.12.*                    likewise
    keras==3.10..3.15                both ends included: from 3.10.0 to the last 3.15.x
    keras                            all of a package;  all: all of every package
    keras>=3.14/jax                  on a backend, or on a device
    ../keras#COMMIT, keras-nightly   a tree by its place, or tonight's wheel, as for --subject

Items are separated by commas, semicolons or blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.subject import BACKENDS, NIGHTLY, Package, Subject, UnknownSubjectError

PACKAGES = tuple(BACKENDS)
ALL = "all"

_OPERATOR = r"(?:===|==|~=|!=|<=|>=|<|>)"
_ITEM = re.compile(
    rf"(?P<name>[A-Za-z_][\w-]*)(?P<clauses>(?:{_OPERATOR}[^=<>!~/@]*)*)(?P<suffix>(?:/[^/@]*)?(?:@[^@]*)?)"
)
_CLAUSE = re.compile(rf"({_OPERATOR})([^=<>!~/@]*)")
_AROUND = re.compile(rf"\s*({_OPERATOR}|\.\.(?!/))\s*")


class ReleasesError(ValueError):
    """What stands after `--releases` cannot be read; the message names the part and says how to write it."""


class ReleasesWanted(msgspec.Struct, frozen=True):
    """One item. Without `clauses` it is all of the package; `exact` is a version that is asked for by name."""

    text: str
    package: Package
    clauses: str = ""
    exact: str | None = None
    suffix: str = ""

    def takes(self, version: str) -> bool:
        """Whether a version is among those that the item stands for. A pre-release has to be named, and a snapshot."""
        at = Version(version)
        if self.exact is not None:
            return at == Version(self.exact)
        if at.is_prerelease or at.local:
            return False
        return at in SpecifierSet(self.clauses)


def parse(texts: Iterable[str], in_full: Callable[[str], str] = str) -> tuple[ReleasesWanted, ...]:
    """The items of one or several specifications. `in_full` names the snapshot of a tree, and leaves all else."""
    items: list[str] = []
    for text in texts:
        for part in filter(None, re.split(r"[,;\s]+", _AROUND.sub(r"\1", text))):
            if not re.match(_OPERATOR, part):
                items.append(in_full(part))
            elif not items or re.search(r"[/@]", items[-1]):
                raise ReleasesError(f"{part!r}: a range needs its package first, as in keras>=3.10,<=3.15.1/jax")
            else:
                items[-1] += part
    if not items:
        raise ReleasesError("no release is named: write keras==3.12.4, keras>=3.10, keras==3.10..3.15 or all")
    return tuple(dict.fromkeys(wanted for item in items for wanted in _items(item)))


def _items(text: str) -> Iterable[ReleasesWanted]:
    match = _ITEM.fullmatch(text)
    if match is None:
        hint = "; write each release with its package" if re.match(r"\d", text) else ""
        raise ReleasesError(f"{text!r} is neither a release nor a range{hint}, as in keras==3.12.4 or keras>=3.10")
    name, clauses, suffix = match["name"], match["clauses"], match["suffix"]
    if name == NIGHTLY and clauses.startswith("=="):
        name = "keras"
    if name == ALL and not clauses and not suffix:
        for package in PACKAGES:
            yield ReleasesWanted(text, cast("Package", package))
        return
    if name not in PACKAGES:
        raise ReleasesError(f"{text!r}: unknown package {name!r}: choose {', '.join(PACKAGES)} or {ALL}")
    package = cast("Package", name)
    parts = _CLAUSE.findall(clauses)
    _hold_suffix(text, package, suffix)
    if not parts:
        yield ReleasesWanted(text, package, suffix=suffix)
    elif any(".." in value for _, value in parts):
        first, last = _span(text, parts)
        yield ReleasesWanted(text, package, f">={first},<={last}", suffix=suffix)
        yield ReleasesWanted(text, package, f">={first},=={Version(last).base_version}.*", suffix=suffix)
    elif len(parts) == 1 and parts[0][0] in ("==", "===") and "*" not in parts[0][1]:
        subject = _named(text, f"{package}=={parts[0][1]}{suffix}")
        yield ReleasesWanted(text, package, exact=subject.version, suffix=suffix)
    else:
        joined = ",".join(map("".join, parts))
        try:
            SpecifierSet(joined)
        except InvalidSpecifier as error:
            raise ReleasesError(f"{text!r}: {error}; write a range as in a requirement: keras>=3.10,<3.15") from None
        yield ReleasesWanted(text, package, clauses=joined, suffix=suffix)


def _span(text: str, parts: Sequence[tuple[str, str]]) -> tuple[str, str]:
    first, dots, last = parts[0][1].partition("..")
    try:
        if len(parts) != 1 or parts[0][0] != "==" or not dots or Version(first) > Version(last):
            raise InvalidVersion
    except InvalidVersion:
        raise ReleasesError(f"{text!r}: write a range from one version up to another: keras==3.10..3.15") from None
    return Version(first).public, Version(last).public  # a range with a local part is none to `packaging`


def _hold_suffix(text: str, package: str, suffix: str) -> None:
    """A backend and a device are held against those that there are, by a release that any package has."""
    if suffix:
        _named(text, f"{'tensorflow==2.15.0' if package == 'tensorflow' else package}{suffix}")


def _named(text: str, spec: str) -> Subject:
    try:
        return Subject.parse(spec)
    except UnknownSubjectError as error:
        message = str(error)
        raise ReleasesError(message if message.startswith(repr(text)) else f"{text!r}: {message}") from None


class ReleaseLine(msgspec.Struct, frozen=True):
    """The releases of one package, on one backend and device, that were asked for, in the order of their versions.

    `named` are those that were asked for by name. `between` are versions that exist and were not asked for; None where
    it is not known which there are.
    """

    subject: Subject
    asked: tuple[str, ...]
    named: frozenset[str] = frozenset()
    between: tuple[str, ...] | None = None

    def at(self, version: str) -> Subject:
        """The subject of a version."""
        return replace(self.subject, version=version)

    def __str__(self) -> str:
        return str(replace(self.subject, version=None))


class VersionsThere(NamedTuple):
    """The versions of a package to choose from, and those that exist; None where that is not known."""

    choice: Sequence[str]
    exist: Sequence[str] | None = None


def lines(items: Sequence[ReleasesWanted], known: Mapping[Package, VersionsThere]) -> tuple[ReleaseLine, ...]:
    """The releases that items stand for, a line for each package, backend and device."""
    grouped: dict[Subject, list[ReleasesWanted]] = {}
    for item in items:
        grouped.setdefault(_base(item), []).append(item)
    found = []
    for base, wanted in grouped.items():
        choice, exist = known.get(base.package, VersionsThere(()))
        spelled = {Version(version): version for version in (*choice, *(exist or ()))}
        for item in wanted:
            if item.exact is not None:
                spelled.setdefault(Version(item.exact), item.exact)
        named = frozenset(spelled[Version(item.exact)] for item in wanted if item.exact is not None)
        taken = set(map(Version, named))
        chosen = [
            version
            for version in choice
            if speaks(base, version) and Version(version) not in taken and any(item.takes(version) for item in wanted)
        ]
        asked = tuple(sorted({*chosen, *named}, key=Version))
        taken.update(map(Version, asked))
        rest = (version for version in exist or () if speaks(base, version) and Version(version) not in taken)
        between = None if exist is None else tuple(version for version in rest if not Version(version).is_prerelease)
        found.append(ReleaseLine(base, asked, named, between))
    return tuple(found)


def _base(item: ReleasesWanted) -> Subject:
    release = "tensorflow==2.15.0" if item.package == "tensorflow" else item.package
    return replace(Subject.parse(release + item.suffix), version=None)


def speaks(base: Subject, version: str) -> bool:
    """Whether a version is one that clonediff can be asked for at all, on that backend."""
    suffix = "" if base.backend == BACKENDS[base.package][0] else f"/{base.backend}"
    try:
        Subject.parse(f"{base.package}=={version}{suffix}")
    except UnknownSubjectError:
        return False
    return True
