"""A hit as a finding that is kept, with the picture of both models as they were observed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from graphlib import TopologicalSorter

import msgspec

from clonediff.harness.observation import Shape
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import full_name
from clonediff.harness.trials.checks.skeletons import TensorName, tensors
from clonediff.harness.trials.trial import Hit
from clonediff.reports.records import Box, Finding
from clonediff.strategies.program import to_json


def finding_of(hit: Hit, script: Script, process: SubjectProcess) -> Finding:
    """A hit as it is kept. What its script proves is not known yet, nor whether its graph can get smaller."""
    assert hit.graph is not None, "nobody keeps what a model of somebody's own shows"
    cause = hit.cause
    return Finding(
        id=hit.id,
        title=hit.title,
        generation=process.subject.generation,
        cloner=hit.cloner,
        graph=msgspec.Raw(to_json(hit.graph)),
        differences=cause.differences if cause else (),
        source=script.text,
        versions=dict(process.versions),
        known=hit.known.id if hit.known else None,
        subject=str(process.subject),
        first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
        blame=hit.blame.value if hit.blame else "",
        detail=hit.detail,
        smallest=False,
        pictures=_pictures(hit.pair) if hit.pair else (),
    )


def _pictures(pair: Pair) -> tuple[tuple[Box, ...], ...]:
    """The calls of the original, and of the clone where one was made."""
    original = tuple(_boxes(pair.original.shape, pair.tensor))
    return (original, tuple(_boxes(pair.observed.shape, pair.counterpart))) if pair.clone.observation else (original,)


def _boxes(shape: Shape, name: TensorName) -> Iterator[Box]:
    """The calls of a model, each after those that give what it takes."""
    calls = {(number, use): call for number, layer in enumerate(shape.layers) for use, call in enumerate(layer.calls)}
    taken = {place: list(tensors([call.args, call.kwargs])) for place, call in calls.items()}
    givers = {place: [tensor[:2] for tensor in taken[place] if tensor[:2] in calls] for place in calls}
    for number, use in TopologicalSorter(givers).static_order():
        layer = shape.layers[number]
        inside = full_name(shape, layer.inside) if layer.inside >= 0 else ""
        call = name((number, use, 0)).rpartition(".")[0]
        yield Box(call, layer.name, layer.kind, tuple(map(name, taken[number, use])), inside)
