"""How releases are built: each as an entry of the store, and it is seen that what was built starts.

Owns the names of the entries and their manifests; the locks are the caller's.
"""

from __future__ import annotations

import datetime
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from packaging.version import InvalidVersion, Version

from clonediff.harness.subjects.outcomes import ReleaseError, SubjectError, UnusableCodeError
from clonediff.harness.subjects.place import How, ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import installer, store
from clonediff.harness.subjects.releases.interpreters import Interpreter, find, to_get
from clonediff.harness.subjects.releases.requirements import Surroundings, beside, lacking, version_beside, versions_in
from clonediff.harness.subjects.releases.store import Manifest, Say, StartedOn
from clonediff.harness.subjects.releases.table import Stack
from clonediff.harness.subjects.subject import Subject

SITE = "site"
VENV = "venv"


def entry_of(subject: Subject, how: How, stack: Stack | None) -> str:
    """The entry of a release that is had in that way. What stands on our interpreter is told apart by it."""
    name = f"{subject.package}-{Version(subject.version or '0')}"
    if how == "laid over":
        return f"{name}-{store.cache_tag()}"
    if how == "v1 mode":
        return f"{name}-v1-{store.cache_tag()}"
    return name if subject.package == "tensorflow" or stack is None else f"{name}-on-{stack_entry(stack)}"


def stack_entry(stack: Stack, tensorflow: str | None = None) -> str:
    """The entry of a stack, with one of the TensorFlows that it serves."""
    return f"tensorflow-{tensorflow or stack.tensorflow}"


def place_in(folder: Path, manifest: Manifest) -> ReleasePlace:
    """Where an entry is, as a subject's process is started from it."""
    path = tuple(str(folder / each) for each in manifest.path)
    if manifest.python is not None:
        return ReleasePlace(str(folder / manifest.python), path, manifest.how, manifest.versions)
    if manifest.stack is None:
        return ReleasePlace(path=path, how=manifest.how, versions=manifest.versions)
    stack = store.folder_of(manifest.stack)
    below = store.manifest_of(manifest.stack)
    versions = {**(below.versions if below is not None else {}), **manifest.versions}
    return ReleasePlace(str(installer.python_of(stack / VENV)), path, manifest.how, versions)


def lay(
    subject: Subject,
    entry: str,
    how: How,
    say: Say,
    over: Stack | None = None,
    put: Callable[[Path], str] | None = None,
) -> None:
    """Build an entry that is laid over the packages at hand, or over a stack that is installed.

    `put` puts into a folder what is no release of the package index, and says what it did.
    """
    began = time.monotonic()
    say(f"{subject.release}: installing")
    below = None if over is None else store.manifest_of(stack_entry(over))
    if over is None:
        around, python = beside(), None
    else:
        venv = store.folder_of(stack_entry(over)) / VENV
        around = Surroundings.of_stack(venv, over, below.python_version if below else over.python)
        python = str(installer.python_of(venv))
    with store.building(entry) as folder:
        site = folder / SITE
        try:
            by = put(site) if put is not None else installer.put_packages([subject.release], site, python)
            missing, unmet = lacking(site, around)
            while missing:
                say(f"{subject.release}: installing {', '.join(missing)} beside it")
                installer.put_packages(missing, site, python)
                missing, unmet = lacking(site, around)
        except installer.InstallerError as error:
            raise ReleaseError(f"{subject.release}: {error.reason}", None, error.lines) from error
        manifest = Manifest(
            release=subject.release,
            how=how,
            python_version=below.python_version if below is not None else platform.python_version(),
            versions=versions_in(site),
            by=by,
            path=(SITE,),
            stack=None if over is None else stack_entry(over),
            unmet=tuple(unmet),
        )
        checked = (see_start(subject, place_in(folder, manifest), manifest, say),)
        _finish(folder, manifest, checked, began)
    say(f"{subject.release}: installed in {time.monotonic() - began:.1f} s, {how}, in {store.folder_of(entry)}")


