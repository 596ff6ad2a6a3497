"""Real releases for the tests that need one: each is installed once, into the user's cache folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.subjects.place import ReleasePlace
from harness.subjects.releases import ReleaseError, place_of
from harness.subjects.subject import Subject
from tests.had import not_had


@pytest.fixture(scope="session")
def release_place() -> Callable[[str], ReleasePlace]:
    """Where a release is, by a subject's name.

    One that cannot be had is tried once, and skips each test that asks for it.
    """
    found: dict[str, ReleasePlace | str] = {}

    def place(spec: str) -> ReleasePlace:
        if spec not in found:
            try:
                found[spec] = place_of(Subject.parse(spec))
            except ReleaseError as error:
                found[spec] = str(error)
        result = found[spec]
        if isinstance(result, str):
            not_had(result)
        return result

    return place
