"""What becomes of a test whose release cannot be had."""

from __future__ import annotations

from typing import NoReturn

import pytest
from _pytest.outcomes import Failed, Skipped

from clonediff.harness.subjects.outcomes import ReleaseError
from tests.required_releases import had


@pytest.mark.parametrize(("required", "outcome"), [("0", Skipped), ("1", Failed)])
def test_a_missing_release_skips_or_fails_the_test(
    required: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing() -> NoReturn:
        raise ReleaseError("the index has no such release")

    monkeypatch.setenv("CLONEDIFF_REQUIRE_RELEASES", required)
    with pytest.raises(outcome, match="the index has no such release"):
        had(nothing)
