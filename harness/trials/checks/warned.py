"""14. Warned: cloning warns of nothing that building the model has not warned of.

Who turns warnings into errors, as Keras' own tests do, cannot clone a model where that is not so. What is expected is
what two builds of the model warn of; numbers in the texts say nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, Stage, loses
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference

_ASPECTS = Aspects(
    "warned",
    loses(("raises", "cloning warns of something that building does not"), shown=Comparison(how="warns")),
)


def warned(pair: Pair) -> list[Difference]:
    """The warnings of the cloner."""
    shape = pair.original.shape
    return [
        replace(raises(_ASPECTS, "warned", "no warning", each, shape), path=f"warned[{number}]")
        for number, each in enumerate(pair.clone.warned)
    ]


CHECK = Check(_ASPECTS, Stage.WARNED, warned)