def stack_up(stack: Stack, tensorflow: str, subject: Subject, say: Say) -> None:
    """Build the entry of a stack. `subject` is who asks for it: its `tf.keras`, or a Keras that is laid over it."""
    began = time.monotonic()
    interpreter = interpreter_of(stack, subject)
    entry = stack_entry(stack, tensorflow)
    say(
        f"{subject.release}: installing TensorFlow {tensorflow} with Python {interpreter.version}, once: "
        f"about {stack.megabytes} MB and {stack.seconds} s"
    )
    with store.building(entry) as folder:
        venv = folder / VENV
        try:
            by = installer.make_environment(venv, interpreter, [f"{stack.distribution}=={tensorflow}", *stack.pins])
        except installer.InstallerError as error:
            raise ReleaseError(f"{subject.release}: {error.reason}", None, error.lines) from error
        python = installer.python_of(venv)
        manifest = Manifest(
            release=f"tensorflow=={tensorflow}",
            how="own stack",
            python_version=interpreter.version,
            versions=versions_in(venv / "lib" / f"python{stack.python}" / "site-packages"),
            by=by,
            python=str(python.relative_to(folder)),
        )
        checked: tuple[StartedOn, ...] = ()
        if subject.package == "tensorflow":  # what is laid over a stack is started once it is laid
            checked = (see_start(subject, place_in(folder, manifest), manifest, say),)
        _finish(folder, manifest, checked, began)
    say(f"{subject.release}: TensorFlow {tensorflow} installed in {time.monotonic() - began:.1f} s")


def interpreter_of(stack: Stack, subject: Subject) -> Interpreter:
    """The interpreter that a stack wants."""
    found, refused = find(stack.python, alone=installer.uv() is None)
    if found is not None:
        return found
    why = f" ({'; '.join(refused)})" if refused else ""
    raise ReleaseError(
        f"{subject.release}: needs Python {stack.python} for TensorFlow {stack.tensorflow}, and there is none on PATH, "
        f"under pyenv or of uv{why}: {to_get([stack.python])}"
    )


def around_now(subject: Subject, manifest: Manifest) -> StartedOn:
    """On what an entry would be started now."""
    if manifest.stack is not None:
        below = store.manifest_of(manifest.stack)
        return StartedOn(
            manifest.python_version if below is None else below.python_version,
            manifest.stack,
            "tensorflow",
            "gone" if below is None else f"{below.release} of {below.installed}",
        )
    if manifest.python is not None:
        return StartedOn(manifest.python_version, "its own", "tensorflow", manifest.release)
    backend = subject.backend
    return StartedOn(platform.python_version(), sys.prefix, backend, version_beside(backend) or "unknown")


def see_start(subject: Subject, place: ReleasePlace, manifest: Manifest, say: Say) -> StartedOn:
    """Start a release once and see that it is the one that was asked for."""
    now = around_now(subject, manifest)
    on = f"{now.backend} {now.backend_version}" if manifest.how == "laid over" else manifest.how
    plain = msgspec.structs.replace(subject, device="cpu", number=0)
    say(f"{subject.release}: starting it once, {on}")
    try:
        with SubjectProcess(plain, place=place) as process:
            ready = process.ready
    except SubjectError as error:
        what = (
            f"{error.failure.type}: {error.failure.message}"
            if error.failure
            else str(error).partition("\n")[0].removeprefix(f"{plain}: ")
        )
        also = f"; it wants {', '.join(manifest.unmet)}" if manifest.unmet else ""
        said = () if error.failure is not None else error.stderr
        raise UnusableCodeError(
            f"{subject.release}: does not start, {on}: {what.partition(chr(10))[0]}{also}", error.failure, said
        ) from error
    found = ready.backend_version if subject.package == "tensorflow" else ready.keras
    if not _same(found, subject.version or ""):
        raise UnusableCodeError(f"{subject.release}: what starts from {place.path or place.python} is {found}")
    return now


def _same(found: str, wanted: str) -> bool:
    try:
        return Version(found).release[:2] == Version(wanted).release[:2]
    except InvalidVersion:
        return False


def _finish(folder: Path, manifest: Manifest, checked: tuple[StartedOn, ...], began: float) -> None:
    whole = msgspec.structs.replace(
        manifest,
        checked=checked,
        bytes=store.size(folder),
        seconds=round(time.monotonic() - began, 2),
        installed=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        clonediff=store.clonediff_version(),
    )
    store.seal(folder, whole)
