"""Where the code of a subject comes from: a release of the package index, a checkout, a commit, a wheel.

A release is installed, the others are copied, each once, into a folder that goes first on the path of a child:

<cache>/packages/keras-3.12.3-cpython-311/    complete: it has its name only since then
<cache>/packages/.unfinished-...              incomplete; removed by the next process that installs
<cache>/lock                                  for the process that installs

A copy has a version that no other code has, so that whatever reads the version need not know of checkouts:

../keras                          keras==3.16.0+g3422977a5e                   no change since that commit
                                  keras==3.16.0+g3422977a5e.dirty-1c0f2a9b    with changes
../keras#v3.15.0                  keras==3.15.0+g1f3a5c7e9b                   a commit, tag or branch
keras-3.16.0-py3-none-any.whl     keras==3.16.0+wheel-5d81b3e0
keras-nightly                     keras-nightly==3.16.0.dev2026102704         the newest of the index
"""

from __future__ import annotations

import contextlib
import functools
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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.outcomes import ReleaseError, UnusableCodeError
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.presence import missing
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import BACKENDS, DEVICES, NIGHTLY, Subject, UnknownSubjectError, is_snapshot

Say = Callable[[str], None]
Variables = Mapping[str, str]
NO_VARIABLES: Variables = {}

WANTED = "name a checkout of Keras 3, REPOSITORY#COMMIT, or a wheel"
INSTALL_SECONDS, GIT_SECONDS = 3600.0, 300.0  # both may download over a slow network
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
_INSTALLER_VARIABLES = re.compile(
    r"PYTHON(PATH|HOME)|VIRTUAL_ENV|PIP_(TARGET|PREFIX|ROOT|USER|PYTHON|REQUIRE_VIRTUALENV|LOG|QUIET|VERBOSE)"
)
"""Variables that would send an installation elsewhere, or silence it."""


def tell(line: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"clonediff: {line}\n")
    sys.stderr.flush()


def cache() -> Path:
    """The cache folder of the user, or the one that CLONEDIFF_CACHE names."""
    if os.environ.get("CLONEDIFF_CACHE"):
        return Path(os.environ["CLONEDIFF_CACHE"]).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("clonediff")


def place_of(subject: Subject, *, say: Say = tell) -> ReleasePlace:
    """Where the release of a subject is; it is installed first if necessary. A `ReleaseError` says why not."""
    reason = missing(subject)
    if reason is not None:
        raise ReleaseError(reason)
    if subject.version is None:
        return BESIDE
    folder = _folder(_entry(subject))
    if is_snapshot(subject.version) and not folder.is_dir():
        raise ReleaseError(
            f"{subject.release}: is the copy of a tree, and there is none in {cache()}: name the tree, as in "
            "--subject ../keras"
        )
    return ReleasePlace((str(installed(_entry(subject), (subject.release,), say=say)),))


def open_subject(subject: Subject) -> SubjectProcess:
    """The process of a subject; its release is installed first if necessary."""
    return SubjectProcess(subject, place=place_of(subject))


def installed(entry: str, requirements: tuple[str, ...], *, say: Say = tell) -> Path:
    """The folder of that name with these packages, without what they depend on; installed first if necessary."""
    folder = _folder(entry)
    if not folder.is_dir():
        with _writing(say) as unfinished:
            if not folder.is_dir():
                say(f"{requirements[0]}: installing")
                for requirement in requirements:
                    _install(requirement, unfinished)
                unfinished.rename(folder)
    return folder


