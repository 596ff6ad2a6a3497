"""The models that come with Keras: which there are, and how large each is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

IMAGE = 224
"""The side of the image for those that take any."""

_TABLES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("applications.toml").read_text(encoding="utf-8"))
MILLIONS: Mapping[str, float] = _TABLES["millions"]


def smallest_first(names: Iterable[str]) -> list[str]:
    """The names in the order in which to try them; one that is not in the table comes last."""
    return sorted(names, key=lambda name: (MILLIONS.get(name, 1e9), name))


def how_large(name: str) -> str:
    """How large it is, for a list."""
    return f"{MILLIONS[name]:.1f} million parameters" if name in MILLIONS else "of a size that is not known here"
