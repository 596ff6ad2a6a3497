"""What a trial says: a verdict on each cloner, the causes behind its differences, and whose fault they are.

Owns fingerprints. One is made of the check, the aspect, the kind of the first layer, the type of an exception and the
frame it came from; never of a name, an index, a message or an address. So it is the same for another seed, another
process and another release. Must not import Keras.
"""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from harness.subjects.observation import Observation
from harness.trials.checks.roots import roots
from reports.records import Cause, Cost, Difference, Place


class Verdict(enum.StrEnum):
    """What a trial says of a cloner."""

    FAITHFUL = "faithful"
    DIVERGED = "diverged"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    KILLED = "killed its process"


class Blame(enum.StrEnum):
    """The three-way verdict: whose fault a cause is."""

    UPSTREAM = "upstream bug"
    SHARED = "shared limit"
    OURS = "our bug"
    GENERATOR = "generator's fault"
    ITS_OWN = "the cloner's own"


CI_FAILS = frozenset([Blame.OURS, Blame.GENERATOR])

_OF_ANY_KIND = re.compile(
    r"^(weight |input )?(trainable|name)$|^weight scope$|order$|^(layer|weight|state) (shared|unshared|merged)$"
    r"|^not fresh$|^call\.\w+ (type|order)$|^(layer|weight|state) replaced$|^supports_masking$|^role$"
)
"""Aspects that the machinery of cloning owns, not a kind: lost on one layer, they are lost on the next."""

_OF_A_KIND = re.compile(r"/layers/(?!layer\.py|__init__)")
_SAME_KIND = {"Model": "Functional"}


def verdict(differences: Sequence[Difference]) -> Verdict:
    """The verdict on a cloner that left its process alive."""
    if any(difference.check == "made" for difference in differences):
        return Verdict.CRASHED
    return Verdict.DIVERGED if differences else Verdict.FAITHFUL


def causes(original: Observation | None, differences: Sequence[Difference]) -> list[Cause]:
    """The causes behind differences, the costliest first; each difference belongs to exactly one.

    Causes with one fingerprint are one: the first of them is the root, the others follow.
    """
    if original is None:
        groups = [(difference, list[Difference]()) for difference in differences]
    else:
        groups = roots(original, differences)
    merged: dict[str, list[Difference]] = {}
    for root, followers in groups:
        merged.setdefault(fingerprint(root), []).extend((root, *followers))
    found = [
        Cause(mark, members[0], tuple(members[1:]), min(member.rank for member in members))
        for mark, members in merged.items()
    ]
    return sorted(found, key=lambda cause: cause.rank)


def fingerprint(root: Difference) -> str:
    """The name of a cause, good for a folder: the words of its key and a short hash of it."""
    key = signature(root)
    digest = hashlib.blake2b("\n".join(key).encode(), digest_size=4).hexdigest()
    words = [word for word in (*key[:4],) if word]
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")
    return f"{slug[:60].rstrip('-')}-{digest}"


def signature(root: Difference) -> tuple[str, str, str, str, str]:
    """What a fingerprint is made of: check, aspect, kind, type of exception, frame."""
    raised = root.raised
    frame = raised.frame if raised else ""
    told_by_frame = bool(_OF_A_KIND.search(frame))
    kind = "" if told_by_frame else _kind(root.first, root.aspect, root.check)
    return root.check, _aspect(root), kind, raised.type if raised else "", frame


def alike(one: Cause, other: Cause) -> bool:
    """Whether two cloners break alike: the same in everything but the frame, which is each cloner's own."""
    return signature(one.root)[:4] == signature(other.root)[:4] or one.fingerprint == other.fingerprint


def blame(
    found: Mapping[str, Sequence[Cause]], *, upstream: str = "upstream", fixed: str = "fixed"
) -> dict[str, list[Blame]]:
    """For each cloner, whose fault each of its causes is.

    What both show is a limit they share. What fixed shows where upstream made no clone at all counts likewise: there
    upstream had no chance to show it.
    """
    theirs, ours = found.get(upstream, ()), found.get(fixed, ())
    no_clone = any(cause.root.check == "made" for cause in theirs)
    blamed: dict[str, list[Blame]] = {}
    for cloner, its in found.items():
        if cloner == upstream:
            blamed[cloner] = [
                Blame.SHARED if any(alike(cause, other) for other in ours) else Blame.UPSTREAM for cause in its
            ]
        elif cloner == fixed:
            blamed[cloner] = [
                Blame.SHARED if no_clone or any(alike(cause, other) for other in theirs) else Blame.OURS
                for cause in its
            ]
        else:
            blamed[cloner] = [Blame.ITS_OWN for _ in its]
    return blamed


def title(cause: Cause) -> str:
    """A line that says what is wrong, for a list of findings."""
    root = cause.root
    where = root.first.kind if root.first else "a model"
    if root.raised is not None:
        at = f" at {root.raised.frame}" if root.raised.frame else ""
        return f"{root.raised.type}{at}, {_when(root)}" + (f" ({where})" if root.first else "")
    words = root.aspect.replace(".", " ").replace("_", " ")
    return f"{where}: {words}" + ("" if root.check in ("outputs", "structure", "masks") else f" ({root.check})")


def named_kinds(differences: Iterable[Difference], kinds: Mapping[str, str]) -> list[Difference]:
    """Differences with their places in the graph's terms: a layer's kind there, where the graph knows its name."""
    named = []
    for difference in differences:
        first = difference.first
        kind = kinds.get(first.name.rpartition("/")[2]) if first else None
        if first is not None and kind is not None and first.layer >= 0:
            difference = replace(difference, first=replace(first, kind=kind))
        named.append(difference)
    return named


def _kind(first: Place | None, aspect: str, check: str) -> str:
    if first is None:
        return ""
    if aspect == "weight value" and check == "untouched":
        return ""
    special = (first.container and first.layer >= 0) or first.kind == "InputLayer"
    if _OF_ANY_KIND.search(aspect) and not special:
        return "" if first.layer >= 0 else "model"
    return _SAME_KIND.get(first.kind, first.kind)


def _aspect(root: Difference) -> str:
    # A value that differs in training mode only is another matter than one that differs always.
    if root.check in ("outputs", "masks") and root.path.startswith("training"):
        return f"{root.aspect} in training"
    if root.check in ("again", "untouched", "saved"):
        return f"{root.path.partition('.')[0].partition('[')[0]} {root.aspect}"
    return root.aspect


def _when(root: Difference) -> str:
    when = {"made": "when cloned", "weights": "when given weights", "saved": "once saved", "again": "when cloned again"}
    return when.get(root.check, "when the clone runs" if root.rank is Cost.CRASHES else "in the clone")
