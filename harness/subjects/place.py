"""Where the release of a subject is on this machine, as plain data: which interpreter, which folders, in what way."""

from __future__ import annotations

import sys
from typing import Literal

import msgspec

How = Literal["beside", "laid over", "own stack", "v1 mode"]
"""The ways to have a release, all of them the real package: installed beside clonediff; laid over the packages there;
on the Python and the TensorFlow of its day; Keras 2.2 on the TensorFlow at hand in v1 mode.
"""


class ReleasePlace(msgspec.Struct, frozen=True):
    """`path` has the folders to import from before all others, `versions` what was installed there, by package."""

    python: str = sys.executable
    path: tuple[str, ...] = ()
    how: How = "beside"
    versions: dict[str, str] = {}


BESIDE = ReleasePlace()
"""The packages that are installed beside clonediff."""
