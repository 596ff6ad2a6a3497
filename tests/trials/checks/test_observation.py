"""What is refused of the description of a model, which the checks then need not doubt."""

from __future__ import annotations

import msgspec
import pytest

from clonediff.harness.subjects.observation import Shape

from .making import chain


@pytest.mark.parametrize("insides", [(0, -1), (1, 0), (-2, -1)], ids=["in itself", "in a circle", "nowhere"])
def test_layers_that_hold_each_other_in_a_circle_are_refused(insides: tuple[int, int]) -> None:
    told = msgspec.to_builtins(chain("Dense").shape)
    for layer, inside in zip(told["layers"], insides, strict=True):
        layer["inside"] = inside
    with pytest.raises(msgspec.ValidationError, match="does not come before it"):
        msgspec.convert(told, Shape)
