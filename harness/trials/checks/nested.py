"""The aspects of nested things: the arguments of a call, the structure of inputs and outputs. See `skeletons`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from clonediff.harness.trials.checks.check import Aspect


def nested(
    costing: Callable[..., tuple[Aspect, ...]], part: str, whole: str, item: str, **fields: Any
) -> Iterator[Aspect]:
    """What can differ in a part: `whole` is what a sentence calls all of it, `item` one thing in it."""
    yield from costing(
        (f"{part} missing", f"{item} is lost{{inside}}"),
        (f"{part} extra", f"there is one more of the {whole}{{inside}}"),
        (f"{part} type", f"{{form}} in the {whole} is {{found_form}}{{inside}}"),
        (f"{part} tensor", f"{item} is another tensor{{inside}}"),
        (f"{part} value", f"{item} has another value{{inside}}"),
        **fields,
    )
    yield from costing((f"{part} order", f"the {whole} come in another order{{inside}}"), any_layer=True, **fields)
