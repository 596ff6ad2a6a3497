"""The generations of Keras whose models live in the process of the tests, and all builders of each."""

from __future__ import annotations

import importlib

import pytest

from tests.cloners.loading import load

GENERATIONS = ("keras", "tf_keras")
KERAS = {name: importlib.import_module(name) for name in GENERATIONS}

each_generation = pytest.mark.parametrize("generation", GENERATIONS)


LATE = pytest.mark.slow(reason="a model that others are like")
ONE_OF_MANY = pytest.mark.slow(reason="one of hundreds of models; some of each module of models are tried by day")


def each_of(table, generations=GENERATIONS, one_in=1, every=1):
    """A test for each builder of a table, or every so many, in each generation; by day for one in so many."""
    found = []
    for generation in generations:
        for place, (name, builder) in enumerate([*getattr(load(generation), table).items()][::every]):
            marks = [LATE] if getattr(builder, "late", False) else [ONE_OF_MANY] if place % one_in else []
            found.append(pytest.param(generation, builder, id=f"{generation}-{name.replace('_', ' ')}", marks=marks))
    return pytest.mark.parametrize(("generation", "builder"), found)
