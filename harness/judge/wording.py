"""What is seen, in words: a line for a graph, a clause for a cause, and what comes of something that is silent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clonediff.harness.inside.failures import CANDIDATE_FILE
from clonediff.harness.judge.trying import RaisedAt
from clonediff.reports.markup import one_line
from clonediff.reports.records import COSTS, Cause, Cost, Difference

_LONGEST = 110
_TAKES = {"timed out": "it does not come to an end", "out of memory": "it takes memory without end"}
_COMES_OF = {
    Cost.COMPUTES: "compute something else",
    Cost.TRAINS: "train differently",
    Cost.PROPERTY: "lose a property",
    Cost.NAME: "change a name",
    Cost.CRASHES: "crash when they are used",
}
_SHARED = re.compile(r"(layer|weight|state) shared")


def graph_line(source: str) -> str:
    """A model in a line: what its script does between what it imports and defines and the model."""
    lines = [
        line
        for line in source.strip().split("\n")
        if not re.match(r"import |from |class |def |@|\s|keras\.utils\.get_custom_objects|$", line)
    ]
    short = re.sub(r"\bkeras\.layers\.|\blayers\.|\bkeras\.", "", "; ".join(lines))
    return re.sub(r"; model = Model\([^;]*\)$", "", short)


def cause_clause(cause: Cause) -> str:
    """A cause in a clause: the exception, or the first difference."""
    root = cause.root
    if root.raised is not None and root.path == "process":
        return _TAKES.get(root.raised.type, f"it ends its process ({root.raised.type})")
    if root.raised is not None:
        when = {"made": "", "weights": " when the clone is given the weights"}.get(root.check, f" in {root.path}")
        return f"{root.raised.type}: {_short(root.raised.message)}{when}".replace(": :", ":").rstrip(": ")
    if _SHARED.fullmatch(root.aspect) and root.check == "own":
        word = root.aspect.partition(" ")[0]
        of = f" of {root.first.name} ({root.first.kind})" if root.first and word != "layer" else ""
        named = f" {root.first.name} ({root.first.kind})" if root.first and word == "layer" else ""
        return f"the clone has the original's own {word}{named}{of}"
    cost = f" ({COSTS[cause.rank]})" if cause.rank < root.rank else ""
    return f"{_where(root)}: {_short(root.expected)} in the original, {_short(root.found)} in the clone{cost}"


def where_raised(cause: Cause, at: RaisedAt | None) -> str:
    """Where an exception was raised, in words; "" where there is none."""
    root = cause.root
    if at is not None:
        return f" in `{at.function}`, line {at.line} of the file"
    if root.raised is None or not root.raised.frame or root.path == "process":
        return ""
    file, _, function = root.raised.frame.rpartition(":")
    return f" in `{function}`" + ("" if file == CANDIDATE_FILE else f" of {file}")


def comes_of(cause: Cause) -> str:
    """What a clone with this cause does, said of several clones."""
    root = cause.root
    shared = _SHARED.fullmatch(root.aspect) if root.check == "own" else None
    if shared:
        return f"share {shared[1]}{'' if shared[1] == 'state' else 's'} with the original"
    return _COMES_OF[cause.rank]


def likeness(differences: Sequence[Difference]) -> tuple[str, ...]:
    """What causes that are alike have in common: the type of an exception, or an aspect; names are all alike."""
    if not differences:
        return ()
    root = differences[0]
    if root.raised is not None:
        return (root.raised.type,)
    if min(each.rank for each in differences) is Cost.NAME:
        return ("name",)
    return (root.check, root.aspect)


def graphs(count: int) -> str:
    """So many graphs."""
    return "1 graph" if count == 1 else f"{count} graphs"


def _where(root: Difference) -> str:
    aspect = root.aspect.replace("_", " ")
    return (
        f"{aspect} of {root.first.name or 'the model'} ({root.first.kind})" if root.first else f"{root.check}, {aspect}"
    )


def _short(text: str) -> str:
    return one_line(re.sub(r" [0-9a-f]{16,}\b", "", " ".join(text.split())), _LONGEST)
