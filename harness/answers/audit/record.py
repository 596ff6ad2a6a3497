"""What there is to audit, and what came of it: an answer for each argument of each class."""

from __future__ import annotations

from typing import Literal

import msgspec

from clonediff.strategies.kinds.kind import Parameters


class AuditedClass(msgspec.Struct, frozen=True):
    """A class that has a config: its sort, and what its constructor takes."""

    name: str
    sort: str = "object"
    constructor: Parameters = ()


class ArgumentAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument, or with an empty name the class as it is without any.

    `tried` is the value that shows it, as Python, `reason` what is lost, or why there is no answer. `script` is plain
    Keras that fails where it is lost.
    """

    name: str
    answer: Literal["lost", "kept", "cannot tell"]
    tried: str = ""
    reason: str = ""
    script: str = ""

    @property
    def given(self) -> str:
        """What it was given."""
        return f"{self.name}={self.tried}" if self.name else "whatever it is given"


class ClassAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class with its arguments; `reason` says why it was not audited."""

    name: str
    arguments: tuple[ArgumentAudited, ...] = ()
    reason: str = ""

    @property
    def lost(self) -> tuple[ArgumentAudited, ...]:
        """The arguments that its config loses."""
        return tuple(argument for argument in self.arguments if argument.answer == "lost")
