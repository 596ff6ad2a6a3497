"""Layers that act in training only: dropout and noise."""

from __future__ import annotations

from strategies.graph import Value
from strategies.kinds.arguments import more
from strategies.kinds.kind import LEFT_OUT, Kind, floats, same

TRAINING: dict[str, tuple[Value, ...]] = {"training": (LEFT_OUT, True, False, None)}


def _noise(name: str, weight: int = 1, **options: tuple[Value, ...]) -> Kind:
    return Kind(
        name,
        options={**options, "seed": (LEFT_OUT, 7)},
        call_options=TRAINING,
        more=more("noise_shape") if name in ("Dropout", "AlphaDropout") else {},
        fits=floats(1, 3),
        gives=same,
        masks=True,
        weight=weight,
    )


KINDS = (
    _noise("Dropout", weight=2, rate=(0.5, 0.25)),
    _noise("GaussianDropout", rate=(0.5,)),
    _noise("GaussianNoise", stddev=(0.5,)),
    _noise("AlphaDropout", rate=(0.5,)),
)
