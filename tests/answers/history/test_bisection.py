"""Places of any sort, tried in threads until it is known where they differ."""

from __future__ import annotations

import pytest

from clonediff.harness.answers.history.bisection import Bisection

COMMITS = [f"c{number}" for number in range(40)]
CANNOT_BUILD = ("c19", "c20")


def shown(commit: str) -> str | None:
    """What a commit shows: it breaks from c23 on, and two cannot be built."""
    return None if commit in CANNOT_BUILD else "broken" if int(commit[1:]) >= 23 else "faithful"


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_first_broken_place_is_found_and_the_others_are_left_out(jobs: int) -> None:
    bisection = Bisection([COMMITS], lambda answer: answer)
    told: list[str | None] = []
    bisection.run(shown, jobs, lambda under_way, answer: told.append(answer) if not under_way or answer else None)
    tried = bisection.answers
    assert (tried["c22"], tried["c23"]) == ("faithful", "broken")
    assert len(tried) < 12
    assert "broken" in told
    left = bisection.left_out()
    assert {*left, *tried} == set(COMMITS)
    assert all(tried[before] == tried[after] for before, after in left.values())
    assert bisection.due() == []
    assert bisection.seconds_left(1) == 0


def test_a_fault_of_ours_is_raised_with_its_place() -> None:
    def broken(commit: str) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        Bisection([COMMITS], str).run(broken, 1, lambda under_way, answer: None)
    assert "while c0 was tried" in caught.value.__notes__[0]


def test_an_interrupt_leaves_what_is_known() -> None:
    def interrupt(under_way: object, answer: str | None) -> None:
        if answer is not None:
            raise KeyboardInterrupt

    bisection = Bisection([COMMITS], lambda answer: answer)
    bisection.run(shown, 1, interrupt)
    assert bisection.interrupted
    assert bisection.answers == {"c0": "faithful"}
