"""A hit as a person reads it: what, where, whose fault, and the script."""

from __future__ import annotations

from clonediff.harness.scripts.graph_mode import with_versions
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import Hit
from clonediff.reports.records import SEVERITIES


def message_of(hit: Hit, trials: GraphTrials) -> str:
    """The message of a failing test."""
    ready = trials.process.ready
    versions = f"{trials.process.subject} {ready.keras}, {ready.backend} {ready.backend_version}, Python {ready.python}"
    head = [f"{hit.title} [{hit.fingerprint}]", f"on {versions}"]
    if hit.cause is None:
        said = "clonediff drew a model that ends this Keras: a fault of clonediff's generator."
        return "\n".join((*head, said, hit.detail, "", hit.case.source))
    root = hit.cause.root
    lines = [*head, f"{hit.cloner}: {hit.blame}; {SEVERITIES[hit.cause.severity]}", *root.lines]
    if root.first is not None:
        lines.append(f"  first seen at {root.first.said}")
    lines += hit.notes
    if hit.cause.followers:
        lines.append(f"  {len(hit.cause.followers)} more differences follow from it")
    case = hit.case
    plain = reproducer(case.source, trials.process.subject.dialect, root, hit.cloner, case)
    script = with_versions(plain, trials.process.versions)
    return "\n".join((*lines, "", script.text))
