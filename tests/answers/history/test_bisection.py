"""Places of any sort, tried in threads until it is known where they differ."""

from __future__ import annotations

import pytest

from clonediff.harness.answers.history.bisection import PATIENCE, Bisection, to_try

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


def rounds(row: list[str], shows: dict[str, str | None], at_once: int) -> tuple[dict[str, str | None], int]:
    """What was seen of a row in the end, and after how many rounds, each of what is due at a time."""
    seen: dict[str, str | None] = {}
    number = 0
    while due := to_try(row, seen, at_once=at_once):
        seen.update((place, shows[place]) for place in due)
        number += 1
    return seen, number


@pytest.mark.parametrize(("at_once", "most"), [(1, 7), (3, 4), (7, 3), (100, 2)])
def test_several_are_tried_at_once_and_fewer_rounds_are_needed(at_once: int, most: int) -> None:
    seen, number = rounds(COMMITS, {each: "new" if int(each[1:]) >= 23 else "old" for each in COMMITS}, at_once)
    assert (seen["c22"], seen["c23"]) == ("old", "new")
    assert number <= most + 1


def test_what_is_under_way_is_not_tried_again_but_what_is_farthest_from_it() -> None:
    seen = {"c0": "old", "c39": "new"}
    assert to_try(COMMITS, seen, at_once=2) == ["c13", "c26"]
    assert to_try(COMMITS, seen, at_once=2, under_way=["c13"]) == ["c26"]
    assert to_try(COMMITS, seen, at_once=2, under_way=["c13", "c26"]) == []


def test_those_that_cannot_be_tried_are_passed_over_by_half_of_what_is_left() -> None:
    shows = {each: None if 5 <= int(each[1:]) < 35 else "new" if int(each[1:]) >= 37 else "old" for each in COMMITS}
    seen, _ = rounds(COMMITS, shows, 1)
    assert (seen["c36"], seen["c37"]) == ("old", "new")
    assert len(seen) < 20


def test_where_many_between_two_cannot_be_tried_the_rest_of_them_is_left() -> None:
    shows = {each: None if 5 <= int(each[1:]) < 35 else "new" if int(each[1:]) >= 35 else "old" for each in COMMITS}
    seen, _ = rounds(COMMITS, shows, 1)
    assert list(seen.values()).count(None) == PATIENCE


def test_many_at_an_end_that_cannot_be_tried_are_passed_in_steps() -> None:
    shows = {each: None if int(each[1:]) < 30 else "old" for each in COMMITS}
    seen, _ = rounds(COMMITS, shows, 1)
    assert list(seen.values()).count(None) < 15
    assert "old" in seen.values()


def test_where_none_can_be_tried_there_is_an_end() -> None:
    seen, _ = rounds(COMMITS, dict.fromkeys(COMMITS), 1)
    assert 2 <= len(seen) < 30
