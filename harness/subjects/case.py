"""A trial as a subject is asked for it: source text and numbers, no graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

RATE = 8
"""One drawn graph in so many has the costly part of a trial as well: a second clone, and training."""


def takes_arguments(cloner: str) -> bool:
    """Whether a cloner can be given what `clone_model` is given beside the model."""
    return cloner in ("upstream", "fixed", "candidate")


class Case(msgspec.Struct, frozen=True):
    """What is tried.

    `arguments` has the expressions that `clone_model` is given, by name. `promises` names what is asked, where that is
    less. Where it `keeps_inputs`, the clone is to have the inputs of the model itself. `within` has the expressions of
    the scopes in which it is cloned.
    """

    source: str
    inputs: tuple[dict[str, Any], ...]
    batch: int = 3
    seed: int = 0
    arguments: dict[str, str] = {}
    keeps_inputs: bool = False
    promises: str = ""
    within: tuple[str, ...] = ()

    def request(self, cloners: Iterable[str], costly: bool = False, device: str | None = None) -> dict[str, Any]:
        """The request of a trial of this case, as `inside.serve` reads it."""
        request = {**msgspec.structs.asdict(self), "do": "trial", "cloners": list(cloners), "costly": costly}
        return request if device is None else {**request, "device": device}
