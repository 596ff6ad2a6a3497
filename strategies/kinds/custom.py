"""Layers that a user would write: they make, use, hand on and drop masks, and take several tensors.

The classes themselves, in each dialect, are in `harness/source/custom.py`; here is only how they are made and called.
"""

from __future__ import annotations

from clonediff.strategies.graph import Array, Items, Named, Seq
from clonediff.strategies.kinds.kind import LEFT_OUT, Kind, plain_kinds, tupled

KINDS = (
    *plain_kinds("Scale", weight=2),
    *plain_kinds("Offset"),  # its weight has no name
    *plain_kinds("MakeMask"),
    Kind("UseMask", calls=("mask",), weight=2),
    *plain_kinds("DropMask"),
    Kind("SumAll", takes=(1, 3), pass_as="each"),
    Kind("SumList", takes=(1, 3), pass_as="list"),
    Kind("Shift", call_options={"by": (1.0, LEFT_OUT, None, tupled(1.0, 2.0), Seq((1.0, 2.0)), Array((1,)))}, weight=2),
    Kind(
        "Adjust",  # its call takes constants of every sort
        call_options={
            "how": (
                *(2, "double", True, 0.5),
                Items((("factor", 2.0), ("terms", tupled(1.0, 2)))),
                tupled(tupled(2.0, 1), "halved"),
                Seq((None, 3.0)),
                Array((1,), "int32"),
                Named("np.dtype", (("dtype", "float16"),)),
            ),
        },
    ),
    Kind("Span", options={"low": (LEFT_OUT, 0.25), "high": (LEFT_OUT, 3.0)}),
    Kind("Stack", options={"widths": (Seq((4, 3)), tupled(2))}),
    Kind("Branches", options={"units": (4, 2)}),
    Kind("Louder", options={"depth": (LEFT_OUT, 2)}, call_options={"gain": (LEFT_OUT, 2.0, None)}),
)
