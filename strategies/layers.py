"""The layer that an instruction makes: its arguments as they suit the tensors, and what is done to it beside."""

from __future__ import annotations

from strategies.graph import Layer, Named
from strategies.kinds import LEFT_OUT, NO_SENSE, Kind, Specs
from strategies.kinds.arguments import POLICIES
from strategies.programs import Apply, Touch

REGULARIZED = ("core", "lambdas", "custom")
"""The families whose layers take `activity_regularizer`."""


def applied(kind: Kind, specs: Specs, instruction: Apply, number: int) -> Layer | None:
    """The layer of that kind, the model's of that number, for such tensors; None where it takes none like them."""
    drawn = dict(instruction.options)
    try:
        args = drawn if kind.arrange is None else kind.arrange(specs, drawn)
    except NO_SENSE:
        return None
    if args is None:
        return None
    args = {**args, **dict(instruction.more)}
    touch = instruction.touch
    if touch == "regularized" and kind.name != "ActivityRegularization":
        args = {**args, "activity_regularizer": "l2"}
    if touch == "autocast":
        args = {**args, "autocast": False}
    marks = [touch] if touch in ("frozen after", "supports_masking") and kind.shared else []
    return Layer(
        kind.name,
        tuple((key, value) for key, value in args.items() if value != LEFT_OUT),
        trainable=not (touch == "frozen" and kind.shared),
        dtype=_dtype(kind, touch, number),
        marks=tuple(mark for mark in marks if mark != "supports_masking" or kind.name == "DropMask"),
    )


def _dtype(kind: Kind, touch: Touch, number: int) -> str | Named | None:
    if not kind.dtypes or touch not in ("dtype", *POLICIES):
        return None
    dtype = kind.dtypes[number % len(kind.dtypes)]
    return dtype if touch == "dtype" else POLICIES[touch](dtype)
