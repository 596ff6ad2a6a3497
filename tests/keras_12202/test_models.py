"""Models are drawn from a seed and made small, without Keras."""

from __future__ import annotations

import ast

from clonediff.harness.keras_12202.models import HEAD, Effects, search


def nothing(source: str) -> Effects:
    return {}


def two_outputs(source: str) -> Effects:
    calls = [line for line in source.splitlines() if line.startswith("x") and ", " in line.partition(" = ")[0]]
    masked = {"masked": "a mask function"} if "mask=lambda" in source else {}
    return {"several": "several outputs", **masked} if calls else masked


def test_the_same_seed_draws_the_same_models() -> None:
    drawn = search(50, 3, nothing, {})
    assert len(set(drawn)) == len(drawn) > 20
    assert drawn == search(50, 3, nothing, {})
    assert drawn != search(50, 4, nothing, {})
    for source in drawn:
        ast.parse(source)


def test_drawn_models_have_masked_unmasked_and_multi_output_lambdas() -> None:
    text = "\n".join(search(200, 0, nothing, {}))
    for part in ("Lambda(lambda x: [x, x])", "mask=lambda", "Masking()", "Dense(4)", "SimpleRNN("):
        assert part in text


def test_each_effect_has_a_smallest_model_of_one_call() -> None:
    smallest: dict[str, str] = {}
    search(100, 0, two_outputs, smallest)
    assert set(smallest) == {"several", "masked"}
    for source in smallest.values():
        assert len(source.removeprefix(HEAD).splitlines()) == 3
    assert "x1, x2 = Lambda(lambda x: [x, x])(x0)" in smallest["several"]


def test_what_is_known_is_not_looked_for() -> None:
    smallest = {"several": "known"}
    search(100, 0, two_outputs, smallest)
    assert smallest["several"] == "known"
    assert "mask=lambda" in smallest["masked"]
