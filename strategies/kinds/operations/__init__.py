"""Operations beside layers: functions of the framework, and operators. A table, by their form.

A kind has the name of its function in the framework; a dialect says how an operator is written.
"""

from __future__ import annotations

from strategies.kinds.operations import (
    elementwise,
    flow,
    linear,
    networks,
    operators,
    pictures,
    reductions,
    shapes,
    tensorflow,
)
from strategies.kinds.operations.rules import Operation, prefixed

KINDS = (
    *operators.KINDS,
    *prefixed(
        "ops.",
        (
            *elementwise.KINDS,
            *reductions.KINDS,
            *shapes.KINDS,
            *linear.KINDS,
            *networks.KINDS,
            *pictures.KINDS,
            *flow.KINDS,
        ),
    ),
    *tensorflow.KINDS,
)

__all__ = ["KINDS", "Operation"]
