"""4. Sharing: two uses share a layer in the clone exactly where they do in the original; nested models too.

Objects are numbered by where they are first met, in the original's order: sharing is the same where the numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.harness.trials.checks import facts
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.pairing import Objects, Pair, Pairing
from clonediff.harness.trials.checks.places import numbered
from clonediff.reports.records import Difference


def sharing(pair: Pair) -> list[Difference]:
    """Layers, weights and states that were one object and are two, or were two and are one."""
    return [*(one for each in pair.objects for one in _partings(pair, *each)), *facts.parted(pair)]


def _partings(pair: Pair, word: str, wants: Objects, haves: Objects, pairing: Pairing) -> Iterator[Difference]:
    first_want: dict[int, int] = {}
    first_have: dict[int, int] = {}
    for index, found in pairing.pairs:
        want = first_want.setdefault(wants[index].ident, index)
        have = first_have.setdefault(haves[found].ident, index)
        if want == have:
            continue
        # Where the object was met before, it is new in the clone, or another's.
        aspect, other = ("unshared", want) if want != index else ("merged", have)
        path, first = numbered(pair.shapes[0], word, index)
        told = f"the same as {numbered(pair.shapes[0], word, other)[0]}", "one of its own"
        yield differs("sharing", f"{word} {aspect}", path, *(told if want != index else told[::-1]), first)


CHECK = Check("sharing", sharing)
