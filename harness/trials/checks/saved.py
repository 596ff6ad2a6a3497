"""11. Saved and loaded, the clone is still faithful.

What is expected is what came of saving and loading the original: where that fails, nothing is asked of the clone.
"""

from __future__ import annotations

from msgspec.structs import replace

from clonediff.harness.subjects.observation import ModelRun
from clonediff.harness.trials.checks import masks, outputs
from clonediff.harness.trials.checks.check import Aspects, Check, crashes, loses
from clonediff.harness.trials.checks.links import Stage
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.raised import raises
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference

_ASPECTS = Aspects(
    "saved",
    loses(("not saved", "the clone was not saved")),
    crashes(("raises", "the clone cannot be saved"), path="saved.saving"),
    crashes(("raises", "the clone cannot be loaded once it is saved"), path="saved.loading"),
    outputs.ASPECTS.not_compared(),
    masks.ASPECTS.not_compared(),
)


def saved(pair: Pair) -> list[Difference]:
    """What stands in the way of saving or loading the clone, or what the loaded model gives instead."""
    want = pair.original.saved
    if want is None or want.saving is not None or want.loading is not None:
        return []
    have, shape = pair.observed.saved, pair.original.shape
    if have is None:
        return [_ASPECTS.differs("not saved", "saved", "saved and loaded", MISSING, place(shape, -1))]
    if have.saving is not None:
        return [raises(_ASPECTS, "saved.saving", "it can be saved", have.saving, shape)]
    if have.loading is not None:
        return [raises(_ASPECTS, "saved.loading", "it can be loaded", have.loading, shape)]
    runs = pair, _ends_of(want.run), _ends_of(have.run), "run"
    differences = [*outputs.run_differences(*runs), *masks.mask_differences(*runs)]
    return [replace(difference, check="saved", path=f"saved.{difference.path}") for difference in differences]


def _ends_of(run: ModelRun | None) -> ModelRun | None:
    """A run without its steps: their layers are those of the loaded model, which is not described."""
    return None if run is None else replace(run, steps=(), losses=())


CHECK = Check(_ASPECTS, Stage.SAVED, saved, part="saving")
