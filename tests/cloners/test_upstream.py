"""The same builders cloned by Keras' own `clone_model`: what the checks find that it breaks, the oracle finds, too.

Nearly all of its clones have an input of another name, so what is compared is all but names.
"""

from __future__ import annotations

import pytest

from clonediff import UnfaithfulClone, assert_clones_faithfully
from tests.cloners.generations import GENERATIONS, KERAS, each_of
from tests.cloners.loading import load
from tests.cloners.oracle import unlike
from tests.example_counts import examples


def seen_by_the_oracle(builder, clone):
    try:
        return unlike(builder.build(), clone, builder.given(), builder.again, builder.computes, names=False)
    except Exception as error:  # whatever upstream raises
        return [repr(error)]


def seen_by_the_checks(builder, clone):
    try:
        assert_clones_faithfully(builder.build(), clone=clone, costly=False, at_least="property")
    except UnfaithfulClone as error:
        return [cause.fingerprint for cause in error.causes]
    return []


@each_of("MODELS", every=8, one_in=3)
def test_what_the_checks_see_of_upstream_the_oracle_sees(generation, builder):
    if builder.differs:
        pytest.skip(reason="they do not agree on a faithful clone of it, as test_models says")
    clone = KERAS[generation].models.clone_model
    # The oracle looks at no `input_spec`, which a Sequential of tf_keras has once it is cloned.
    by_checks = [each for each in seen_by_the_checks(builder, clone) if "-input-spec-" not in each]
    assert seen_by_the_oracle(builder, clone) or not by_checks, by_checks


@pytest.mark.parametrize("generation", GENERATIONS)
def test_upstream_breaks_many_of_them(generation):
    """So that neither is blind."""
    builders = list(load(generation).MODELS.values())[:: examples(24, 8)]
    clone = KERAS[generation].models.clone_model
    assert sum(bool(seen_by_the_oracle(each, clone)) for each in builders) > len(builders) / 4
