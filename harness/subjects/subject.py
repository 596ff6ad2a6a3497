"""A subject's name: `RELEASE[/BACKEND][@DEVICE]`, and what each part may be.

Owns which releases there are to ask for, and which generation and dialect each belongs to. Whether one can be had on
this machine is the business of `clonediff.harness.subjects.releases`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, cast

import msgspec
from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:  # the strategies bring Hypothesis, for which a command that draws nothing need not wait
    from clonediff.strategies.kinds import Generation

Package = Literal["keras", "tf_keras", "tensorflow"]

BACKENDS: dict[str, tuple[str, ...]] = {
    "keras": ("tensorflow", "jax", "torch", "numpy"),
    "tf_keras": ("tensorflow",),
    "tensorflow": ("tensorflow",),
}
"""The backends of each package, the default first. Keras 2 has one, whatever it is called."""

INSTALLED = {"keras": "keras", "tf_keras": "tf_keras"}
"""The generations that a package beside clonediff has, with its name."""

NIGHTLY = "keras-nightly"
"""By this name the package index has the development releases of Keras."""

DEVICES = ("cpu", "gpu")

_SPEC = re.compile(r"(?P<package>[^/@=]+)(?:==(?P<version>[^/@]*))?(?:/(?P<backend>[^/@]*))?(?:@(?P<device>[^/@]*))?")
_DEVICE = re.compile(r"(?P<kind>[a-z]+)(?::(?P<number>\d{1,3}))?")


class UnknownSubjectError(ValueError):
    """A subject that nothing here can be asked for; the message lists those that can."""


class Subject(msgspec.Struct, frozen=True):
    """What is under test. `version` is None for the package that is installed beside clonediff.

    `tensorflow` stands for the `tf.keras` that came with it. `number` is which device of its kind.
    """

    package: Package
    version: str | None = None
    backend: str = "tensorflow"
    device: str = "cpu"
    number: int = 0

    @classmethod
    def parse(cls, spec: str) -> Subject:
        """The subject of that name: "keras", "keras/jax", "tf_keras@gpu", "keras==3.14.1", "tensorflow==2.4.4" ...

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
        if package == "tensorflow" and version is None:
            raise UnknownSubjectError(
                f"{spec!r}: name the TensorFlow whose tf.keras is meant, such as tensorflow==2.4.4; {supported()}"
            )
        # What is installed for no generation runs on the TensorFlow of its day.
        backends = BACKENDS[INSTALLED.get(_generation(package, version), "tensorflow")]
        if backend is not None and backend not in backends:
            raise UnknownSubjectError(
                f"{spec!r}: {package} has no backend {backend!r}, choose one of {', '.join(backends)}; {supported()}"
            )
        device, number = _device(spec, match["device"])
        return cls(cast("Package", package), version, backend or backends[0], device, number)

    @property
    def generation(self) -> Generation:
        """Whose catalogue of kinds, known issues and fixed cloner it has."""
        return _generation(self.package, self.version)

    @property
    def laid_over(self) -> bool:
        """Whether its generation is installed here: a release is laid over that. Others have a stack of their day."""
        return INSTALLED.get(self.generation) == self.package

    @property
    def dialect(self) -> str:
        """How models are spelled for it: a name of `clonediff.harness.source.DIALECTS`."""
        return "tf.keras" if self.package == "tensorflow" else self.generation

    @property
    def on_default_backend(self) -> bool:
        """Whether it runs on the backend that its package has unless another is named."""
        return self.backend == BACKENDS[self.package][0]

    @property
    def release(self) -> str:
        """The part of its name that says which package in which version."""
        name = NIGHTLY if _is_nightly(self.package, self.version) else self.package
        return name if self.version is None else f"{name}=={self.version}"

    def __str__(self) -> str:
        """The shortest name that parses to this subject."""
        spec = self.release
        if not self.on_default_backend:
            spec += f"/{self.backend}"
        if self.number:
            return f"{spec}@{self.device}:{self.number}"
        return spec if self.device == DEVICES[0] else f"{spec}@{self.device}"


def is_snapshot(version: str | None) -> bool:
    """Whether a version is that of the copy of a tree, and no release: `clonediff.harness.subjects.releases.trees`."""
    return version is not None and Version(version).local is not None


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
    instead = _instead(package, version)
    if instead:
        raise UnknownSubjectError(f"{spec!r}: {instead}; {supported()}")
    return text.strip()


def _instead(package: str, version: Version) -> str:
    """Why a version is none that can be asked for, and what to ask for; "" where it can be."""
    if package == "tensorflow":
        if version < Version("2.0"):
            return "the tf.keras of TensorFlow 1 is not one of the generations that clonediff speaks"
        if version >= Version("2.16a0"):
            return f"TensorFlow {version} has no tf.keras of its own, it takes Keras 3: ask for keras==VERSION"
    elif package == "tf_keras":
        if version < Version("2.15"):
            return "tf_keras begins with 2.15: before that, ask for tensorflow==VERSION, whose tf.keras it was"
    elif version < Version("2.2"):
        return "the oldest Keras that clonediff speaks is 2.2.0"
    elif Version("2.4a0") <= version < Version("3.0a0"):
        return f"Keras {version} is the tf.keras of a TensorFlow: ask for tensorflow=={version.major}.{version.minor}.x"
    return ""


def _generation(package: str, version: str | None) -> Generation:
    if package != "keras":
        return "tf_keras"
    return "keras2" if version is not None and Version(version) < Version("3.0a0") else "keras"


def _device(spec: str, text: str | None) -> tuple[str, int]:
    if text is None:
        return DEVICES[0], 0
    match = _DEVICE.fullmatch(text)
    if match is None or match["kind"] not in DEVICES:
        raise UnknownSubjectError(f"{spec!r}: unknown device {text!r}, choose one of {', '.join(DEVICES)}, or gpu:1")
    return match["kind"], int(match["number"] or 0)


def installed_names() -> list[str]:
    """The names of the subjects that need no version: the packages beside clonediff, on each backend."""
    return [
        package if backend == backends[0] else f"{package}/{backend}"
        for package, backends in BACKENDS.items()
        if package != "tensorflow"
        for backend in backends
    ]


def supported() -> str:
    """The subjects that can be asked for, as a sentence."""
    return (
        f"supported are {', '.join(installed_names())}, each with ==VERSION for a release that is not the installed "
        "one (Keras 2.2, 2.3 and 3, tf_keras from 2.15), tensorflow==2.0 to 2.15, and with @cpu (the default) or @gpu; "
        f"{NIGHTLY}; and a Keras 3 by its place: ../CHECKOUT, ../REPOSITORY#COMMIT, ./FILE.whl"
    )
