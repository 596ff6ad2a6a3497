"""Real releases of Keras 2.2 and 2.3, each warm in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.subjects.place import ReleasePlace
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject


@pytest.fixture(scope="package")
def warm(release_place: Callable[[str], ReleasePlace]) -> Iterator[Callable[[str], SubjectProcess]]:
    open_now: dict[str, SubjectProcess] = {}

    def process(spec: str) -> SubjectProcess:
        if spec not in open_now:
            open_now[spec] = SubjectProcess(Subject.parse(spec), place=release_place(spec))
        return open_now[spec]

    yield process
    for each in open_now.values():
        each.close()
