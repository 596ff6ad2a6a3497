"""The warm process of a real release of Keras 3, each started once a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.subjects import Subject, SubjectProcess
from harness.subjects.place import ReleasePlace


@pytest.fixture(scope="session")
def keras3(release_place: Callable[[str], ReleasePlace]) -> Iterator[Callable[[str], SubjectProcess]]:
    """A release by its version, where it can be had."""
    running: dict[str, SubjectProcess] = {}

    def process(version: str) -> SubjectProcess:
        name = f"keras=={version}"
        if name not in running:
            running[name] = SubjectProcess(Subject.parse(name), place=release_place(name))
        return running[name]

    yield process
    for each in running.values():
        each.close()
