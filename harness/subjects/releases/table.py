"""The stacks of old releases: which Python and which exact packages a TensorFlow of its day runs on.

Owns the reading of stacks.toml, which says how the table was made.
"""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

TABLE = Path(__file__).with_name("stacks.toml")


class Stack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TensorFlow with everything that it needs. Its neighbours in `serves` run on the same packages.

    `keras` has the releases of Keras itself that are laid over it. `seconds` and `megabytes` are what an installation
    took and takes, to tell who waits for one.
    """

    tensorflow: str
    serves: tuple[str, ...]
    python: str
    distribution: str
    pins: tuple[str, ...]
    keras: tuple[str, ...] = ()
    seconds: int = 0
    megabytes: int = 0


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stack: tuple[Stack, ...]


@functools.cache
def stacks() -> tuple[Stack, ...]:
    """All stacks, the oldest first."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=_Table).stack


def stack_of_tensorflow(version: str) -> Stack | None:
    """The stack that a TensorFlow is installed with."""
    return next((each for each in stacks() if version in each.serves), None)


def stack_of_keras(version: str) -> Stack | None:
    """The stack that a Keras 2.2 or 2.3 is laid over."""
    return next((each for each in stacks() if version in each.keras), None)
