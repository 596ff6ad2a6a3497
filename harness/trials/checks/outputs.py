"""5. Outputs: for the same inputs, in inference and in training mode, the same structure, dtypes and values."""

from __future__ import annotations

from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.runs import run_differences
from clonediff.reports.records import Difference


def outputs(pair: Pair) -> list[Difference]:
    """Every step and every output that differs, bit for bit; each output names the first step where the runs part."""
    if pair.observed is None:
        return []
    return [
        *run_differences(pair, pair.original.inference, pair.observed.inference, "inference"),
        *run_differences(pair, pair.original.training, pair.observed.training, "training"),
    ]