def in_full(spec: str, say: Say = tell) -> str:
    """The name of a subject that stands for the same code forever: a checkout, commit or wheel is copied first."""
    spec = spec.strip()
    tree, suffix = split(spec)
    if tree == NIGHTLY:
        return f"{NIGHTLY}=={_newest_nightly()}{suffix}"
    if not is_tree(spec):
        return spec
    with _writing(say) as copy:
        version = _write_version(tree, copy, _copy(tree, copy))
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
def _writing(say: Say) -> Iterator[Path]:
    """An empty folder in the cache, to be renamed when it is complete, for one process at a time."""
    from filelock import FileLock, Timeout

    packages = cache() / "packages"
    try:
        packages.mkdir(parents=True, exist_ok=True)
        lock = FileLock(cache() / "lock")
        try:
            acquired = lock.acquire(timeout=0)
        except Timeout:
            say("another process is installing; waiting")
            acquired = lock.acquire()
        with acquired:
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
    # Compiled, because a release is started often and Python may be told to write no bytecode.
    uv = _uv()
    if uv is not None:
        command = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", sys.executable]
    else:
        command = _pip("install", "--quiet", "--no-input", "--prefer-binary", "--compile")
    code, output = _run([*command, "--no-deps", "--target", str(folder), requirement])
    if code:
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


@functools.cache
def _uv() -> str | None:
    """uv, if it works and pip is not configured to use an index of its own, which uv would not ask."""
    uv = shutil.which("uv")
    if uv is None or _run([uv, "--version"])[0]:
        return None
    if {"UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"} & set(os.environ):
        return uv
    settings = _run([sys.executable, "-m", "pip", "config", "list"])[1]
    return None if re.search(r"^[\w:.]+\.(no-)?index(-url)?=", settings, re.MULTILINE) else uv


