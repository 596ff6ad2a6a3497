"""5. Outputs: for the same inputs, in inference and in training mode, the same structure, dtypes and values."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.harness.subjects.observation import ModelRun
from clonediff.harness.trials.checks.aspects import differs, differs_in
from clonediff.harness.trials.checks.check import Check
from clonediff.harness.trials.checks.names import is_operation
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import place, short
from clonediff.harness.trials.checks.raised import unlike_failures
from clonediff.harness.trials.checks.runs import at_step, leaves, parted, unlike_leaves
from clonediff.harness.trials.checks.skeletons import MISSING, unlike
from clonediff.reports.records import Difference, Severity


def outputs(pair: Pair) -> list[Difference]:
    """Every step and every output that differs, bit for bit; each output names the first step where the runs part."""
    return [one for each in pair.runs for one in run_differences(pair, *each)]


def run_differences(pair: Pair, expected: ModelRun | None, found: ModelRun | None, where: str) -> list[Difference]:
    """Everything in which two runs differ, masks aside."""
    if expected is None:
        return []
    if found is None:
        return [differs("outputs", "not run", where, "a run", MISSING, place(pair.original.shape, -1))]
    if expected.failure is not None or found.failure is not None:
        failures = expected.failure, found.failure
        return list(unlike_failures("outputs", where, "it runs", *failures, pair.original.shape))
    severity = Severity.TRAINS if where == "training" else Severity.COMPUTES
    ends = list(_outputs(pair, expected, found, where, severity))
    are_moved = any(each.aspect == "order" for each in ends)
    here = (each for each in leaves(pair, expected, found, where) if not (are_moved and each.is_output))
    told = [
        differs_in("outputs", "", seen.path, one, first, severity=severity)
        for seen, first, one in parted(here, unlike_leaves)
    ]
    return [*_steps(pair, expected, found, where, severity), *ends, *told]


def _steps(pair: Pair, expected: ModelRun, found: ModelRun, where: str, severity: Severity) -> Iterator[Difference]:
    """Which calls there are, and in what they give their tensors. An operation without any may give a plain number."""
    shape, pairing = pair.original.shape, pair.steps(expected, found)
    ours, theirs = {step.layer for step in expected.steps}, {step.layer for step in found.steps}
    swapped: set[int] = set()
    for index, step in enumerate(expected.steps):
        first, path = place(shape, step.layer, step.use), at_step(pair, where, step, step.layer)
        if index not in pairing.found:
            twin_layer = pair.layers.found.get(step.layer)
            if twin_layer is not None and (twin_layer in theirs or not is_operation(shape.layers[step.layer])):
                yield differs("outputs", "step missing", path, "a call", MISSING, first, severity=severity)
            continue
        twin = found.steps[pairing.found[index]]
        same = [leaf.digest for leaf in step.outputs] == [leaf.digest for leaf in twin.outputs]
        if twin.use != step.use and same and step.layer not in swapped:
            swapped.add(step.layer)
            yield differs("outputs", "call order", path, f"use {step.use}", f"use {twin.use}", first)
        for one in unlike(step.structure, twin.structure):
            yield differs_in("outputs", "structure", f"{path}.structure", one, first, severity=severity)
        if len(step.outputs) != len(twin.outputs):
            counts = f"{len(step.outputs)} tensors", f"{len(twin.outputs)}"
            yield differs("outputs", "count", path, *counts, first, severity=severity)
    for index in pairing.extra:
        step = found.steps[index]
        layer = pair.layers.expected.get(step.layer)
        if layer is not None and (layer in ours or not is_operation(shape.layers[layer])):
            path, first = at_step(pair, where, step, layer), place(shape, layer, step.use)
            yield differs("outputs", "step extra", path, MISSING, "a call", first, severity=severity)


def _outputs(pair: Pair, expected: ModelRun, found: ModelRun, where: str, severity: Severity) -> Iterator[Difference]:
    """How many outputs there are, how they are nested, and whether they come in another order."""
    path, model = f"{where}.outputs", place(pair.original.shape, -1)
    for one in unlike(expected.structure, found.structure):
        yield differs_in("outputs", "structure", f"{where}.structure", one, model, severity=severity)
    if len(expected.outputs) != len(found.outputs):
        counts = str(len(expected.outputs)), str(len(found.outputs))
        yield differs("outputs", "count", path, *counts, model, severity=severity)
    wants, haves = [leaf.digest for leaf in expected.outputs], [leaf.digest for leaf in found.outputs]
    if wants != haves and sorted(wants) == sorted(haves):
        orders = short(list(range(len(wants)))), short([haves.index(digest) for digest in wants])
        yield differs("outputs", "order", path, *orders, model, severity=severity)


CHECK = Check("outputs", outputs)
