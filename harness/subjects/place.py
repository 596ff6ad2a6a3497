"""Where the release of a subject is on this machine, as plain data: the folders to import it from."""

from __future__ import annotations

import msgspec


class ReleasePlace(msgspec.Struct, frozen=True):
    """`path` has the folders to import from before all others."""

    path: tuple[str, ...] = ()


BESIDE = ReleasePlace()
"""The packages that are installed beside clonediff."""
