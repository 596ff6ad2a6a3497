"""The order in which calls can be made again."""

from __future__ import annotations

import pytest

from clonediff.harness.inside.cloners.fixed.schedule import in_order


class Task:
    """Something that comes after others."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.needs: list[Task] = []


def test_each_comes_after_what_it_needs_and_else_as_given() -> None:
    a, b, c, d = (Task(name) for name in "abcd")
    b.needs = [d, a]
    assert [task.name for task in in_order([a, b, c], lambda task: task.needs)] == ["a", "d", "b", "c"]


def test_a_chain_may_be_longer_than_the_stack() -> None:
    tasks = [Task(str(number)) for number in range(5000)]
    for later, earlier in zip(tasks, tasks[1:], strict=False):
        later.needs = [earlier]
    assert in_order(tasks, lambda task: task.needs) == tasks[::-1]


def test_what_waits_for_each_other_is_named() -> None:
    a, b, c = (Task(name) for name in "abc")
    a.needs, b.needs, c.needs = [b], [c], [a]
    with pytest.raises(ValueError, match="The calls of a, c wait for each other"):
        in_order([a, b, c], lambda task: task.needs, lambda task: task.name)
    assert sorted(task.name for task in in_order([a, b, c], lambda task: task.needs)) == ["a", "b", "c"]
