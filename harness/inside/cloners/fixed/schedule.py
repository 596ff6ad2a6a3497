"""The order in which calls can be made again, and models be put together.

A layer's calls are numbered in the order in which they were made, over all the graphs that share the layer. So a call
comes after the calls that made its tensors, and after the calls of the same layer that came before it. The order in
which the user made the calls satisfies both, so there is always such an order; going by depth, as a model itself does
when it runs, can make the calls of a shared layer in another.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable

from .adapter import Adapter


class Schedule:
    """The calls of some graphs, and what comes before each."""

    def __init__(self, adapter: Adapter, nodes: Iterable[Any]) -> None:
        self._adapter = adapter
        self._nodes = {id(node): node for node in nodes}
        self._first: dict[int, Any] = {}
        self._previous: dict[int, Any] = {}
        self.makers = {id(tensor): node for node in self._nodes.values() for tensor in adapter.outputs(node)}
        """The call that made each tensor, by its `id`."""
        for layer in {id(each): each for each in map(adapter.operation, self._nodes.values())}.values():
            calls = [node for node in layer._inbound_nodes if id(node) in self._nodes]
            self._first[id(layer)] = calls[0] if calls else None
            for earlier, later in zip(calls, calls[1:]):
                if not self._comes_of(earlier, later):
                    self._previous[id(later)] = earlier

    def first_call(self, layer: Any) -> Any:
        """The first call of a layer in these graphs, or None."""
        return self._first.get(id(layer))

    def previous_call(self, node: Any) -> Any:
        """The call of the same layer that came before, or None."""
        return self._previous.get(id(node))

    def in_order(self) -> list[Any]:
        def needs(node: Any) -> list[Any]:
            needed = [self.previous_call(node), *map(self._maker, self._adapter.inputs(node))]
            return [each for each in needed if each is not None]

        return in_order(self._nodes.values(), needs, lambda node: str(self._adapter.operation(node).name))

    def _maker(self, tensor: Any) -> Any:
        return self.makers.get(id(tensor))

    def _comes_of(self, earlier: Any, later: Any) -> bool:
        """Whether a call takes what another gave that its layer counts after it, as in a model on what layers made."""
        seen, left = {id(earlier)}, [earlier]
        while left:
            for node in map(self._maker, self._adapter.inputs(left.pop())):
                if node is later:
                    return True
                if node is not None and id(node) not in seen:
                    seen.add(id(node))
                    left.append(node)
        return False


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
