"""The settings of a layer: its config, and what it has learned. A part of the check of structure."""

from __future__ import annotations

from collections.abc import Iterator

from clonediff.harness.subjects.observation import LayerSeen
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference, Place

_TOLD_ELSEWHERE = frozenset(["name", "trainable", "build_config", "compile_config"])
_BUILT_ON = frozenset(["query_shape", "key_shape", "value_shape"])
"""Shapes that a layer was built on, which its calls tell as well: a clone on other inputs is built from the config."""
_OF_THE_GRAPH = frozenset(["layers", "input_layers", "output_layers", "build_input_shape"])


def settings(layer: LayerSeen, twin: LayerSeen, first: Place, path: str) -> Iterator[Difference]:
    """Every setting of a layer that is another in the clone."""
    passed_over = _TOLD_ELSEWHERE | _OF_THE_GRAPH if "layers" in layer.config else _TOLD_ELSEWHERE
    if layer.kind == "MultiHeadAttention":
        passed_over |= _BUILT_ON
    for key in dict.fromkeys((*layer.config, *twin.config)):
        want, have = layer.config.get(key, MISSING), twin.config.get(key, MISSING)
        if want != have and key not in passed_over:
            if key.startswith("."):
                yield differs("structure", f"attribute{key}", f"{path}.attribute{key}", want, have, first)
            else:
                yield differs("structure", f"config.{key}", f"{path}.config.{key}", want, have, first)
