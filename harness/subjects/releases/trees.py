"""A Keras that is no release: a checkout, a commit of a repository, a wheel file, tonight's wheel.

Owns how each is spelled, and what is copied of it. The copy, a snapshot, is an entry of the store like a release, with
a version that no other code has, so that whatever is given its name needs to know nothing of trees:

    ../keras                      keras==3.16.0+g3422977a5e                   nothing was changed since that commit
                                  keras==3.16.0+g3422977a5e.dirty-1c0f2a9b    something was
    ../keras#v3.15.0              keras==3.15.0+g1f3a5c7e9b                   any commit, tag or branch
    keras-3.16.0-py3-none-any.whl keras==3.16.0+wheel-5d81b3e0
    keras-nightly                 keras-nightly==3.16.0.dev2026102704         a release of the index, the newest
"""

from __future__ import annotations

import compileall
import hashlib
import io
import lzma
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.presence import missing
from clonediff.harness.subjects.releases import store
from clonediff.harness.subjects.releases.building import entry_of, lay
from clonediff.harness.subjects.releases.git import WANTED, git, hold_whole, whole_name
from clonediff.harness.subjects.releases.placing import tell
from clonediff.harness.subjects.releases.store import Say
from clonediff.harness.subjects.releases.table import newest_nightly
from clonediff.harness.subjects.subject import BACKENDS, DEVICES, NIGHTLY, Subject, UnknownSubjectError

_SUFFIX = re.compile(
    rf"(?P<tree>.+?)(?P<suffix>(?:/(?:{'|'.join(BACKENDS['keras'])}))?(?:@(?:{'|'.join(DEVICES)})(?::\d{{1,3}})?)?)"
)
_OTHERWISE = re.compile(rf"(?:{'|'.join(BACKENDS)}|all)(?:[/@=<>!~]|$)|[=<>!~]=?\d")
"""What a release or a range of releases begins with."""

_VERSION_FILE = "keras/src/version.py"
_VERSION = re.compile(rb"^__version__ *= *[\"']([^\"']+)[\"']", re.MULTILINE)
_PROJECT = "pyproject.toml"
_UNREADABLE = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError, zlib.error, lzma.LZMAError)
"""What comes of a wheel that is cut, spoilt, encrypted, or compressed in a way of its own."""


class _Project(msgspec.Struct, frozen=True):
    dependencies: tuple[str, ...] = ()


class _ProjectFile(msgspec.Struct, frozen=True):
    project: _Project = _Project()


def is_tree(spec: str) -> bool:
    """Whether a subject is named by where its code is, and not by its release."""
    tree = split(spec)[0]
    return not _OTHERWISE.match(spec) and ("/" in tree or "#" in tree or tree[:1] in ("~", ".") or _is_wheel(tree))


def in_full(spec: str, say: Say = tell) -> str:
    """The name of a subject by which it is the same code for ever; that of a release is as it was.

    The code of a tree is copied into the store first. A `ReleaseError` says what is wrong with it.
    """
    spec = spec.strip()
    tree, suffix = split(spec)
    if tree == NIGHTLY:
        return f"{NIGHTLY}=={newest_nightly()}{suffix}"
    if not is_tree(spec):
        return spec
    files, mark = _files(tree)
    _hold_within(tree, files)
    version = _marked(tree, files, mark)
    subject = Subject.parse(f"keras=={version}{suffix}")
    lacking = missing(subject)
    if lacking is not None:
        raise ReleaseError(lacking)

    def put(site: Path) -> str:
        for name, content in files.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_bytes(content)
        compileall.compile_dir(site, quiet=2, rx=re.compile(r"_test\.py$"))
        return f"a copy of {tree}"

    entry = entry_of(subject, "laid over", None)
    with store.locked(entry, say):
        if store.manifest_of(entry, say) is None:
            lay(subject, entry, "laid over", say, put=put)
    return str(subject)


def split(spec: str) -> tuple[str, str]:
    """What stands before a backend and a device, and these."""
    match = _SUFFIX.fullmatch(spec)
    return (match["tree"], match["suffix"]) if match is not None else (spec, "")


def _is_wheel(tree: str) -> bool:
    return tree.endswith(".whl")


def _files(tree: str) -> tuple[dict[str, bytes], str]:
    """The files of a tree, as they are to lie in a folder to import from, and what tells it from others."""
    name, hash_, commit = tree.partition("#")
    path = Path(name).expanduser()
    if not path.exists():
        what = "file" if _is_wheel(name) else "folder"
        raise ReleaseError(f"{tree}: there is no {what} {path.absolute()}: {WANTED}")
    if path.is_file():
        if hash_:
            raise ReleaseError(f"{tree}: is a file, which has no commits: leave #{commit} out")
        return _of_wheel(tree, path)
    hold_whole(tree, path)
    if hash_:
        return _of_commit(tree, path, commit)
    if not git(tree, path, "status", "--porcelain", "--untracked-files=all", "--", "keras", _PROJECT):
        return _of_commit(tree, path, "HEAD")
    mark = _mark(whole_name(tree, path, "HEAD"))
    listed = git(tree, path, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "keras", _PROJECT)
    try:
        names = [each.decode() for each in listed.split(b"\0")]
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{tree}: has a file whose name is not UTF-8: rename {error.object!r}") from None
    files = {each: (path / each).read_bytes() for each in names if _is_within(tree, path, each)}
    digest = hashlib.blake2b(digest_size=4)
    for each, content in sorted(files.items()):
        digest.update(msgspec.json.encode((each, content)))
    return files, f"{mark}.dirty-{digest.hexdigest()}"


