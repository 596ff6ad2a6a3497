"""Subjects, and their names: `RELEASE[/BACKEND][@DEVICE]`."""

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
"""The oldest series of each package that runs on the installed TensorFlow."""

OLD_KERAS_VERSION = "2.2.4"
"""The version of Keras that `keras_12202` runs. `Subject` does not accept it."""

NIGHTLY = "keras-nightly"
"""The development releases of Keras, as the package index names them."""

_NAME = re.compile(
    r"(?P<package>[^/@=]+)(?:==(?P<version>[^/@]*))?(?:/(?P<backend>[^/@]*))?"
    r"(?:@(?P<device>cpu|gpu)(?::(?P<number>\d{1,3}))?)?"
)


class UnknownSubjectError(ValueError):
    """A name means no subject. The message lists supported names."""


class Subject(msgspec.Struct, frozen=True):
    """A release of `keras` or `tf_keras` under test, with its backend and device.

    `version` is None for the installed package. A device is "cpu", "gpu:0", "gpu:1" ...
    """

    generation: Generation
    version: str | None = None
    backend: str = "tensorflow"
    device: str = "cpu"

    @classmethod
    def parse(cls, name: str) -> Subject:
        """Parse a name: "keras", "keras/jax", "tf_keras@gpu", "keras==3.14.1" ...

        `releases.pin` must convert a path, such as "../keras", first.
        """
        match = _NAME.fullmatch(name.strip())
        if match is None:
            raise UnknownSubjectError(f"{name!r}: write RELEASE[/BACKEND][@cpu or @gpu or @gpu:1]; {list_subjects()}")
        package, version, backend, device, number = match.groups()
        package = "keras" if package == NIGHTLY and version else package
        if package not in BACKENDS:
            raise UnknownSubjectError(f"{name!r}: unknown release {package!r}; {list_subjects()}")
        backend = BACKENDS[package][0] if backend is None else backend
        if backend not in BACKENDS[package]:
            backends = ", ".join(BACKENDS[package])
            raise UnknownSubjectError(f"{name!r}: {package} has no backend {backend!r}: choose one of {backends}")
        if version is not None and (problem := _version_problem(package, version)):
            raise UnknownSubjectError(f"{name!r}: {problem}")
        device = f"gpu:{int(number or 0)}" if device == "gpu" else "cpu"
        return cls(cast("Generation", package), version, backend, device)

    @property
    def release(self) -> str:
        """The name of the package, with `==` and the version unless it is the installed one."""
        if self.version is None:
            return self.generation
        version = Version(self.version)
        is_nightly = self.generation == "keras" and version.is_devrelease and version.local is None
        return f"{NIGHTLY if is_nightly else self.generation}=={self.version}"

    def __str__(self) -> str:
        backend = "" if self.backend == BACKENDS[self.generation][0] else f"/{self.backend}"
        device = "" if self.device == "cpu" else f"@{self.device.removesuffix(':0')}"
        return f"{self.release}{backend}{device}"


def _version_problem(package: str, text: str) -> str:
    """Why a version of a package is not supported, or ""."""
    if (package, text) == ("keras", OLD_KERAS_VERSION):
        return "only `clonediff fuzz` and `clonediff judge` accept this release, and only as the single subject"
    try:
        is_old = Version(text) < Version(f"{OLDEST[package]}a0")
    except InvalidVersion:
        return f"{text!r} is not a version: write, for example, {package}==3.14.1"
    return f"the oldest supported release of {package} is {OLDEST[package]}; {list_subjects()}" if is_old else ""


def list_subjects() -> str:
    names = [f"{package}/{backend}" for package, backends in BACKENDS.items() for backend in backends]
    installed = ", ".join(name.removesuffix("/tensorflow") for name in names)
    return (
        f"supported: {installed}, each with ==VERSION for a release that is not the installed one (Keras from "
        f"{OLDEST['keras']}, tf_keras from {OLDEST['tf_keras']}), and with @cpu (the default) or @gpu; {NIGHTLY}; and "
        "Keras 3 from a path: ../CHECKOUT, ../REPOSITORY#COMMIT, ./FILE.whl"
    )
