"""Where the code of a subject comes from: a release of the package index, a folder, a commit, a wheel.

Each is put once, under a lock, into a folder of the cache, which has its name, such as keras-3.12.3-cpython-311, only
when it is complete, and goes first on the path of a child. What is no release gets a version that no other code has, so
that whatever reads the version need not know of folders, and so that a run tries the same code to its end:

../keras#v3.15.0                  keras==3.15.0+g1f3a5c7e9b              a commit, tag or branch
../keras                          keras==3.16.0+g3422977a5e              the commit, if the folder is as committed
                                  keras==3.16.0+tree-1c0f2a9b            or else by what is in its files
keras-3.16.0-py3-none-any.whl     keras==3.16.0+tree-5d81b3e0
keras-nightly                     keras-nightly==3.16.0.dev2026102704    the newest of the index
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import platformdirs
from packaging.version import Version

from clonediff.harness.subjects.environment import BESIDE, Place
from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.subject import BACKENDS, NIGHTLY, Subject, UnknownSubjectError

WANTED = "name a checkout of Keras 3, REPOSITORY#COMMIT, or a wheel"
ADVICE = {
    r"No space left|quota exceeded": "make room, or name another folder in CLONEDIFF_CACHE",
    r"connect|resolve host|name resolution|timed out|proxy": (
        "the package index cannot be reached: check the network, or name a checkout or a wheel"
    ),
    r"No matching distribution|no version of": "name a version that the package index has",
}
"""What to do, by what pip or uv writes."""

MOST = 40
"""The folders of the cache: as many releases as were used last, of some ten megabytes each."""

_TREE = re.compile(rf"(.+?)((?:/(?:{'|'.join(BACKENDS['keras'])}))?(?:@[cg]pu(?::\d{{1,3}})?)?)")
_RELEASE = re.compile(rf"(?:{'|'.join(BACKENDS)})(?:[/@=<>!~]|$)")
_VERSION_FILE = "keras/src/version.py"
_VERSION = re.compile(r"^__version__ *= *[\"']([^\"']+)[\"']", re.MULTILINE)


def cache() -> Path:
    """The cache folder of the user, or the one that CLONEDIFF_CACHE names."""
    if os.environ.get("CLONEDIFF_CACHE"):
        return Path(os.environ["CLONEDIFF_CACHE"]).expanduser().absolute()
    return platformdirs.user_cache_path("clonediff")


def _refuse_missing(subject: Subject) -> None:
    """Raise where a subject lacks a package beside clonediff."""
    # A release is laid over the backend that is installed.
    packages = (subject.generation, subject.backend) if subject.version is None else (subject.backend,)
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise ReleaseError(f"{subject}: {package} is not installed beside clonediff: pip install {package}")


def place_of(subject: Subject) -> Place:
    """Where the release of a subject is; it is installed first if necessary. A `ReleaseError` says why not."""
    _refuse_missing(subject)
    if subject.version is None:
        return BESIDE
    folder = _folder(subject)
    if Version(subject.version).local and not folder.is_dir():
        raise ReleaseError(
            f"{subject.release}: is the copy of a folder or commit, and there is none in {cache()}: name the folder, "
            "as in --subject ../keras"
        )
    return (str(installed(folder.name, (subject.release,))),)


def installed(name: str, requirements: tuple[str, ...]) -> Path:
    """The folder of that name with these packages, without what they depend on; installed first if necessary."""
    folder = cache() / "packages" / name
    if not folder.is_dir():
        with _writing() as unfinished:
            if not folder.is_dir():
                for requirement in requirements:
                    _install(requirement, unfinished)
                unfinished.rename(folder)
    os.utime(folder)  # it is used
    return folder


def in_full(name: str) -> str:
    """The name of a subject by which it is the same code for ever; code that is no release is copied."""
    tree, suffix = split(name.strip())
    if tree != NIGHTLY and not is_tree(name.strip()):
        return name
    with _writing() as copy:
        subject = Subject.parse(f"keras=={_copied(tree, copy)}{suffix}")
        _refuse_missing(subject)
        if not _folder(subject).is_dir():
            copy.rename(_folder(subject))
    return str(subject)


def is_tree(name: str) -> bool:
    """Whether a subject is named by where its code is, and not by its release."""
    tree = split(name)[0]
    is_path = "/" in tree or "#" in tree or tree.startswith(("~", ".")) or tree.endswith(".whl")
    return is_path and not _RELEASE.match(name)


def split(name: str) -> tuple[str, str]:
    """The name of the code, and the backend and device behind it."""
    match = _TREE.fullmatch(name)
    return (match[1], match[2]) if match is not None else (name, "")


def _folder(subject: Subject) -> Path:
    name = f"{subject.generation}-{Version(subject.version or '0')}-{sys.implementation.cache_tag}"
    return cache() / "packages" / name


@contextlib.contextmanager
def _writing() -> Iterator[Path]:
    """An empty folder in the cache, to be renamed when it is complete, for one process at a time."""
    from filelock import FileLock

    packages = cache() / "packages"
    try:
        packages.mkdir(parents=True, exist_ok=True)
        with FileLock(cache() / "lock"):
            used = sorted(packages.glob("[!.]*"), key=os.path.getmtime, reverse=True)
            for leftover in (*packages.glob(".*"), *used[MOST - 1 :]):
                shutil.rmtree(leftover, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=packages))
            try:
                folder.chmod(0o755)
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        reason = f"{error.filename or cache()}: {error.strerror or error}"
        raise ReleaseError(f"{reason}: make room or give access, or name another folder in CLONEDIFF_CACHE") from error


def _install(requirement: str, folder: Path) -> None:
    """Install a package with pip, or with uv where its environment has no pip."""
    sys.stderr.write(f"clonediff: {requirement}: installing\n")
    # Compiled, because a release is started often and Python may be told to write no bytecode.
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--retries=1"]
    command += ["--prefer-binary", "--compile"]
    if importlib.util.find_spec("pip") is None:
        command = ["uv", "pip", "install", "--compile-bytecode", "--python", sys.executable]
    command += ["--quiet", "--no-deps", "--target", str(folder), requirement]
    variables = {"UV_HTTP_RETRIES": "1", **os.environ, "PIP_USER": "0"}
    try:
        ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ReleaseError(f"{requirement}: cannot be installed: neither pip nor uv is there: install pip") from None
    if ended.returncode:
        output = ended.stdout + ended.stderr
        lines = [line.strip() for line in output.splitlines() if line.strip()] or ["it wrote nothing"]
        advice = (advice for pattern, advice in ADVICE.items() if re.search(pattern, output, re.IGNORECASE))
        reason = f"{textwrap.shorten(lines[-1], 160)}: {next(advice, 'run pip to see why')}"
        raise ReleaseError(f"{requirement}: cannot be installed: {reason}")


def _copied(tree: str, copy: Path) -> str:
    """Copy a folder, a commit, a wheel or tonight's release of Keras; the version that the copy has."""
    name, is_commit, commit = tree.partition("#")
    path = Path(name).expanduser()
    if tree == NIGHTLY:
        _install(NIGHTLY, copy)
    elif not path.exists():
        raise ReleaseError(f"{tree}: there is no file or folder {path.absolute()}: {WANTED}")
    elif path.suffix == ".whl":
        _install(str(path.absolute()), copy)
    else:
        if not is_commit and (path / ".git").exists() and not _git(tree, path, "status", "--porcelain", "--", "keras"):
            commit = "HEAD"
        if commit:
            commit = _commit_of(tree, path, commit)
        try:
            if commit:
                with tarfile.open(fileobj=io.BytesIO(_git(tree, path, "archive", commit))) as tar:
                    tar.extractall(copy, [it for it in tar if it.name.startswith("keras/")], filter="data")
            elif (path / _VERSION_FILE).is_file():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path / "keras", copy / "keras", ignore=ignored, ignore_dangling_symlinks=True)
        except (shutil.Error, tarfile.TarError) as error:
            raise UnusableCodeError(f"{tree}: cannot be copied: {error}: {WANTED}") from None
    file = copy / _VERSION_FILE
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = _VERSION.search(text)
    if match is None:
        raise UnusableCodeError(f"{tree}: has no version in {_VERSION_FILE}: {WANTED}")
    if tree == NIGHTLY:
        return match[1]
    mark = f"g{commit[:10]}" if commit else f"tree-{_digest(copy / 'keras')}"
    version = f"{match[1].partition('+')[0]}+{mark}"
    try:
        Subject.parse(f"keras=={version}")
    except UnknownSubjectError as error:
        raise UnusableCodeError(f"{tree}: {error}") from None
    file.write_text(text[: match.start(1)] + version + text[match.end(1) :], encoding="utf-8")
    return version


