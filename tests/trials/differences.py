"""A difference made by hand: the clone raises where the original runs."""

from __future__ import annotations

from clonediff.reports.records import Difference, Place, Raised, Severity

RAISING = Difference(
    "outputs",
    "inference",
    "raises",
    "it runs",
    "ValueError: Lambda lambda_1 at 0x7f00",
    Severity.CRASHES,
    Place("lambda_1", "Lambda", 2),
    Raised("ValueError", "lambda_1 at 0x7f00", "keras/src/models/functional.py:call"),
)
