"""The fixed cloner on small models that are hard to clone, in each generation of Keras: builders x generations.

What is faithful is said twice: by an oracle of the tests' own, and by `assert_clones_faithfully`.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from clonediff import assert_clones_faithfully, clone_model
from tests import example_counts
from tests.cloners.generations import KERAS, each_of
from tests.cloners.oracle import unlike


@each_of("MODELS", one_in=3)
def test_a_clone_is_faithful(generation, builder):
    again = builder.again or example_counts.everything()
    assert unlike(builder.build(), quietly, builder.given(), again, builder.computes, builder.begins) == []


def quietly(model):
    """The clone; of how it describes functions, which goes into no file, Keras is to warn nobody."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        clone = clone_model(model)
    assert [each for each in heard if "serializ" in str(each.message)] == []
    return clone


@each_of("MODELS", one_in=10)
def test_the_checks_find_it_faithful(generation, builder):
    seen = set()

    def noted(cause):
        seen.add(cause.root.check)
        return cause.root.check in builder.differs

    if builder.differs == {"not built"}:
        with pytest.raises(ValueError, match="is not built"):
            assert_clones_faithfully(builder.build(), clone=clone_model)
        return
    assert_clones_faithfully(builder.build(), clone=clone_model, costly=False, ignore=noted)
    assert seen == builder.differs


@each_of("REFUSED")
def test_what_nobody_tells_is_refused_by_name(generation, builder):
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=builder.refused):
        clone_model(builder.build())


@each_of("TRAINED", ["keras"])
def test_a_compiled_model_is_trained_as_its_clone_is(generation, builder):
    model = builder.build()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    batch, targets = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")
    losses = [KERAS[generation].tree.flatten(each.train_on_batch(batch, targets)) for each in (model, clone)]
    assert np.array_equal(*losses)
    assert all(np.array_equal(*pair) for pair in zip(model.get_weights(), clone.get_weights(), strict=True))
    assert clone.optimizer is not model.optimizer
