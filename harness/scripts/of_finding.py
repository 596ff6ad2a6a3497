"""A hit as a finding that is kept, and its script."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from clonediff.harness.scripts.reproducer import Script, reproducer, with_versions
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.trial import Hit
from clonediff.reports.records import Finding
from clonediff.strategies.program import to_json


def finding_of(hit: Hit, subject: Subject, versions: Mapping[str, str]) -> Finding:
    """A hit as it is kept. What its script proves is not known yet, nor whether its graph can get smaller."""
    assert hit.graph is not None, "nobody keeps what a model of somebody's own shows"
    cause = hit.cause
    return Finding(
        id=hit.id,
        title=hit.title,
        generation=subject.generation,
        cloner=hit.cloner,
        graph=msgspec.Raw(to_json(hit.graph)),
        differences=cause.differences if cause else (),
        source=hit.case.source,
        versions=dict(versions),
        known=hit.known.id if hit.known else None,
        subject=str(subject),
        first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
        blame=hit.blame.value if hit.blame else "",
        detail=hit.detail,
        smallest=False,
    )


def script_of(hit: Hit, dialect: str, versions: Mapping[str, str]) -> Script:
    """The script that shows a hit: plain Keras, unless it is our own cloner that breaks it."""
    if hit.cause is None:
        return with_versions(Script(hit.case.source), versions)
    return with_versions(reproducer(hit.case, dialect, hit.cause.root, hit.cloner), versions)
