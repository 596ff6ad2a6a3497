"""The clones of a trial, kept until all else is done, for what changes a model: to train it by `fit`, or in another."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from .description import Description
from .observer import Observer
from .variable_values import VariableValues, copy


class KeptClone(NamedTuple):
    """A clone with the values that it is to begin with. What comes of it is put into what is `told` of it."""

    told: dict[str, Any]
    description: Description
    values: VariableValues
    may_share: bool
    """Whether it may have variables of the original."""


class KeptOriginal(NamedTuple):
    """The model that the clones are held against, likewise, and what it is called on."""

    told: dict[str, Any]
    description: Description
    values: VariableValues
    arrays: list[Any]
    packing: Any
    build_again: Callable[[], Description]

    def built_again(self, observer: Observer) -> tuple[Description, VariableValues]:
        """Another build of it, with the values of this one: what that does not repeat, no clone has to."""
        again = self.build_again()
        values, _ = copy(self.description, self.values, again, observer)
        return again, values
