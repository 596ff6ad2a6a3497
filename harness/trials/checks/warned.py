"""12. Warned: cloning warns of nothing that building the model has not warned of.

Who turns warnings into errors, as Keras' own tests do, cannot clone a model where that is not so. What is expected is
what two builds of the model warn of; numbers in the texts say nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference


def warned(pair: Pair) -> list[Difference]:
    """The warnings of the cloner."""
    shape = pair.original.shape
    return [
        replace(raises("warned", "warned", "no warning", each, shape), path=f"warned[{number}]")
        for number, each in enumerate(pair.clone.warned)
    ]


CHECK = Check("warned", warned, of_a_clone=False)
