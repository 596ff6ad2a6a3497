"""Small functional models, drawn and made smaller by Hypothesis, as Keras source."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

HEAD = """\
from keras import backend as K
from keras.layers import Add, Dense, Input, Lambda, Masking, SimpleRNN
from keras.models import Model

"""
_MASK = "mask=lambda x, mask: K.not_equal(x[:, :, 0], 0.0)"
_LAYERS = [
    (1, 1, "Lambda(lambda x: x)"),
    (1, 2, "Lambda(lambda x: [x, x])"),
    (1, 3, "Lambda(lambda x: [x, 2 * x, x])"),
    (2, 1, "Add()"),
    (1, 1, "Dense(4)"),
    (1, 1, "Masking()"),
    (1, 1, "SimpleRNN(4, return_sequences=True)"),
    (1, 1, f"Lambda(lambda x: x + 1, {_MASK})"),
    (1, 2, f"Lambda(lambda x: [x, 2 * x], {_MASK})"),
    (1, 1, "Lambda(lambda x: 2 * x, mask=lambda x, mask: mask)"),
    (1, 2, "Lambda(lambda x: [x, x + 1], mask=lambda x, mask: [None, mask])"),
    (2, 2, "Lambda(lambda x: [x[0], x[1]], mask=lambda x, mask: mask)"),
    (1, 1, "Lambda(lambda x, mask=None: x if mask is None else x * K.cast(K.expand_dims(mask), 'float32'))"),
]
"""Layers with the number of tensors that they take and give, all of shape (3, 4); the simplest first."""

Effects = dict[str, str]
"""What is wrong with the clone of a model, or what a proposal does to it, each with a sentence."""


def source_of(calls: list[tuple[tuple[int, int, str], list[int]]], outputs: list[int]) -> str:
    """The source of a model. Operands and outputs are numbers of tensors, counted from the last."""
    tensors = ["x0", "x1"]
    steps = [("Input(shape=(3, 4))", "", [name]) for name in tensors]
    for (takes, gives, layer), operands in calls:
        names = ", ".join(tensors[-1 - operand % len(tensors)] for operand in operands[:takes])
        results = [f"x{len(tensors) + number}" for number in range(gives)]
        steps.append((layer, f"([{names}])" if takes > 1 else f"({names})", results))
        tensors += results
    model_outputs = list(dict.fromkeys(tensors[-1 - output % (len(tensors) - 2)] for output in outputs))
    needed = set(model_outputs)
    lines: list[str] = []
    for layer, arguments, results in reversed(steps):
        if needed.intersection(results):
            needed.update(re.findall(r"x\d+", arguments))
            lines.insert(0, f"{', '.join(results)} = {layer}{arguments}")
    inputs = ", ".join(name for name in ("x0", "x1") if name in needed)
    text = "\n".join([*lines, f"model = Model([{inputs}], [{', '.join(model_outputs)}])\n"])
    numbers = list(dict.fromkeys(re.findall(r"\bx\d+", text)))
    return HEAD + re.sub(r"\bx\d+", lambda name: f"x{numbers.index(name[0])}", text)


_NUMBER = st.integers(0, 3)
_CALL = st.tuples(st.sampled_from(_LAYERS), st.lists(_NUMBER, min_size=2, max_size=2))
_CALLS = st.lists(_CALL, min_size=1, max_size=5)
SOURCES = st.builds(source_of, _CALLS, st.lists(_NUMBER, min_size=1, max_size=3))
_SETTINGS = settings(deadline=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck))


class _FoundError(Exception):
    """A model has the effect that is looked for."""


def search(count: int, seed_: int, effects_of: Callable[[str], Effects], smallest: dict[str, str]) -> list[str]:
    """The models that a seed draws. For each of their effects that `smallest` lacks, the smallest model goes there."""
    drawn: list[str] = []
    wanted: list[str] = []

    @seed(seed_)
    @settings(_SETTINGS, database=None, max_examples=count)
    @given(SOURCES)
    def draw(source: str) -> None:
        drawn.append(source)
        effects = effects_of(source)
        wanted.extend(effect for effect in effects if effect not in smallest and not wanted)
        if wanted and wanted[0] in effects:
            raise _FoundError

    while True:
        try:
            draw()
        except _FoundError:
            smallest[wanted[0]] = drawn[-1]
        else:
            return list(dict.fromkeys(drawn))
        del drawn[:], wanted[:]
