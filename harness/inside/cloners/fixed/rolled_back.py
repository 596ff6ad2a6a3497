"""The calls of a clone that could not be made, forgotten by the layers that were called."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator


@contextmanager
def calls_rolled_back_on_failure(operations: Iterable[Any]) -> Iterator[None]:
    """On an exception, layers of the original that were used again have their own calls only, as before."""
    counts = [(each, len(each._inbound_nodes), len(each._outbound_nodes)) for each in operations]
    try:
        yield
    except BaseException:
        for each, inbound, outbound in counts:
            del each._inbound_nodes[inbound:]
            del each._outbound_nodes[outbound:]
        raise
