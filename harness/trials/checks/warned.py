"""12. Warned: cloning warns of nothing that building the model has not warned of.

Who turns warnings into errors, as Keras' own tests do, cannot clone a model where that is not so. What is expected is
what two builds of the model warn of; numbers in the texts say nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, loses
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Spread, Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference, Severity

_ASPECTS = Aspects(
    "warned", loses(("raises", "cloning warns of something that building does not"), shown=Comparison(how="warns"))
)


def warned(pair: Pair) -> list[Difference]:
    """The warnings of the cloner."""
    shape = pair.original.shape
    return [
        replace(raises(_ASPECTS, "warned", "no warning", each, shape), path=f"warned[{number}]")
        for number, each in enumerate(pair.clone.warned)
    ]


def _called_on_another(cause: Difference, effect: Difference, flow: Flow) -> bool:
    """Whether a layer warns as it is called, and may be called on something else than in the original."""
    in_a_call = effect.check == "warned" and effect.first is not None and bool(effect.raised and effect.raised.calling)
    return in_a_call and cause.check in ("structure", "masks", "sharing") and cause.severity is not Severity.NAME


# A layer warns of what it is called on.
_LINKS = (Link("*", "raises", Spread.DOWNSTREAM, _called_on_another),)
CHECK = Check(_ASPECTS, Stage.WARNED, warned, links=_LINKS, of_a_clone=False)
