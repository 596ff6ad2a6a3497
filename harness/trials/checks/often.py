"""16. Often: a model can be cloned as often as one likes: nothing of a dropped clone stays, names and work do not grow.

Clones that stay in memory, or that take longer from one to the next, end the process of whoever makes many of them.
"""

from __future__ import annotations

from clonediff.harness.trials.checks.check import Aspects, Check, Comparison, crashes, loses, renames
from clonediff.harness.trials.checks.links import Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.reports.records import Difference

_ASPECTS = Aspects(
    "often",
    crashes(("raises", "a model cannot be cloned many times")),
    loses(
        ("stays alive", "layers or variables of each clone stay in memory when it is dropped"),
        shown=Comparison(how="often"),
    ),
    loses(("takes more", "each clone of a model takes more function calls to make than the one before")),
    renames(("later name", "a name in the clone depends on how often the model was cloned before")),
)


def often(pair: Pair) -> list[Difference]:
    """What grows with each clone, and the names that are other ones in a later clone."""
    told, shape = pair.clone.often, pair.original.shape
    if told is None:
        return []
    first = place(shape, -1)
    if told.failure is not None:
        return [raises(_ASPECTS, "often", "one more clone", told.failure, shape)]
    differences = []
    if told.stay:
        said = ", ".join(f"{number} {name}" for name, number in told.stay.items())
        differences.append(_ASPECTS.differs("stays alive", "often.alive", "nothing", f"{said} of each clone", first))
    if told.calls:
        said = ", ".join(map(str, told.calls))
        differences.append(_ASPECTS.differs("takes more", "often.calls", "as many calls for each", said, first))
    for number, (expected, found) in enumerate(told.names):
        differences.append(_ASPECTS.differs("later name", f"often.names[{number}]", expected, found, first))
    return differences


CHECK = Check(_ASPECTS, Stage.OFTEN, often, part="often", of_a_clone=False)
