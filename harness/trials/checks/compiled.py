"""What a model is compiled with. A part of the check of structure.

"If model compiled already then set same to cloned model" (Keras' cloning.py)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Place


def compiled(want: Mapping[str, str] | None, have: Mapping[str, str] | None, model: Place) -> Iterator[Difference]:
    """Whether both are compiled, and if they are, each part in which they differ."""
    if (want is None) != (have is None):
        told = ("true", "false") if have is None else ("false", "true")
        yield differs("structure", "compiled", "model.compiled", *told, model)
    if not want or not have:
        return
    for part in dict.fromkeys((*want, *have)):
        expected, found = want.get(part, MISSING), have.get(part, MISSING)
        if expected != found:
            aspect = "compiled." + re.sub(r"\[[^\]]*\]", "", part)
            yield differs("structure", aspect, f"model.compiled.{part}", expected, found, model)
