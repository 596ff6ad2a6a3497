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
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from clonediff.harness.subjects.environment import BESIDE, Place
from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import BACKENDS, DEVICES, NIGHTLY, Subject, UnknownSubjectError, missing

WANTED = "name a checkout of Keras 3, REPOSITORY#COMMIT, or a wheel"
ADVICE = {
    r"No space left|quota exceeded": "make room, or name another folder in CLONEDIFF_CACHE",
    r"connect|resolve host|name resolution|timed out|proxy": (
        "the package index cannot be reached: check the network, or name a checkout or a wheel"
    ),
    r"No matching distribution|no version of": "name a version that the package index has",
}
"""What to do, by what pip or uv writes."""

_SUFFIX = re.compile(
    rf"(?P<tree>.+?)(?P<suffix>(?:/(?:{'|'.join(BACKENDS['keras'])}))?(?:@(?:{'|'.join(DEVICES)})(?::\d{{1,3}})?)?)"
)
_RELEASE = re.compile(rf"(?:{'|'.join(BACKENDS)})(?:[/@=<>!~]|$)")
_VERSION_FILE = "keras/src/version.py"
_VERSION = re.compile(r"^__version__ *= *[\"']([^\"']+)[\"']", re.MULTILINE)


def cache() -> Path:
    """The cache folder of the user, or the one that CLONEDIFF_CACHE names."""
    if os.environ.get("CLONEDIFF_CACHE"):
        return Path(os.environ["CLONEDIFF_CACHE"]).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("clonediff")


def place_of(subject: Subject) -> Place:
    """Where the release of a subject is; it is installed first if necessary. A `ReleaseError` says why not."""
    reason = missing(subject)
    if reason is not None:
        raise ReleaseError(reason)
    if subject.version is None:
        return BESIDE
    entry = _entry(subject)
    if Version(subject.version).local and not _folder(entry).is_dir():
        raise ReleaseError(
            f"{subject.release}: is the copy of a folder or commit, and there is none in {cache()}: name the folder, "
            "as in --subject ../keras"
        )
    return (str(installed(entry, (subject.release,))),)


def open_subject(subject: Subject) -> SubjectProcess:
    """The process of a subject; its release is installed first if necessary."""
    return SubjectProcess(subject, place=place_of(subject))


def installed(entry: str, requirements: tuple[str, ...]) -> Path:
    """The folder of that name with these packages, without what they depend on; installed first if necessary."""
    folder = _folder(entry)
    if not folder.is_dir():
        with _writing() as unfinished:
            if not folder.is_dir():
                sys.stderr.write(f"clonediff: {requirements[0]}: installing\n")
                for requirement in requirements:
                    _install(requirement, unfinished)
                unfinished.rename(folder)
    return folder


def in_full(spec: str) -> str:
    """The name of a subject by which it is the same code for ever; code that is no release is copied."""
    tree, suffix = split(spec.strip())
    if tree == NIGHTLY:
        return str(Subject.parse(f"{NIGHTLY}=={_newest_nightly()}{suffix}"))
    if not is_tree(spec.strip()):
        return spec
    with _writing() as copy:
        version = _copy(tree, copy)
        subject = Subject.parse(f"keras=={version}{suffix}")
        reason = missing(subject)
        if reason is not None:
            raise ReleaseError(reason)
        folder = _folder(_entry(subject))
        if not folder.is_dir():
            copy.rename(folder)
    return str(subject)


def is_tree(spec: str) -> bool:
    """Whether a subject is named by where its code is, and not by its release."""
    tree = split(spec)[0]
    is_path = "/" in tree or "#" in tree or tree.startswith(("~", ".")) or tree.endswith(".whl")
    return is_path and not _RELEASE.match(spec)


def split(spec: str) -> tuple[str, str]:
    """The name of the code, and the backend and device behind it."""
    match = _SUFFIX.fullmatch(spec)
    return (match["tree"], match["suffix"]) if match is not None else (spec, "")


def _entry(subject: Subject) -> str:
    return f"{subject.package}-{Version(subject.version or '0')}-{sys.implementation.cache_tag}"


def _folder(entry: str) -> Path:
    return cache() / "packages" / entry


@contextlib.contextmanager
def _writing() -> Iterator[Path]:
    """An empty folder in the cache, to be renamed when it is complete, for one process at a time."""
    from filelock import FileLock

    packages = cache() / "packages"
    try:
        packages.mkdir(parents=True, exist_ok=True)
        with FileLock(cache() / "lock"):
            for leftover in packages.glob(".*"):
                shutil.rmtree(leftover, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=packages))
            try:
                folder.chmod(0o755)
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise ReleaseError(
            f"{error.filename or cache()}: {error.strerror or error}: make room or give access, or name another folder "
            "in CLONEDIFF_CACHE"
        ) from error


