"""An accusation as a person reads it: what, where, whose fault, and the script."""

from __future__ import annotations

from harness.hunting.hunt import LOST, REFUSED, Accusation, Hunt
from harness.source.graph_mode import standing
from harness.source.reproducer import reproducer
from reports.records import COSTS


def told(accusation: Accusation, hunt: Hunt) -> str:
    """The message of a failing test."""
    ready = hunt.process.ready
    versions = f"{hunt.process.subject} {ready.keras}, {ready.backend} {ready.backend_version}, Python {ready.python}"
    head = [f"{accusation.title} [{accusation.fingerprint}]", f"on {versions}"]
    if accusation.fingerprint in (REFUSED, LOST) or accusation.cause is None:
        said = "clonediff drew a model that this Keras does not build or run: a fault of clonediff's generator."
        return "\n".join((*head, said, accusation.detail, "", accusation.case.source))
    root = accusation.cause.root
    lines = [*head, f"{accusation.cloner}: {accusation.blame}; {COSTS[accusation.cause.rank]}"]
    lines += [f"{root.check}: {root.path}", f"  original: {root.expected}", f"  clone:    {root.found}"]
    if root.first is not None:
        lines.append(f"  first seen at {root.first.name or 'the model itself'} ({root.first.kind})")
    lines += accusation.notes
    if accusation.cause.followers:
        lines.append(f"  {len(accusation.cause.followers)} more differences follow from it")
    case = accusation.case
    plain = reproducer(case.source, hunt.process.subject.dialect, root, accusation.cloner, case)
    script = standing(plain, hunt.process.versions)
    return "\n".join((*lines, "", script.text))
