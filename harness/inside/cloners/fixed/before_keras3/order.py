"""The order in which calls can be made again, and models be put together."""

from __future__ import annotations

from typing import Any, Callable, Iterable


def in_order(goals: Iterable[Any], needs: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """The goals and all that they need, each after what it needs itself. No recursion: graphs outgrow the stack."""
    begun: dict[int, Any] = {}
    order: dict[int, Any] = {}
    waiting: list[Any] = list(goals)[::-1]
    while waiting:
        task = waiting[-1]
        if id(task) not in begun:
            begun[id(task)] = task
            waiting.extend([need for need in needs(task) if id(need) not in begun][::-1])
        else:
            order.setdefault(id(task), waiting.pop())
    return list(order.values())
