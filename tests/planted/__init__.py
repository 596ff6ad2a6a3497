"""Planted faults: cloners that are broken on purpose."""

from __future__ import annotations

from pathlib import Path


def cloner_of(fault: str) -> str:
    """Return the name of the cloner with this fault."""
    return f"{Path(__file__).parent}/faults:{fault}"
