"""Whether a finding's script fails alone, in the words that every report has for it."""

from __future__ import annotations

from clonediff.reports.records import Finding


def alone(finding: Finding) -> str:
    """Whether its script fails where there is nothing but Keras, or why that is not known."""
    if finding.proof is None:
        return f"not known whether its script fails alone: {finding.unproven or 'it was not run'}"
    return "its script fails alone" if finding.proof else "its script does not fail alone, so it does not count"
