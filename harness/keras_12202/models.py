"""Small functional models as source, which Hypothesis draws and shrinks."""

from __future__ import annotations

import random
from collections.abc import Callable

import hypothesis
from hypothesis import Phase, settings
from hypothesis import strategies as st

IMPORTS = """\
from keras import backend as K
from keras.layers import Add, Dense, Input, Lambda, Masking, SimpleRNN
from keras.models import Model

"""
MASK = "mask=lambda x, mask: K.not_equal(x[:, :, 0], 0.0)"
_LAYERS = [
    (1, 1, "Lambda(lambda x: x)"),
    (1, 2, "Lambda(lambda x: [x, x])"),
    (2, 1, "Add()"),
    (1, 1, "Dense(4)"),
    (1, 1, "Masking()"),
    (1, 1, "SimpleRNN(4, return_sequences=True)"),
    (1, 1, f"Lambda(lambda x: x + 1, {MASK})"),
    (1, 2, f"Lambda(lambda x: [x, 2 * x], {MASK})"),
    (1, 1, "Lambda(lambda x: 2 * x, mask=lambda x, mask: mask)"),
    (1, 2, "Lambda(lambda x: [x, x + 1], mask=lambda x, mask: [None, mask])"),
    (2, 2, "Lambda(lambda x: [x[0], x[1]], mask=lambda x, mask: mask)"),
    (1, 1, "Lambda(lambda x, mask=None: x if mask is None else x * K.cast(K.expand_dims(mask), 'float32'))"),
]
"""Numbers of inputs and outputs, and source, of each layer, the simplest first."""

Effects = dict[str, str]
"""A message for each difference of a clone, or for each effect of a proposal: "fixes", "leaves" or "breaks"."""


def source_of(calls: list[tuple[tuple[int, int, str], list[int]]]) -> str:
    """A model's source; a call's integers count its inputs back from the last tensor."""
    tensors, lines, operands = ["x0"], ["x0 = Input(shape=(3, 4))"], {"x0"}
    for (input_count, output_count, layer), numbers in calls:
        names = [tensors[-1 - number % len(tensors)] for number in numbers[:input_count]]
        results = [f"x{len(tensors) + number}" for number in range(output_count)]
        operand = f"[{', '.join(names)}]" if input_count > 1 else names[0]
        lines.append(f"{', '.join(results)} = {layer}({operand})")
        tensors += results
        operands.update(names)
    outputs = ", ".join(tensor for tensor in tensors if tensor not in operands)
    return IMPORTS + "\n".join([*lines, f"model = Model(x0, [{outputs}])\n"])


_CALLS = st.tuples(st.sampled_from(_LAYERS), st.lists(st.integers(0, 3), min_size=2, max_size=2))
SOURCES = st.builds(source_of, st.lists(_CALLS, min_size=1, max_size=5))


def search(count: int, seed: int, effects_of: Callable[[str], Effects], smallest: dict[str, str]) -> list[str]:
    """Return the models tried. Add the smallest with each new effect to `smallest`."""
    sources: list[str] = []
    new_effects: list[str] = []

    def has_new_effect(source: str) -> bool:
        sources.append(source)
        effects = effects_of(source)
        new_effects.extend(effect for effect in effects if effect not in smallest and not new_effects)
        return bool(new_effects) and new_effects[0] in effects

    phases = [Phase.generate, Phase.shrink]
    limits = settings(max_examples=count, database=None, deadline=None, phases=phases)
    while True:
        try:
            source = hypothesis.find(SOURCES, has_new_effect, settings=limits, random=random.Random(seed))
        except hypothesis.errors.NoSuchExample:
            return list(dict.fromkeys(sources))
        smallest[new_effects[0]] = source
        del sources[:], new_effects[:]
