"""What is said of a release's own tests. None of them runs here."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.judge.record import ReleaseTests
from clonediff.harness.judge.release_tests import Suite
from clonediff.harness.judge.session import tests_limit as limit

SUITE = Suite(("a_test.py",), ("test_a", "test_b"))


@pytest.mark.parametrize(
    ("said", "why"), [("E: no module", "E: no module"), (None, "they did not end")], ids=["do not run", "do not end"]
)
def test_tests_that_do_not_run_speak_against_a_candidate_only_where_they_do_without_one(
    said: str | None, why: str, tmp_path: Path
) -> None:
    alone = SUITE.outcome(tmp_path, said, None)
    assert (alone.failed, alone.said) == (("test_a", "test_b"), why)
    assert SUITE.outcome(tmp_path, said, alone) == ReleaseTests("0 tests, 2 more fail without it too")
    one_fails = ReleaseTests("2 tests", 1, ("test_a",))
    expected = ReleaseTests("1 tests, 1 more fail without it too", failed=("test_b",), said=why)
    assert SUITE.outcome(tmp_path, said, one_fails) == expected


def test_tests_that_did_not_end_without_a_candidate_have_no_less_time_with_one(tmp_path: Path) -> None:
    assert limit(SUITE.outcome(tmp_path, None, None)) == 180
    assert limit(ReleaseTests("2 tests", 2, seconds=10.0)) == 100
