"""A trial as a subject is asked for it: source text and numbers, no graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from clonediff.harness.observation import Keeps

RATE = 8
"""One drawn graph in so many has the costly part of a trial as well: a second clone, and a step of training."""


def takes_arguments(cloner: str) -> bool:
    """Whether a cloner can be given what `clone_model` is given beside the model."""
    return cloner in ("upstream", "fixed", "candidate")


class Case(msgspec.Struct, frozen=True):
    """What is tried.

    `arguments` has the expressions that `clone_model` is given, by name; `asked` is the source of the model that is
    then asked for, which leaves it in `model`, after `source`; where it is "", that is the model itself. `promises`
    names what is asked, where that is less. `keeps` says what of the model itself is to stand in the clone; where it
    `repeats`, the clone is cloned with the same arguments. `within` has the expressions of the scopes in which it is
    cloned.
    """

    source: str
    inputs: tuple[dict[str, Any], ...]
    batch: int = 3
    seed: int = 0
    arguments: dict[str, str] = {}
    asked: str = ""
    keeps: Keeps = ""
    promises: str = ""
    repeats: bool = False
    within: tuple[str, ...] = ()

    def request(self, cloners: Iterable[str], costly: bool = False, device: str | None = None) -> dict[str, Any]:
        """The request of a trial of this case, as `inside.serve` reads it."""
        request = {**msgspec.structs.asdict(self), "do": "trial", "cloners": list(cloners), "costly": costly}
        return request if device is None else {**request, "device": device}
