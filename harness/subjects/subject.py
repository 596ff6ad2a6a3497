"""A subject's name: `RELEASE[/BACKEND][@DEVICE]`, and what each part may be."""

from __future__ import annotations

import re
from typing import cast

import msgspec
from packaging.version import InvalidVersion, Version

from clonediff.strategies.program import Generation

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

_NAME = re.compile(
    r"(?P<package>[^/@=]+)(?:==(?P<version>[^/@]*))?(?:/(?P<backend>[^/@]*))?"
    r"(?:@(?P<device>cpu|gpu)(?::(?P<number>\d{1,3}))?)?"
)


class UnknownSubjectError(ValueError):
    """A subject that nothing here can be asked for; the message lists those that can."""


class Subject(msgspec.Struct, frozen=True):
    """What is under test: a release of the `keras` or `tf_keras` of its generation, a backend, a device.

    `version` is None for the package that is installed beside clonediff. A device is "cpu", "gpu:0", "gpu:1" ...
    """

    generation: Generation
    version: str | None = None
    backend: str = "tensorflow"
    device: str = "cpu"

    @classmethod
    def parse(cls, name: str) -> Subject:
        """The subject of that name: "keras", "keras/jax", "tf_keras@gpu", "keras==3.14.1" ...

        That of a tree, such as "../keras", is made one of these first: `clonediff.harness.subjects.releases.in_full`.
        """
        match = _NAME.fullmatch(name.strip())
        if match is None:
            raise UnknownSubjectError(f"{name!r}: write RELEASE[/BACKEND][@cpu or @gpu or @gpu:1]; {supported()}")
        package, version, backend, device, number = match.groups()
        package = "keras" if package == NIGHTLY and version else package
        if package not in BACKENDS:
            raise UnknownSubjectError(f"{name!r}: unknown release {package!r}; {supported()}")
        backend = BACKENDS[package][0] if backend is None else backend
        if backend not in BACKENDS[package]:
            choice = ", ".join(BACKENDS[package])
            raise UnknownSubjectError(f"{name!r}: {package} has no backend {backend!r}, choose one of {choice}")
        if version is not None and (problem := _problem(package, version)):
            raise UnknownSubjectError(f"{name!r}: {problem}")
        device = f"gpu:{int(number or 0)}" if device == "gpu" else "cpu"
        return cls(cast("Generation", package), version, backend, device)

    @property
    def release(self) -> str:
        """The part of its name that says which package in which version."""
        if self.version is None:
            return self.generation
        version = Version(self.version)
        nightly = self.generation == "keras" and version.is_devrelease and version.local is None
        return f"{NIGHTLY if nightly else self.generation}=={self.version}"

    def __str__(self) -> str:
        """The shortest name that parses to this subject."""
        backend = "" if self.backend == BACKENDS[self.generation][0] else f"/{self.backend}"
        device = "" if self.device == "cpu" else f"@{self.device.removesuffix(':0')}"
        return f"{self.release}{backend}{device}"


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
