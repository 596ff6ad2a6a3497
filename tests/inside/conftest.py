"""A subject of each generation, which the tests of this folder ask for trials."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject

LATER = pytest.mark.slow(reason="as long again; the property tests hold a tf_keras original against its clones, too")


@pytest.fixture(scope="package", params=["keras", pytest.param("tf_keras", marks=LATER)])
def subject(request: pytest.FixtureRequest) -> Iterator[SubjectProcess]:
    with SubjectProcess(Subject.parse(request.param)) as subject:
        yield subject
