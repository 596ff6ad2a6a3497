"""`clone_model` on small models that are hard to clone, with all checks."""

from __future__ import annotations

import warnings

import pytest

from clonediff import assert_clones_faithfully, clone_model
from tests.fixed.generations import for_builders
from tests.mutants.models import MODELS
from tests.mutants.trials import differences_of_live_model


@for_builders("MODELS")
def test_clone_is_faithful(generation, builder):
    assert_clones_faithfully(builder.build(), clone=clone_quietly, inputs=builder.inputs and builder.inputs())


@pytest.mark.parametrize("name", MODELS)
def test_clone_of_a_clone_is_faithful(name):
    assert differences_of_live_model(name, lambda model: clone_quietly(clone_quietly(model))) == []


def clone_quietly(model):
    """Clone a model; ignore warnings about serialization."""
    with warnings.catch_warnings(record=True, action="always") as recorded:
        clone = clone_model(model)
    assert [warning for warning in recorded if "serializ" in str(warning.message)] == []
    return clone
