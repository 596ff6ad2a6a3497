"""What becomes of a test whose release cannot be had."""

from __future__ import annotations

from typing import NoReturn

import pytest
from _pytest.outcomes import Failed, Skipped

from clonediff.harness.subjects.outcomes import ReleaseError
from tests.required_releases import had


def nothing() -> NoReturn:
    raise ReleaseError("the index has no such release")


def test_what_is_there_is_had() -> None:
    assert had(lambda: 3) == 3


def test_the_test_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLONEDIFF_REQUIRE_RELEASES", raising=False)
    with pytest.raises(Skipped, match="the index has no such release"):
        had(nothing)


def test_the_test_fails_where_releases_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_REQUIRE_RELEASES", "1")
    with pytest.raises(Failed, match="the index has no such release"):
        had(nothing)


def test_any_other_fault_is_no_reason_to_skip() -> None:
    with pytest.raises(ZeroDivisionError):
        had(lambda: 1 / 0)
