"""The aspects of nested things: the arguments of a call, the structure of inputs and outputs. See `skeletons`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clonediff.harness.trials.checks.check import Aspect, aspects
from clonediff.reports.records import Cost


def nested(part: str, whole: str, item: str, cost: Cost, **fields: Any) -> Iterator[Aspect]:
    """What can differ in a part: `whole` is what a sentence calls all of it, `item` one thing in it."""
    yield from aspects(
        cost,
        {
            f"{part} missing": f"{item} is lost{{inside}}",
            f"{part} extra": f"there is one more of the {whole}{{inside}}",
            f"{part} type": f"{{form}} in the {whole} is {{found_form}}{{inside}}",
            f"{part} tensor": f"{item} is another tensor{{inside}}",
            f"{part} value": f"{item} has another value{{inside}}",
        },
        **fields,
    )
    for order in aspects(cost, {f"{part} order": f"the {whole} come in another order{{inside}}"}, **fields):
        yield replace(order, any_layer=True)
