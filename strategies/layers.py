"""The layer that an instruction makes: its arguments, with values that suit the tensors, and what is done beside."""

from __future__ import annotations

from clonediff.strategies.graph import Layer, Named, Value
from clonediff.strategies.kinds import DTYPES, LEFT_OUT, NO_SENSE, Kind, Specs
from clonediff.strategies.kinds.arguments import POLICIES, together
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.programs import Apply, Touch


def applied(kind: Kind, specs: Specs, instruction: Apply, number: int) -> Layer | None:
    """The layer of that kind, the model's of that number; None where no value can be made that suits the tensors."""
    drawn, more = dict(instruction.options), together(instruction.more)
    args: dict[str, Value] = {**drawn, **more}
    if kind.arrange is not None:
        try:
            made = kind.arrange(specs, args)
        except NO_SENSE:
            return None
        if made is None:
            return None
        args = made if is_operation(kind.name) else {**made, **more}
    touch = instruction.touch
    if touch == "regularized" and kind.name != "ActivityRegularization":
        args["activity_regularizer"] = "l2"
    if touch == "autocast":
        args["autocast"] = False
    return Layer(
        kind.name,
        tuple((key, value) for key, value in args.items() if value != LEFT_OUT),
        trainable=touch != "frozen",
        dtype=_dtype(touch, number),
        marks=(touch,) if touch in ("frozen after", "supports_masking") else (),
    )


def _dtype(touch: Touch, number: int) -> str | Named | None:
    if touch not in ("dtype", *POLICIES):
        return None
    dtype = DTYPES[number % len(DTYPES)]
    return dtype if touch == "dtype" else POLICIES[touch](dtype)
