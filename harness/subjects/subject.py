"""A subject's name: `RELEASE[/BACKEND][@DEVICE]`, and what each part may be."""

from __future__ import annotations

import re
from typing import cast

import msgspec

from strategies.kinds import Generation

BACKENDS = {"keras": ("tensorflow", "jax", "torch", "numpy"), "tf_keras": ("tensorflow",)}
"""The backends of each generation, the default first."""

DEVICES = ("cpu", "gpu")

_SPEC = re.compile(r"(?P<release>[^/@]+)(?:/(?P<backend>[^/@]*))?(?:@(?P<device>[^/@]*))?")


class UnknownSubjectError(ValueError):
    """A subject that this machine cannot be asked for; the message lists those that it can."""


class Subject(msgspec.Struct, frozen=True):
    """What is under test. `release` is None for the one that is installed beside clonediff."""

    generation: Generation
    backend: str = "tensorflow"
    device: str = "cpu"
    release: str | None = None

    @classmethod
    def parse(cls, spec: str) -> Subject:
        """The subject of that name: "keras", "tf_keras", "keras/jax", "keras@gpu" ..."""
        match = _SPEC.fullmatch(spec.strip())
        if match is None:
            raise UnknownSubjectError(f"{spec!r} is not a subject: write RELEASE[/BACKEND][@DEVICE]; {supported()}")
        release, backend, device = match["release"], match["backend"], match["device"]
        if release not in BACKENDS:
            raise UnknownSubjectError(f"{spec!r}: unknown release {release!r}; {supported()}")
        backends = BACKENDS[release]
        if backend is not None and backend not in backends:
            raise UnknownSubjectError(
                f"{spec!r}: {release} has no backend {backend!r}, choose one of {', '.join(backends)}; {supported()}"
            )
        if device is not None and device not in DEVICES:
            raise UnknownSubjectError(f"{spec!r}: unknown device {device!r}, choose one of {', '.join(DEVICES)}")
        return cls(cast("Generation", release), backend or backends[0], device or DEVICES[0])

    def __str__(self) -> str:
        """The shortest name that parses to this subject."""
        spec = self.release or self.generation
        if self.backend != BACKENDS[self.generation][0]:
            spec += f"/{self.backend}"
        return spec if self.device == DEVICES[0] else f"{spec}@{self.device}"


def supported() -> str:
    """The subjects that can be asked for, as a sentence."""
    names = [
        release if backend == backends[0] else f"{release}/{backend}"
        for release, backends in BACKENDS.items()
        for backend in backends
    ]
    return f"supported are {', '.join(names)}, each with @cpu (the default) or @gpu"
