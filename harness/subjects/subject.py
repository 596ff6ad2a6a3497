"""A subject's name: `RELEASE[/BACKEND][@DEVICE]`, what each part may be, and what this machine lacks for it."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import msgspec
from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:  # the strategies bring Hypothesis, for which a command that draws nothing need not wait
    from clonediff.strategies.kinds import Generation

Package = Literal["keras", "tf_keras"]

BACKENDS: dict[str, tuple[str, ...]] = {
    "keras": ("tensorflow", "jax", "torch", "numpy"),
    "tf_keras": ("tensorflow",),
}
"""The backends of each package, the default first."""

OLDEST = {"keras": "3.1", "tf_keras": "2.16"}
"""The oldest series of each package that can be laid over the packages beside clonediff."""

EXHIBIT = "2.2.4"
"""The release of Keras whose bug this project began with. Only its exhibit speaks to it."""

NIGHTLY = "keras-nightly"
"""By this name the package index has the development releases of Keras."""

DEVICES = ("cpu", "gpu")

_DRIVER = Path("/proc/driver/nvidia/gpus")
_SPEC = re.compile(r"(?P<package>[^/@=]+)(?:==(?P<version>[^/@]*))?(?:/(?P<backend>[^/@]*))?(?:@(?P<device>[^/@]*))?")
_DEVICE = re.compile(r"(?P<kind>[a-z]+)(?::(?P<number>\d{1,3}))?")


class UnknownSubjectError(ValueError):
    """A subject that nothing here can be asked for; the message lists those that can."""


class Subject(msgspec.Struct, frozen=True):
    """What is under test. `version` is None for the package that is installed beside clonediff.

    `number` is which device of its kind.
    """

    package: Package
    version: str | None = None
    backend: str = "tensorflow"
    device: str = "cpu"
    number: int = 0

    @classmethod
    def parse(cls, spec: str) -> Subject:
        """The subject of that name: "keras", "keras/jax", "tf_keras@gpu", "keras==3.14.1" ...

        That of a tree, such as "../keras", is made one of these first: `clonediff.harness.subjects.releases.in_full`.
        """
        match = _SPEC.fullmatch(spec.strip())
        if match is None:
            raise UnknownSubjectError(f"{spec!r} is not a subject: write RELEASE[/BACKEND][@DEVICE]; {supported()}")
        package, backend = match["package"], match["backend"]
        if package == NIGHTLY:
            if not _is_nightly("keras", match["version"]):
                raise UnknownSubjectError(
                    f"{spec!r}: {NIGHTLY} has development releases only, such as {NIGHTLY}==3.16.0.dev2026102704"
                )
            package = "keras"
        if package not in BACKENDS:
            raise UnknownSubjectError(f"{spec!r}: unknown release {package!r}; {supported()}")
        version = None if match["version"] is None else _version(spec, package, match["version"])
        backends = BACKENDS[package]
        if backend is not None and backend not in backends:
            raise UnknownSubjectError(
                f"{spec!r}: {package} has no backend {backend!r}, choose one of {', '.join(backends)}; {supported()}"
            )
        device, number = _device(spec, match["device"])
        return cls(cast("Package", package), version, backend or backends[0], device, number)

    @property
    def generation(self) -> Generation:
        """Whose catalogue of kinds, known issues, fixed cloner and spelling of models (`source.DIALECTS`) it has."""
        return self.package

    @property
    def release(self) -> str:
        """The part of its name that says which package in which version."""
        name = NIGHTLY if _is_nightly(self.package, self.version) else self.package
        return name if self.version is None else f"{name}=={self.version}"

    def __str__(self) -> str:
        """The shortest name that parses to this subject."""
        spec = self.release
        if self.backend != BACKENDS[self.package][0]:
            spec += f"/{self.backend}"
        if self.number:
            return f"{spec}@{self.device}:{self.number}"
        return spec if self.device == DEVICES[0] else f"{spec}@{self.device}"


def _is_nightly(package: str, version: str | None) -> bool:
    try:
        its = Version(version or "")
    except InvalidVersion:
        return False
    return package == "keras" and its.is_devrelease and its.local is None


def _version(spec: str, package: str, text: str) -> str:
    try:
        version = Version(text)
    except InvalidVersion:
        raise UnknownSubjectError(f"{spec!r}: {text!r} is not a version: write {package}==3.14.1, say") from None
    if package == "keras" and text.strip() == EXHIBIT:
        raise UnknownSubjectError(
            f"{spec!r}: only `clonediff fuzz` and `clonediff judge` try this release, and no other beside it"
        )
    if version < Version(f"{OLDEST[package]}a0"):
        raise UnknownSubjectError(f"{spec!r}: {package} can be asked for from {OLDEST[package]} on; {supported()}")
    return text.strip()


def _device(spec: str, text: str | None) -> tuple[str, int]:
    if text is None:
        return DEVICES[0], 0
    match = _DEVICE.fullmatch(text)
    if match is None or match["kind"] not in DEVICES:
        raise UnknownSubjectError(f"{spec!r}: unknown device {text!r}, choose one of {', '.join(DEVICES)}, or gpu:1")
    return match["kind"], int(match["number"] or 0)


def supported() -> str:
    """The subjects that can be asked for, as a sentence."""
    names = [f"{package}/{backend}" for package, backends in BACKENDS.items() for backend in backends]
    installed = ", ".join(name.removesuffix("/tensorflow") for name in names)
    return (
        f"supported are {installed}, each with ==VERSION for a release that is not the installed one (Keras from "
        f"{OLDEST['keras']}, tf_keras from {OLDEST['tf_keras']}), and with @cpu (the default) or @gpu; {NIGHTLY}; and "
        "a Keras 3 by its place: ../CHECKOUT, ../REPOSITORY#COMMIT, ./FILE.whl"
    )


def missing(subject: Subject) -> str | None:
    """What this machine lacks for a subject; None where that is known only once the subject has started."""
    # A release is laid over the backend that is installed.
    packages = (subject.package, subject.backend) if subject.version is None else (subject.backend,)
    for package in packages:
        if importlib.util.find_spec(package) is None:
            return f"{subject}: {package} is not installed beside clonediff: pip install {package}"
    if subject.device == "gpu":
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
        if visible.strip() in ("", "-1"):
            return f"{subject}: CUDA_VISIBLE_DEVICES={visible!r} hides every GPU"
        if not has_gpu():
            return f"{subject}: no GPU on this machine: neither nvidia-smi nor {_DRIVER} names one"
    return None


@functools.cache
def has_gpu() -> bool:
    """Whether the NVIDIA driver names a GPU."""
    command = shutil.which("nvidia-smi")
    listed = subprocess.run([command, "-L"], capture_output=True, check=False).stdout if command else b""
    return b"GPU " in listed or any(_DRIVER.glob("*"))
