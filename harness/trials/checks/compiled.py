"""What a model is compiled with. A part of the check of structure.

"If model compiled already then set same to cloned model" (Keras' cloning.py)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from clonediff.harness.trials.checks.check import NOT_COMPARED, Aspects, Comparison, trains
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Place

_KEY = r"""\[(?:\d+|'[^'\\\n]*'|"[^"\\\n]*")\]"""
_PART = re.compile(rf"model\.compiled\.(\w+)((?:{_KEY})*)(?:\.\w+\.(\w+))?")
"""A part whose path may stand in a script as it is: it may come from a file of somebody else's."""


def _part(difference: Difference, dialect: str) -> Comparison:
    """A part of what a model was compiled with."""
    part = _PART.fullmatch(difference.path)
    if part is None:
        return Comparison("{}.compiled") if difference.aspect == "compiled" else NOT_COMPARED
    name, places, setting = part[1], part[2].replace("{", "{{").replace("}", "}}"), part[3]
    its = "{}.optimizer" if name == "optimizer" else f"{{}}._compile_config.config[{json.dumps(name)}]{places}"
    if setting:
        # The config of a loss or a metric may leave out what it was made with.
        told = f"get_config().get({json.dumps(setting)})" if name == "optimizer" else "_fn_kwargs"
        return Comparison(f"{its}.{told}")
    return Comparison(f"type({its}).__name__") if difference.expected.isidentifier() else Comparison(its, sure=False)


ASPECTS = Aspects(
    "structure",
    trains(("compiled", "a model that is {was}compiled is {now}compiled{inside}"), quiet=True, shown=_part),
    trains(("compiled.*", "what a model is compiled with is {change}{inside}: {name}"), any_layer=True, shown=_part),
)


def compiled(want: Mapping[str, str] | None, have: Mapping[str, str] | None, model: Place) -> Iterator[Difference]:
    """Whether both are compiled, and if they are, each part in which they differ."""
    if (want is None) != (have is None):
        told = ("true", "false") if have is None else ("false", "true")
        yield ASPECTS.differs("compiled", "model.compiled", *told, model)
    if not want or not have:
        return
    for part in dict.fromkeys((*want, *have)):
        expected, found = want.get(part, MISSING), have.get(part, MISSING)
        if expected != found:
            aspect = "compiled." + re.sub(r"\[[^\]]*\]", "", part)
            yield ASPECTS.differs(aspect, f"model.compiled.{part}", expected, found, model)
