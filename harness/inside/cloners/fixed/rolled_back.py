"""Takes back the calls of a clone that could not be finished."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator


@contextmanager
def calls_rolled_back_on_failure(operations: Iterable[Any]) -> Iterator[None]:
    """If an exception is raised, these operations forget the calls that were made since."""
    counts = [(each, len(each._inbound_nodes), len(each._outbound_nodes)) for each in operations]
    try:
        yield
    except BaseException:
        for each, inbound, outbound in counts:
            del each._inbound_nodes[inbound:]
            del each._outbound_nodes[outbound:]
        raise
