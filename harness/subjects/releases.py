"""Finds or installs the code of a subject: a release, folder, commit or wheel.

The code is installed once, under a lock, into a folder of the cache, such as keras-3.12.3-cpython-311, and comes first
on the path of a child. Code that is not a release is copied, and gets a unique version, constant during a
run:

../keras#v3.15.0                  keras==3.15.0+g1f3a5c7e9b              a commit, tag or branch
../keras                          keras==3.16.0+g3422977a5e              the commit, if the folder is as committed
                                  keras==3.16.0+tree-1c0f2a9b            otherwise a hash of the files
keras-3.16.0-py3-none-any.whl     keras==3.16.0+tree-5d81b3e0
keras-nightly                     keras-nightly==3.16.0.dev2026102704    the newest in the index
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

from clonediff.harness.subjects.environment import DEFAULT_SEARCH_PATH, SearchPath
from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.subject import BACKENDS, NIGHTLY, Subject, UnknownSubjectError

_SOURCE_ADVICE = "name a checkout of Keras 3, REPOSITORY#COMMIT, or a wheel"
_ADVICE = {
    r"No space left|quota exceeded": "free up disk space, or name another folder in CLONEDIFF_CACHE",
    r"connect|resolve host|name resolution|timed out|proxy": (
        "the package index cannot be reached: check the network, or name a checkout or a wheel"
    ),
    r"No matching distribution|no version of": "name a version that the package index has",
}
"""What to do, by a pattern of the output of pip or uv."""

MAX_FOLDERS = 40
"""How many releases the cache keeps, at about ten megabytes each."""

_NAME = re.compile(rf"(.+?)((?:/(?:{'|'.join(BACKENDS['keras'])}))?(?:@[cg]pu(?::\d{{1,3}})?)?)")
_RELEASE = re.compile(rf"(?:{'|'.join(BACKENDS)})(?:[/@=<>!~]|$)")
_VERSION_FILE = "keras/src/version.py"
_VERSION = re.compile(r"^__version__ *= *[\"']([^\"']+)[\"']", re.MULTILINE)


def cache() -> Path:
    """The cache folder: CLONEDIFF_CACHE, or the default for the user."""
    if os.environ.get("CLONEDIFF_CACHE"):
        return Path(os.environ["CLONEDIFF_CACHE"]).expanduser().absolute()
    return platformdirs.user_cache_path("clonediff")


def search_path_of(subject: Subject) -> SearchPath:
    """Return the search path of a subject. Install the release if necessary."""
    # Every release runs on the installed backend.
    packages = (subject.generation, subject.backend) if subject.version is None else (subject.backend,)
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise ReleaseError(f"{subject}: {package} is not installed: pip install {package}")
    if subject.version is None:
        return DEFAULT_SEARCH_PATH
    folder = _cached_folder(subject)
    if Version(subject.version).local and not folder.is_dir():
        raise ReleaseError(
            f"{subject.release}: was copied from a folder or commit, but {cache()} no longer has the copy: name the "
            "folder again, as in --subject ../keras"
        )
    return (str(install_packages(folder.name, (subject.release,))),)


def install_packages(name: str, requirements: tuple[str, ...]) -> Path:
    """Return a cache folder. If it is new, install packages without dependencies."""
    folder = cache() / "packages" / name
    if not folder.is_dir():
        with _new_folder() as unfinished:
            if not folder.is_dir():
                for requirement in requirements:
                    _install(requirement, unfinished)
                unfinished.rename(folder)
    os.utime(folder)  # mark it as used
    return folder


def pin(name: str) -> str:
    """Return a name that always means the same code. Copy code that is no release."""
    source, suffix = split_suffix(name.strip())
    is_path = "/" in source or "#" in source or source.startswith(("~", ".")) or source.endswith(".whl")
    if source != NIGHTLY and (not is_path or _RELEASE.match(source)):
        return name
    with _new_folder() as copy:
        subject = Subject.parse(f"keras=={_copy_source(source, copy)}{suffix}")
        if not _cached_folder(subject).is_dir():
            copy.rename(_cached_folder(subject))
    return str(subject)


def split_suffix(name: str) -> tuple[str, str]:
    """Split a name into the release or path, and backend and device."""
    match = _NAME.fullmatch(name)
    return (match[1], match[2]) if match is not None else (name, "")


def _cached_folder(subject: Subject) -> Path:
    name = f"{subject.generation}-{Version(subject.version or '0')}-{sys.implementation.cache_tag}"
    return cache() / "packages" / name


@contextlib.contextmanager
def _new_folder() -> Iterator[Path]:
    """Make a cache folder for the caller to rename. Other processes wait until then."""
    from filelock import FileLock

    packages = cache() / "packages"
    try:
        packages.mkdir(parents=True, exist_ok=True)
        with FileLock(cache() / "lock"):
            folders = sorted(packages.glob("[!.]*"), key=os.path.getmtime, reverse=True)
            for folder in (*packages.glob(".*"), *folders[MAX_FOLDERS - 1 :]):
                shutil.rmtree(folder, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=packages))
            try:
                folder.chmod(0o755)
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        reason = f"{error.filename or cache()}: {error.strerror or error}"
        raise ReleaseError(
            f"{reason}: free disk space, make it writable, or set CLONEDIFF_CACHE to a folder"
        ) from error


def _install(requirement: str, folder: Path) -> None:
    """Install a package into a folder with pip, or with uv if there is no pip."""
    sys.stderr.write(f"clonediff: {requirement}: installing\n")
    # Compile to bytecode: releases are imported often.
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--retries=1"]
    command += ["--prefer-binary", "--compile"]
    if importlib.util.find_spec("pip") is None:
        command = ["uv", "pip", "install", "--compile-bytecode", "--python", sys.executable]
    command += ["--quiet", "--no-deps", "--target", str(folder), requirement]
    variables = {"UV_HTTP_RETRIES": "1", **os.environ, "PIP_USER": "0"}
    try:
        result = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ReleaseError(f"{requirement}: cannot be installed: neither pip nor uv was found: install pip") from None
    if result.returncode:
        output = result.stdout + result.stderr
        lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
        advice = (advice for pattern, advice in _ADVICE.items() if re.search(pattern, output, re.IGNORECASE))
        reason = f"{textwrap.shorten(lines[-1], 160)}: {next(advice, 'run pip to see why')}"
        raise ReleaseError(f"{requirement}: cannot be installed: {reason}")


def _copy_source(source: str, copy: Path) -> str:
    """Copy a folder, commit, wheel or nightly release. Return the new version."""
    name, separator, commit = source.partition("#")
    path = Path(name).expanduser()
    if source == NIGHTLY:
        _install(NIGHTLY, copy)
    elif not path.exists():
        raise ReleaseError(f"{source}: there is no file or folder {path.absolute()}: {_SOURCE_ADVICE}")
    elif path.suffix == ".whl":
        _install(str(path.absolute()), copy)
    else:
        if (
            not separator
            and (path / ".git").exists()
            and not _git(source, path, "status", "--porcelain", "--", "keras")
        ):
            commit = "HEAD"
        if commit:
            commit = _commit_hash(source, path, commit)
        try:
            if commit:
                with tarfile.open(fileobj=io.BytesIO(_git(source, path, "archive", commit))) as tar:
                    members = [member for member in tar if member.name.startswith("keras/")]
                    if links := [member.name for member in members if member.issym()]:
                        raise tarfile.TarError(f"{links[0]} is a link")
                    tar.extractall(copy, members)
            elif (path / _VERSION_FILE).is_file():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path / "keras", copy / "keras", ignore=ignored, ignore_dangling_symlinks=True)
        except (shutil.Error, tarfile.TarError) as error:
            raise UnusableCodeError(f"{source}: cannot be copied: {error}: {_SOURCE_ADVICE}") from None
    file = copy / _VERSION_FILE
    if file.is_file() and not (copy / "keras" / "__init__.py").is_file():
        raise UnusableCodeError(f"{source}: has no keras/__init__.py, so it cannot be imported: {_SOURCE_ADVICE}")
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = _VERSION.search(text)
    if match is None:
        raise UnusableCodeError(f"{source}: has no version in {_VERSION_FILE}: {_SOURCE_ADVICE}")
    if source == NIGHTLY:
        return match[1]
    local = f"g{commit[:10]}" if commit else f"tree-{_digest(copy / 'keras')}"
    version = f"{match[1].partition('+')[0]}+{local}"
    try:
        Subject.parse(f"keras=={version}")
    except UnknownSubjectError as error:
        raise UnusableCodeError(f"{source}: {error}") from None
    file.write_text(text[: match.start(1)] + version + text[match.end(1) :], encoding="utf-8")
    return version


def _digest(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=4)
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"):
        digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def subjects_of_change(repo: str, base: str, head: str | None) -> tuple[Subject, Subject]:
    """The subjects before and after a change: merge base, then `head` or the folder."""
    source, suffix = split_suffix(repo.strip())
    folder = Path(source).expanduser().absolute()
    if not folder.is_dir():
        raise UnknownSubjectError(f"--repo {repo}: there is no folder {folder}: name a checkout of Keras 3")
    names = base, head or "HEAD"
    commits = [_commit_hash(source, folder, name) for name in names]
    merge_base = _git(source, folder, "merge-base", *commits).decode().strip()
    if not merge_base:
        raise ReleaseError(f"{source}: {' and '.join(names)} share no commit: name two commits with a shared history")
    if not suffix.startswith("/"):  # else a part of a branch's name could become the backend
        suffix = f"/{BACKENDS['keras'][0]}{suffix}"
    sources = (f"{folder}#{merge_base}", f"{folder}#{commits[1]}" if head else str(folder))
    before, after = (Subject.parse(pin(f"{name}{suffix}")) for name in sources)
    if before == after:
        raise UnknownSubjectError(f"{head or repo} does not differ from {base} (both are {after}): name another commit")
    return before, after


def _commit_hash(source: str, folder: Path, name: str) -> str:
    commit = _git(source, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not commit:
        raise ReleaseError(f"{source}: {folder} has no commit, tag or branch {name!r}: try git -C {folder} fetch")
    return commit.decode().strip()


def _git(source: str, folder: Path, *arguments: str) -> bytes:
    """The output of git in a folder. Errors name the folder as `source`."""
    # Remove the variables that git sets for a hook.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *arguments]
    try:
        result = subprocess.run(command, env={**variables, "LC_ALL": "C"}, capture_output=True, check=False)
    except OSError:
        raise ReleaseError(f"{source}: git is not on PATH: install git, or name a folder or a wheel") from None
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    if result.returncode and lines:
        reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        raise ReleaseError(f"{source}: git cannot read {folder}: {reason}: {_SOURCE_ADVICE}")
    return result.stdout
