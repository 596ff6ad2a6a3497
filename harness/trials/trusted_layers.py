"""The layers, and the cloners of one's own, that the user has named on this machine, in the cache folder.

So a finding that has some is replayed without naming them again. The file may be deleted: then `--layers` is needed, or
`--cloner`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from clonediff.harness.source.other_layers import allow
from clonediff.harness.subjects.releases.store import cache


def trust(kinds: Iterable[str]) -> None:
    """Let scripts have these layers and cloners, now and in the commands to come."""
    named = set(kinds)
    allow(named)
    new = named.difference(_remembered())
    with contextlib.suppress(OSError):  # what cannot be remembered has to be named again
        if new:
            _file().parent.mkdir(parents=True, exist_ok=True)
            with _file().open("a", encoding="utf-8") as file:
                file.write("".join(f"{kind}\n" for kind in sorted(new)))


def allow_remembered() -> None:
    """Let scripts have the layers and cloners that the user has named before."""
    allow(_remembered())


def _remembered() -> set[str]:
    try:
        return set(_file().read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()


def _file() -> Path:
    return cache() / "layers.txt"
