"""What `clone_model` refuses, and how it says so."""

from __future__ import annotations

import pytest

from clonediff import clone_model
from tests.fixed.generations import KERAS, for_generations


@for_generations
@pytest.mark.parametrize("kind", ["text", "nothing", "class"])
def test_what_is_no_model_is_refused(generation, kind):
    value = {"text": "model", "nothing": None, "class": KERAS[generation].layers.Dense}[kind]
    with pytest.raises((TypeError, ValueError), match="model"):
        clone_model(value)
