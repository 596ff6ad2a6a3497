"""Layers that act in training only: dropout and noise."""

from __future__ import annotations

from strategies.graph import Value
from strategies.kinds.kind import LEFT_OUT, Kind, floats, same

TRAINING: dict[str, tuple[Value, ...]] = {"training": (LEFT_OUT, True, False, None)}
SEED: tuple[Value, ...] = (LEFT_OUT, 7)

KINDS = (
    Kind(
        "Dropout",
        options={"rate": (0.5, 0.25), "seed": SEED},
        call_options=TRAINING,
        fits=floats(1, 3),
        gives=same,
        masks=True,
        weight=2,
    ),
    Kind(
        "GaussianDropout",
        options={"rate": (0.5,), "seed": SEED},
        call_options=TRAINING,
        fits=floats(1, 3),
        gives=same,
        masks=True,
    ),
    Kind(
        "GaussianNoise",
        options={"stddev": (0.5,), "seed": SEED},
        call_options=TRAINING,
        fits=floats(1, 3),
        gives=same,
        masks=True,
    ),
    Kind(
        "AlphaDropout",
        options={"rate": (0.5,), "seed": SEED},
        call_options=TRAINING,
        fits=floats(1, 3),
        gives=same,
        masks=True,
    ),
)
