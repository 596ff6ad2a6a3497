"""The order in which calls can be made again, and models be put together."""

from __future__ import annotations

from typing import Any, Callable, Iterable


def in_order(
    goals: Iterable[Any], needs: Callable[[Any], Iterable[Any]], name: Callable[[Any], str] | None = None
) -> list[Any]:
    """The goals and all that they need, each after what it needs itself. No recursion: graphs outgrow the stack.

    With a `name` for them, tasks that need each other raise; without, one of them comes first.
    """
    begun: dict[int, Any] = {}
    order: dict[int, Any] = {}
    waiting: list[Any] = list(goals)[::-1]
    while waiting:
        task = waiting[-1]
        if id(task) in begun:
            order.setdefault(id(task), waiting.pop())
            continue
        begun[id(task)] = task
        needed = [need for need in needs(task) if id(need) not in order]
        circular = [need for need in needed if id(need) in begun]
        if circular and name is not None:
            names = ", ".join(sorted({name(each) for each in [task] + circular}))
            raise ValueError("The calls of %s wait for each other; they cannot be made again." % names)
        waiting.extend([need for need in needed if id(need) not in begun][::-1])
    return list(order.values())
