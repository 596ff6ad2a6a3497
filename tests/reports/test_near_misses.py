"""What a known issue must not be taken for: beside each issue, a cause that is like its own in all but one fact.

Reads `near_misses.toml`, in which each issue has the facts of a cause of its own, and the one that is changed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clonediff.reports.known import KnownIssue, explains, load
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity

ISSUES = load().issues


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a pattern can ask of a cause. `followers` has the checks that tell what follows from its root."""

    check: str
    aspect: str
    path: str
    found: str
    expected: str = ""
    kind: str = ""
    inside: str = ""
    place: str = ""
    exception: str = ""
    frame: str = ""
    given: tuple[str, ...] = ()
    followers: tuple[str, ...] = ()

    @property
    def cause(self) -> Cause:
        """The cause that has them."""
        first = Place(self.place, self.kind, inside=self.inside) if self.place or self.kind else None
        raised = Raised(self.exception, "", self.frame) if self.exception else None
        root = Difference(
            self.check, self.path, self.aspect, self.expected, self.found, Severity.PROPERTY, first, raised
        )
        followers = tuple(Difference(check, "", "", "", "", Severity.PROPERTY) for check in self.followers)
        return Cause("a-fingerprint", root, followers, given=self.given)


class NearMiss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cause that is not the issue's: what one of its own shows, but for one fact, and why that makes it another."""

    id: str
    shows: Facts
    but: dict[str, Any]
    because: str

    @property
    def missed(self) -> Facts:
        """What it shows itself."""
        return msgspec.convert({**msgspec.structs.asdict(self.shows), **self.but}, Facts)


NEAR_MISSES = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("near_misses.toml").read_text(encoding="utf-8"))["near_miss"],
    list[NearMiss],
)


@pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.id)
def test_an_issue_does_not_match_what_is_like_its_own_cause(issue: KnownIssue) -> None:
    near_misses = [each for each in NEAR_MISSES if each.id == issue.id]
    assert near_misses, "add a near miss to near_misses.toml"
    for each in near_misses:
        assert explains(issue, each.shows.cause), "the issue does not match its own cause: what it misses is not near"
        assert not explains(issue, each.missed.cause), f"the issue is too wide: {each.because}"


def test_a_near_miss_is_of_an_issue_that_is_known() -> None:
    assert {each.id for each in NEAR_MISSES} <= {issue.id for issue in ISSUES}


def test_a_near_miss_differs_in_one_fact_and_says_why() -> None:
    for each in NEAR_MISSES:
        assert len(each.but) == 1, each.id
        assert each.missed != each.shows, each.id
        assert each.because, each.id


def test_what_an_exception_says_begins_with_its_type() -> None:
    for each in NEAR_MISSES:
        for facts in (each.shows, each.missed):
            if facts.exception and facts.aspect != "process timed out":
                assert facts.found.startswith(f"{facts.exception}:"), each.id
