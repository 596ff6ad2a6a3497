"""Cloners that are broken on purpose, by their names as a subject is asked for them."""

from __future__ import annotations

from pathlib import Path


def planted(fault: str) -> str:
    """The name of the cloner with that fault."""
    return f"{Path(__file__).parent}/faults:{fault}"