def _digest(folder: Path) -> str:
    """Eight digits that no other sources have."""
    digest = hashlib.blake2b(digest_size=4)
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"):
        digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def change_of(repo: str, base: str, head: str | None) -> tuple[Subject, Subject]:
    """The commit where a change of a repository left its base, and the change."""
    tree, suffix = split(repo.strip())
    folder = Path(tree).expanduser().absolute()
    if not folder.is_dir():
        raise UnknownSubjectError(f"--repo {repo}: there is no folder {folder}")
    names = base, head or "HEAD"
    commits = [_commit_of(tree, folder, name) for name in names]
    before = _git(tree, folder, "merge-base", *commits).decode().strip()
    if not before:
        raise ReleaseError(f"{tree}: {' and '.join(names)} have no commit in common: name two of one history")
    after = f"#{commits[1]}" if head else ""
    if not suffix.startswith("/"):  # or else the last part of a name may be taken for a backend
        suffix = f"/{BACKENDS['keras'][0]}{suffix}"
    old, new = (Subject.parse(in_full(f"{folder}{code}{suffix}")) for code in (f"#{before}", after))
    if old == new:
        raise UnknownSubjectError(f"{head or repo} has no change since it left {base}: both are {old}")
    return old, new


def _commit_of(tree: str, folder: Path, name: str) -> str:
    """The forty digits of a commit, a tag or a branch."""
    digits = _git(tree, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not digits:
        raise ReleaseError(f"{tree}: {folder} has no commit, tag or branch {name!r}: try git -C {folder} fetch")
    return digits.decode().strip()


def _git(tree: str, folder: Path, *arguments: str) -> bytes:
    """What git prints in a folder, nothing where it fails silently; `tree` is how the user named the folder."""
    # A hook of git sets variables for its own repository.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *arguments]
    try:
        ended = subprocess.run(command, env={**variables, "LC_ALL": "C"}, capture_output=True, check=False)
    except OSError:
        raise ReleaseError(f"{tree}: git is not on PATH: install git, or name a folder or a wheel") from None
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    if ended.returncode and lines:
        reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        raise ReleaseError(f"{tree}: git cannot read {folder}: {reason}: {WANTED}")
    return ended.stdout
