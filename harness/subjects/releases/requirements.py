"""What a release requires of the packages around it, and which of that is not there.

Reads metadata only: of what was laid into a folder, and of the environment that it is laid over.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases.table import Stack

NEVER_LAID = frozenset({"jax", "jaxlib", "ml-dtypes", "numpy", "torch"})
"""What a release is laid over, and what that stands on in compiled code. Every TensorFlow is among them."""

_TENSORFLOWS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-macos",
    "tensorflow-intel",
    "tensorflow-rocm",
    "tf-nightly",
    "tf-nightly-cpu",
)


class Surroundings:
    """The packages that a release is laid over: those beside clonediff, or those of a stack."""

    def __init__(self, version_of: Callable[[str], str | None], python: str | None = None) -> None:
        """`version_of` answers by a package's name; `python` is the full version of an interpreter, None for ours."""
        self.version_of = version_of
        self._markers = cast("dict[str, str]", default_environment())
        if python is not None:
            self._markers["python_full_version"] = self._markers["implementation_version"] = python
            self._markers["python_version"] = ".".join(python.split(".")[:2])
        self._markers["extra"] = ""

    @classmethod
    def of_stack(cls, venv: Path, stack: Stack, python: str) -> Surroundings:
        """Those of a virtual environment."""
        versions = versions_in(venv / "lib" / f"python{stack.python}" / "site-packages")
        return cls(versions.get, python)

    def wants(self, requirement: Requirement) -> bool:
        """Whether a requirement holds for this interpreter, with no extras asked for."""
        return requirement.marker is None or requirement.marker.evaluate(self._markers)


def beside() -> Surroundings:
    """The packages of the environment that clonediff runs in."""
    return Surroundings(version_beside)


def version_beside(package: str) -> str | None:
    """The version of a package in the environment that clonediff runs in; None where it is not there."""
    names = _TENSORFLOWS if package == "tensorflow" else (package,)
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def versions_in(folder: Path) -> dict[str, str]:
    """The packages of a folder with their versions."""
    found = importlib.metadata.distributions(path=[str(folder)])
    return dict(sorted((canonicalize_name(each.name), each.version) for each in found))


def lacking(folder: Path, around: Surroundings) -> tuple[list[str], list[str]]:
    """What has to be laid beside what is in a folder, and what is not met but stays as it is.

    A package that must not be replaced, or that the folder has in another version, stays as it is: whether the release
    runs all the same is seen when it is started.
    """
    laid = versions_in(folder)
    missing: dict[str, SpecifierSet] = {}
    unmet: list[str] = []
    for requirement in _requirements(folder, around):
        name = canonicalize_name(requirement.name)
        there = laid.get(name) or around.version_of(name)
        if there is None and name in _TENSORFLOWS:
            there = around.version_of("tensorflow")
        if there is not None and requirement.specifier.contains(there, prereleases=True):
            continue
        if name in laid or name in NEVER_LAID or name in _TENSORFLOWS:
            unmet.append(f"{name}{requirement.specifier} ({there or 'not there'})")
        else:
            missing[name] = missing.get(name, SpecifierSet()) & requirement.specifier
    return [f"{name}{specifier}" for name, specifier in sorted(missing.items())], sorted(set(unmet))


def _requirements(folder: Path, around: Surroundings) -> Iterable[Requirement]:
    for distribution in importlib.metadata.distributions(path=[str(folder)]):
        for line in distribution.requires or ():
            try:
                requirement = Requirement(line)
            except InvalidRequirement:
                raise ReleaseError(f"{distribution.name}: requires {line!r}, which names no package") from None
            if around.wants(requirement):
                yield requirement
