"""Objects of the original that the clone leads to, by an attribute of any name. A part of the check "own".

What public attributes lead to first is told as "object shared", and a layer, a weight or a state as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.holdings import INDEX
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, place
from clonediff.reports.records import Difference

_ATTRIBUTE = re.compile(r"\.([^\W\d]\w*)")
_OF_FUNCTIONS = ("__closure__", "cell_contents", "__defaults__", "__self__", "__func__", "func", "args", "keywords")
"""What Python calls the parts of a function, which no fingerprint needs."""


def reached(pair: Pair) -> Iterator[Difference]:
    """What of the original that can change is reached from the clone."""
    original = pair.shapes[0]
    for leak in pair.observed.leaks:
        layer = pair.layers.expected.get(leak.layer, -1)
        names = [name for name in _ATTRIBUTE.findall(INDEX.sub("", leak.path)) if name not in _OF_FUNCTIONS]
        name = names[-1] if names else leak.thing
        path = f"{at(original, layer)}.attribute{leak.path}"
        found = f"the original's {leak.thing}"
        if layer == leak.of_layer:
            found += f", {leak.of_path}"
        yield differs("own", f"object reached.{name}", path, "an object of its own", found, place(original, layer))
