"""What a release says of the parameters of a function or a constructor."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from clonediff.strategies.graph import Value

NO_PLAIN_DEFAULT = "<no plain default>"
"""The default of what has none, or one that is no number, no text and no list of them."""


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parameter. The name of one that takes any number of arguments begins with a star, as "*operands"."""

    name: str
    required: bool = False
    default: Value = NO_PLAIN_DEFAULT
    keyword_only: bool = False


Parameters: TypeAlias = tuple[Parameter, ...]
