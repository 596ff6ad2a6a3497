"""What of a config that Keras itself writes is compared."""

from __future__ import annotations

import keras

from clonediff.harness.inside.canonical import text


def test_the_counted_name_of_a_seed_generator_says_nothing() -> None:
    one, other, another_seed = (
        keras.initializers.RandomNormal(seed=keras.random.SeedGenerator(seed)).get_config() for seed in (3, 3, 4)
    )
    assert one != other, "their names are counted"
    assert text(one) == text(other) != text(another_seed)