def _is_within(tree: str, folder: Path, name: str) -> bool:
    """Whether there is a file of that name, which may be a link to another one of the same tree."""
    file = folder / name
    if file.is_file() and not file.resolve().is_relative_to(folder.resolve()):
        raise _leaving(tree, name, str(file.resolve()))
    return file.is_file()


def _leaving(tree: str, name: str, target: str) -> UnusableCodeError:
    return UnusableCodeError(f"{tree}: {name} is a link to {target}, which is no part of it: put a file there")


def _hold_within(tree: str, names: Iterable[str]) -> None:
    """Raise where a file would be written outside of the folder that the copy is made in."""
    for name in names:
        its = PurePosixPath(name)
        if its.is_absolute() or ".." in its.parts:
            raise ReleaseError(f"{tree}: has a file {name!r}, which would lie outside of its copy: do not trust it")


def _of_commit(tree: str, path: Path, commit: str) -> tuple[dict[str, bytes], str]:
    whole = whole_name(tree, path, commit)
    names = git(tree, path, "ls-tree", "--name-only", whole, "keras", _PROJECT).decode().split()
    archive = git(tree, path, "archive", "--format=tar", whole, *names) if names else b""
    return _in_archive(tree, archive), _mark(whole)


def _mark(commit: str) -> str:
    """The part of a version that a commit is."""
    return f"g{commit[:10]}"


def _in_archive(tree: str, archive: bytes) -> dict[str, bytes]:
    """The files of an archive; a link to one of them is another file like it, as in a checkout."""
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    if archive:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isfile() else None
                if file is not None:
                    files[member.name] = file.read()
                elif member.issym():
                    links[member.name] = member.linkname
    targets = {name: posixpath.normpath(posixpath.join(posixpath.dirname(name), to)) for name, to in links.items()}
    for name, target in targets.items():
        if target.startswith("/") or target.split("/")[0] == "..":
            raise _leaving(tree, name, links[name])
        for _ in targets:  # a link to a link; those that go round end nowhere
            target = targets.get(target, target)
        if target in files:
            files[name] = files[target]
    return files


def _of_wheel(tree: str, path: Path) -> tuple[dict[str, bytes], str]:
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            files = {each.filename: wheel.read(each) for each in wheel.infolist() if not each.is_dir()}
    except _UNREADABLE as error:
        raise ReleaseError(f"{tree}: is no wheel: {error}: build it again, or fetch it again") from None
    return files, f"wheel-{hashlib.blake2b(content, digest_size=4).hexdigest()}"


def _marked(tree: str, files: dict[str, bytes], mark: str) -> str:
    """The version of a tree, written into its files, so that all that asks the code for it is told the whole."""
    text = files.get(_VERSION_FILE, b"")
    match = _VERSION.search(text)
    if match is None:
        theirs = next((each.partition("-")[0] for each in files if ".dist-info/" in each), "")
        of = f" (it is one of {theirs})" if theirs else ""
        raise UnusableCodeError(
            f"{tree}: has no version in {_VERSION_FILE}{of}: {WANTED}; of what is older than that file, a release"
        )
    own = match[1].decode(errors="replace")
    try:
        version = f"{own}{'.' if Version(own).local else '+'}{mark}"
    except InvalidVersion:
        raise UnusableCodeError(f"{tree}: {_VERSION_FILE} says {own!r}, which is not a version") from None
    try:
        Subject.parse(f"keras=={version}")
    except UnknownSubjectError as error:
        raise UnusableCodeError(f"{tree}: {error}") from None
    start, end = match.span(1)
    files[_VERSION_FILE] = text[:start] + version.encode() + text[end:]
    if not any(".dist-info/" in each for each in files):
        wants = _dependencies(tree, files.pop(_PROJECT, b""))
        about = [
            "Metadata-Version: 2.1",
            "Name: keras",
            f"Version: {version}",
            *(f"Requires-Dist: {it}" for it in wants),
        ]
        files[f"keras-{version}.dist-info/METADATA"] = "\n".join((*about, "")).encode()
    return version


def _dependencies(tree: str, project: bytes) -> tuple[Requirement, ...]:
    try:
        wants = msgspec.toml.decode(project, type=_ProjectFile).project.dependencies
        return tuple(map(Requirement, wants))
    except (msgspec.MsgspecError, UnicodeDecodeError, InvalidRequirement) as error:
        said = str(error).partition("\n")[0]
        raise UnusableCodeError(f"{tree}: its dependencies cannot be read in {_PROJECT}: {said}: {WANTED}") from None