def _install(requirement: str, folder: Path) -> None:
    """Install a package with uv, if it is there and finds the package, or else with pip."""
    # Compiled, because a release is started often and Python may be told to write no bytecode.
    commands = [_pip("install", "--quiet", "--no-input", "--prefer-binary", "--compile")]
    if uv := shutil.which("uv"):
        commands.insert(0, [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", sys.executable])
    for command in commands:
        code, output = _run([*command, "--no-deps", "--target", str(folder), requirement])
        if code == 0:
            return
    raise ReleaseError(f"{requirement}: cannot be installed: {_reason(output)}")


def _newest_nightly() -> str:
    code, output = _run(_pip("index", "versions", NIGHTLY, "--pre"))
    for line in output.splitlines() if code == 0 else ():
        if line.startswith("Available versions:"):
            return max((version.strip() for version in line.partition(":")[2].split(",")), key=Version)
    raise ReleaseError(
        f"{NIGHTLY}: pip does not say which releases there are: {_reason(output)}; or name one, such as "
        f"{NIGHTLY}==3.16.0.dev2026102704"
    )


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["it wrote nothing"]
    advice = (advice for pattern, advice in ADVICE.items() if re.search(pattern, output, re.IGNORECASE))
    return f"{textwrap.shorten(lines[-1], 160)}: {next(advice, 'run pip to see why')}"


def _pip(command: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--retries=1", *arguments]


def _run(command: list[str]) -> tuple[int, str]:
    """The exit code of pip or uv, and what it writes."""
    variables = {"UV_HTTP_RETRIES": "1", **os.environ, "PIP_USER": "0"}
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def _copy(tree: str, copy: Path) -> str:
    """Copy a folder, a commit or a wheel of Keras, and give the copy a version of its own, which is returned."""
    name, is_commit, commit = tree.partition("#")
    path = Path(name).expanduser()
    if not path.exists():
        kind = "file" if name.endswith(".whl") else "folder"
        raise ReleaseError(f"{tree}: there is no {kind} {path.absolute()}: {WANTED}")
    if not is_commit and (path / ".git").exists() and not _git(tree, path, "status", "--porcelain", "--", "keras"):
        commit = "HEAD"
    if commit:
        commit = whole_name(tree, path, commit)
    try:
        if commit:
            with tarfile.open(fileobj=io.BytesIO(_git(tree, path, "archive", commit))) as tar:
                members = [member for member in tar if member.name.startswith("keras/")]
                tar.extractall(copy, members, filter="data")
        elif path.is_file():
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(copy)
        elif (path / _VERSION_FILE).is_file():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path / "keras", copy / "keras", ignore=ignored, ignore_dangling_symlinks=True)
    except Exception as error:  # an archive that is truncated, encrypted or compressed otherwise raises many kinds
        if isinstance(error, OSError) and error.errno:
            raise
        raise UnusableCodeError(f"{tree}: cannot be copied: {error}: {WANTED}") from None
    file = copy / _VERSION_FILE
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = _VERSION.search(text)
    if match is None:
        raise UnusableCodeError(f"{tree}: has no version in {_VERSION_FILE}: {WANTED}")
    mark = f"g{commit[:10]}" if commit else f"tree-{_digest(copy)}"
    version = f"{match[1].partition('+')[0]}+{mark}"
    try:
        Subject.parse(f"keras=={version}")
    except UnknownSubjectError as error:
        raise UnusableCodeError(f"{tree}: {error}") from None
    file.write_text(text[: match.start(1)] + version + text[match.end(1) :], encoding="utf-8")
    return version


def _digest(folder: Path) -> str:
    """Eight digits that no other files have."""
    digest = hashlib.blake2b(digest_size=4)
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def whole_name(tree: str, folder: Path, name: str) -> str:
    """The forty digits of a commit, a tag or a branch."""
    digits = _git(tree, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not digits:
        raise ReleaseError(f"{tree}: {folder} has no commit, tag or branch {name!r}: try git -C {folder} fetch")
    return digits.decode().strip()


def merge_base(tree: str, folder: Path, base: str, head: str) -> str:
    """The commit where two branches part."""
    commits = [whole_name(tree, folder, name) for name in (base, head)]
    common = _git(tree, folder, "merge-base", *commits)
    if not common:
        raise ReleaseError(f"{tree}: {base} and {head} have no commit in common: name two of one history")
    return common.decode().strip()


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
