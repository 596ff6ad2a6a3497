"""A subject's name: `RELEASE[/BACKEND][@DEVICE]`, what each part may be, and what this machine lacks for it."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Literal, cast

import msgspec
from packaging.version import InvalidVersion, Version

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
_SPEC = re.compile(
    r"(?P<package>[^/@=]+)(?:==(?P<version>[^/@]*))?(?:/(?P<backend>[^/@]*))?"
    r"(?:@(?P<device>cpu|gpu)(?::(?P<number>\d{1,3}))?)?"
)


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
            raise UnknownSubjectError(f"{spec!r}: write RELEASE[/BACKEND][@cpu or @gpu or @gpu:1]; {supported()}")
        package, version, backend, device, number = match.groups()
        if package == NIGHTLY and not is_nightly(version):
            reason = f"{NIGHTLY} has development releases only, such as {NIGHTLY}==3.16.0.dev2026102704"
            raise UnknownSubjectError(f"{spec!r}: {reason}")
        package = "keras" if package == NIGHTLY else package
        if package not in BACKENDS:
            raise UnknownSubjectError(f"{spec!r}: unknown release {package!r}; {supported()}")
        backend = BACKENDS[package][0] if backend is None else backend
        if backend not in BACKENDS[package]:
            choice = ", ".join(BACKENDS[package])
            raise UnknownSubjectError(f"{spec!r}: {package} has no backend {backend!r}, choose one of {choice}")
        if version is not None and (problem := _problem(package, version)):
            raise UnknownSubjectError(f"{spec!r}: {problem}")
        return cls(cast("Package", package), version, backend, device or DEVICES[0], int(number or 0))

    @property
    def generation(self) -> Package:
        """Whose catalogue of kinds, known issues, fixed cloner and spelling of models (`source.DIALECTS`) it has."""
        return self.package

    @property
    def release(self) -> str:
        """The part of its name that says which package in which version."""
        name = NIGHTLY if self.package == "keras" and is_nightly(self.version) else self.package
        return name if self.version is None else f"{name}=={self.version}"

    def __str__(self) -> str:
        """The shortest name that parses to this subject."""
        backend = "" if self.backend == BACKENDS[self.package][0] else f"/{self.backend}"
        device = f"@{self.device}" if (self.device, self.number) != (DEVICES[0], 0) else ""
        return f"{self.release}{backend}{device}{f':{self.number}' if self.number else ''}"


def is_nightly(version: str | None) -> bool:
    """Whether a version is that of a development release of the package index."""
    try:
        parsed = Version(version or "")
    except InvalidVersion:
        return False
    return parsed.is_devrelease and parsed.local is None


def _problem(package: str, text: str) -> str:
    """Why a version of a package cannot be asked for; "" where it can be."""
    if (package, text) == ("keras", EXHIBIT):
        return "only `clonediff fuzz` and `clonediff judge` try this release, and no other beside it"
    try:
        is_old = Version(text) < Version(f"{OLDEST[package]}a0")
    except InvalidVersion:
        return f"{text!r} is not a version: write {package}==3.14.1, say"
    return f"{package} can be asked for from {OLDEST[package]} on; {supported()}" if is_old else ""


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
    names = subprocess.run([command, "-L"], capture_output=True, check=False).stdout if command else b""
    return b"GPU " in names or any(_DRIVER.glob("*"))
