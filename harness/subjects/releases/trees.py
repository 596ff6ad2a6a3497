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

import hashlib
import io
import lzma
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path

from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.presence import missing
from clonediff.harness.subjects.releases import store
from clonediff.harness.subjects.releases.git import WANTED, git, hold_whole, whole_name
from clonediff.harness.subjects.releases.installer import newest_nightly
from clonediff.harness.subjects.releases.store import Say, tell
from clonediff.harness.subjects.subject import BACKENDS, DEVICES, NIGHTLY, Subject, UnknownSubjectError

_SUFFIX = re.compile(
    rf"(?P<tree>.+?)(?P<suffix>(?:/(?:{'|'.join(BACKENDS['keras'])}))?(?:@(?:{'|'.join(DEVICES)})(?::\d{{1,3}})?)?)"
)
_OTHERWISE = re.compile(rf"(?:{'|'.join(BACKENDS)})(?:[/@=<>!~]|$)")
"""What the name of a release begins with."""

_VERSION_FILE = "keras/src/version.py"
_VERSION = re.compile(r"^__version__ *= *[\"']([^\"']+)[\"']", re.MULTILINE)
_UNREADABLE = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError, zlib.error, lzma.LZMAError)
"""What comes of a wheel that is cut, spoilt, encrypted, or compressed in a way of its own."""


def is_tree(spec: str) -> bool:
    """Whether a subject is named by where its code is, and not by its release."""
    tree = split(spec)[0]
    return not _OTHERWISE.match(spec) and ("/" in tree or "#" in tree or tree[:1] in ("~", ".") or _is_wheel(tree))


def split(spec: str) -> tuple[str, str]:
    """What stands before a backend and a device, and these."""
    match = _SUFFIX.fullmatch(spec)
    return (match["tree"], match["suffix"]) if match is not None else (spec, "")


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
    with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        copy = Path(folder)
        version = _marked(tree, copy, _put(tree, copy))
        subject = Subject.parse(f"keras=={version}{suffix}")
        reason = missing(subject)
        if reason is not None:
            raise ReleaseError(reason)
        entry = store.entry_of(subject)
        with store.locked(entry, say):
            if not store.folder_of(entry).is_dir():
                with store.building(entry) as unfinished:
                    shutil.copytree(copy, unfinished, symlinks=True, dirs_exist_ok=True)
    return str(subject)


def _is_wheel(tree: str) -> bool:
    return tree.endswith(".whl")


def _put(tree: str, copy: Path) -> str:
    """Put the files of a tree into a folder to import from; what tells it from others."""
    name, hash_, commit = tree.partition("#")
    path = Path(name).expanduser()
    if not path.exists():
        what = "file" if _is_wheel(name) else "folder"
        raise ReleaseError(f"{tree}: there is no {what} {path.absolute()}: {WANTED}")
    if path.is_file():
        if hash_:
            raise ReleaseError(f"{tree}: is a file, which has no commits: leave #{commit} out")
        return _put_wheel(tree, path, copy)
    hold_whole(tree, path)
    if hash_:
        return _put_commit(tree, path, commit, copy)
    if not git(tree, path, "status", "--porcelain", "--untracked-files=all", "--", "keras"):
        return _put_commit(tree, path, "HEAD", copy)
    digest = hashlib.blake2b(digest_size=4)
    listed = git(tree, path, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "keras")
    for file in sorted(listed.decode(errors="surrogateescape").split("\0")):
        if (path / file).is_file():
            if not (path / file).resolve().is_relative_to(path.resolve()):
                raise UnusableCodeError(f"{tree}: {file} is a link that leaves it: put a file there")
            content = (path / file).read_bytes()
            digest.update(file.encode(errors="surrogateescape") + b"\0%d\0" % len(content) + content)
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            (copy / file).write_bytes(content)
    return f"{_mark(whole_name(tree, path, 'HEAD'))}.dirty-{digest.hexdigest()}"


def _put_commit(tree: str, path: Path, commit: str, copy: Path) -> str:
    whole = whole_name(tree, path, commit)
    if git(tree, path, "ls-tree", "--name-only", whole, "keras"):
        archive = git(tree, path, "archive", "--format=tar", whole, "keras")
        try:
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(copy, filter="data")
        except tarfile.FilterError as error:
            raise UnusableCodeError(f"{tree}: cannot be copied: {error}") from None
    return _mark(whole)


def _mark(commit: str) -> str:
    """The part of a version that a commit is."""
    return f"g{commit[:10]}"


def _put_wheel(tree: str, path: Path, copy: Path) -> str:
    try:
        content = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            wheel.extractall(copy)
    except _UNREADABLE as error:
        raise ReleaseError(f"{tree}: is no wheel: {error}: build it again, or fetch it again") from None
    return f"wheel-{hashlib.blake2b(content, digest_size=4).hexdigest()}"


def _marked(tree: str, copy: Path, mark: str) -> str:
    """The version of a tree, written into its files, so that all that asks the code for it is told the whole."""
    file = copy / _VERSION_FILE
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = _VERSION.search(text)
    if match is None:
        raise UnusableCodeError(
            f"{tree}: has no version in {_VERSION_FILE}: {WANTED}; of what is older than that file, a release"
        )
    try:
        version = f"{match[1]}{'.' if Version(match[1]).local else '+'}{mark}"
    except InvalidVersion:
        raise UnusableCodeError(f"{tree}: {_VERSION_FILE} says {match[1]!r}, which is not a version") from None
    try:
        Subject.parse(f"keras=={version}")
    except UnknownSubjectError as error:
        raise UnusableCodeError(f"{tree}: {error}") from None
    file.write_text(text[: match.start(1)] + version + text[match.end(1) :], encoding="utf-8")
    return version
