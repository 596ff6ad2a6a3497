"""Search draws models from a seed and shrinks them, without Keras."""

from __future__ import annotations

import pytest

from clonediff.harness.keras_12202.models import search

pytestmark = pytest.mark.no_keras


def find_nothing(source: str) -> dict[str, str]:
    return {}


def find_features(source: str) -> dict[str, str]:
    found = {"x1, x2 =": "a layer has several outputs", "mask=lambda": "a Lambda has a mask function"}
    return {part: text for part, text in found.items() if part in source}


def test_a_seed_always_draws_the_same_models() -> None:
    drawn = search(100, 0, find_nothing, {})
    assert len(set(drawn)) == len(drawn) > 40
    assert drawn == search(100, 0, find_nothing, {}) != search(100, 4, find_nothing, {})
    for part in ("Lambda(lambda x: [x, x])", "mask=lambda", "Masking()", "Dense(4)", "SimpleRNN("):
        assert part in "\n".join(drawn)


def test_search_finds_a_one_call_model_for_each_effect() -> None:
    smallest: dict[str, str] = {}
    search(100, 0, find_features, smallest)
    assert set(smallest) == {"x1, x2 =", "mask=lambda"}
    assert all(len(source.partition("\n\n")[2].splitlines()) == 3 for source in smallest.values())
    assert "x1, x2 = Lambda(lambda x: [x, x])(x0)" in smallest["x1, x2 ="]