def _pip(command: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--retries=1", *arguments]


def _run(command: list[str]) -> tuple[int, str]:
    """The exit code of a tool and what it writes."""
    try:
        ended = subprocess.run(
            command,
            env=installer_variables(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return 1, str(error)
    return ended.returncode, ended.stdout


def installer_variables(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of pip and uv: without the variables that would send their work elsewhere."""
    variables = {name: value for name, value in base.items() if not _INSTALLER_VARIABLES.fullmatch(name)}
    return {"UV_HTTP_RETRIES": "1", **variables, "PIP_USER": "0"}


def _copy(tree: str, copy: Path) -> str:
    """Copy the files of a tree; the part of the version that distinguishes it from other code."""
    name, hash_, commit = tree.partition("#")
    path = Path(name).expanduser()
    if not path.exists():
        kind = "file" if name.endswith(".whl") else "folder"
        raise ReleaseError(f"{tree}: there is no {kind} {path.absolute()}: {WANTED}")
    if path.is_file():
        if hash_:
            raise ReleaseError(f"{tree}: is a file, which has no commits: leave #{commit} out")
        return _copy_wheel(tree, path, copy)
    if not hash_ and git(tree, path, "rev-parse", "--is-inside-work-tree") == "false":
        raise ReleaseError(f"{tree}: is a repository without files: name a commit of it, as in {tree}#HEAD")
    subfolder = git(tree, path, "rev-parse", "--show-prefix").rstrip("/")
    if subfolder:
        raise ReleaseError(f"{tree}: is the folder {subfolder} of a checkout: name the folder of the whole")
    if hash_:
        whole = whole_name(tree, path, commit)
        _copy_git_tree(tree, path, whole, copy)
        return f"g{whole[:10]}"
    # A tree object of the files as they are, written beside the repository and not into it.
    mark = f"g{whole_name(tree, path, 'HEAD')[:10]}"
    objects_of_repository = git(tree, path, "rev-parse", "--git-path", "objects")
    with tempfile.TemporaryDirectory(prefix="clonediff-") as objects:
        variables = {
            "GIT_INDEX_FILE": f"{objects}/index",
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(path.resolve() / objects_of_repository),
        }
        git(tree, path, "read-tree", "HEAD", variables=variables)
        if (path / "keras").is_dir():
            git(tree, path, "add", "--all", "--", "keras", variables=variables)
        whole = git(tree, path, "write-tree", variables=variables)
        _copy_git_tree(tree, path, whole, copy, variables)
        unchanged = whole == git(tree, path, "rev-parse", "HEAD^{tree}")
    return mark if unchanged else f"{mark}.dirty-{whole[:8]}"


def _copy_git_tree(tree: str, path: Path, name: str, copy: Path, variables: Variables = NO_VARIABLES) -> None:
    if not git(tree, path, "ls-tree", "--name-only", name, "keras", variables=variables):
        raise _no_version(tree)
    with tempfile.TemporaryFile() as archive:
        git(tree, path, "archive", "--format=tar", name, "keras", to=archive.fileno(), variables=variables)
        archive.seek(0)
        try:
            with tarfile.open(fileobj=archive) as tar:
                tar.extractall(copy, filter="data")
        except tarfile.FilterError as error:
            raise UnusableCodeError(f"{tree}: cannot be copied: {error}: put a file there") from None


def _copy_wheel(tree: str, path: Path, copy: Path) -> str:
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            wheel.extractall(copy)
    except Exception as error:  # a wheel that is truncated, encrypted or compressed otherwise raises many kinds
        if isinstance(error, OSError) and error.errno:
            raise
        raise ReleaseError(f"{tree}: is no wheel: {error}: build it again, or fetch it again") from None
    return f"wheel-{hashlib.blake2b(content, digest_size=4).hexdigest()}"


def _write_version(tree: str, copy: Path, mark: str) -> str:
    """Write the version of a copy into its files, so that the code itself has it."""
    file = copy / _VERSION_FILE
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = _VERSION.search(text)
    if match is None:
        raise _no_version(tree)
    try:
        version = f"{match[1]}{'.' if Version(match[1]).local else '+'}{mark}"
        Subject.parse(f"keras=={version}")
    except InvalidVersion:
        raise UnusableCodeError(f"{tree}: {_VERSION_FILE} says {match[1]!r}, which is not a version") from None
    except UnknownSubjectError as error:
        raise UnusableCodeError(f"{tree}: {error}") from None
    file.write_text(text[: match.start(1)] + version + text[match.end(1) :], encoding="utf-8")
    return version


def _no_version(tree: str) -> UnusableCodeError:
    return UnusableCodeError(
        f"{tree}: has no version in {_VERSION_FILE}: {WANTED}; for code older than that file, a release"
    )


def whole_name(tree: str, folder: Path, name: str) -> str:
    """The forty digits of a commit, a tag or a branch."""
    digits = git(tree, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not digits:
        raise ReleaseError(
            f"{tree}: {folder} has no commit, tag or branch {name!r}: git -C {folder} fetch, or look at "
            f"git -C {folder} log"
        )
    return digits


def merge_base(tree: str, folder: Path, base: str, head: str) -> str:
    """The commit where two branches part."""
    commits = [whole_name(tree, folder, name) for name in (base, head)]
    common = git(tree, folder, "merge-base", *commits)
    if not common:
        raise ReleaseError(
            f"{tree}: {base} and {head} have no commit in common: name two of one history; for a shallow clone, "
            f"git -C {folder} fetch --unshallow"
        )
    return common.split()[0]


def git(
    tree: str, folder: Path, *arguments: str, to: int = subprocess.PIPE, variables: Variables = NO_VARIABLES
) -> str:
    """What git prints in a folder; "" where it fails without a message. `tree` is how the user named the folder."""
    program = shutil.which("git")
    if program is None:
        raise ReleaseError(f"{tree}: git is not on PATH, and a checkout is read with it: install git, or name a wheel")
    # A hook of git sets variables for its own repository. No program that the repository names is run.
    foreign = {name for name in os.environ if name.startswith("GIT_") and name != "GIT_CONFIG_GLOBAL"}
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **variables}
    settings = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false")
    try:
        ended = subprocess.run(
            [program, *settings, "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=to,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReleaseError(f"{tree}: git cannot be run: {error}") from error
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    if ended.returncode and lines:
        reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        raise ReleaseError(f"{tree}: git cannot read {folder}: {reason}: {WANTED}")
    return (ended.stdout or b"").decode(errors="replace").strip()
