"""Within what a model is built and cloned: dtype policies, name scopes, RematScopes."""

from __future__ import annotations

from collections.abc import Iterator

from strategies.compiling import Values
from strategies.graph import Graph, Layer, Made, all_layers, levels, refs
from strategies.kinds import CATALOGUE, LEFT_OUT
from strategies.typing import infer


def name_scope(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {"name": ("outer",)}


def remat(graph: Graph, kind: str | None) -> dict[str, Values]:
    """What is computed twice; no activations of a recurrent layer: Keras sets its `activation`, which it only reads."""
    kinds = [CATALOGUE[layer.kind] for layer in all_layers(graph) if layer.kind in CATALOGUE]
    return {"mode": ("full",) if any(kind.family == "recurrent" for kind in kinds) else ("full", "activations")}


def of_plain_layers(graph: Graph) -> Iterator[str | None]:
    """Models whose layers are called on tensors alone, which a gradient can be made of twice.

    None that draws numbers: in a RematScope they are drawn anew for the gradient, and outside of it, where the clone is
    made, they are not.
    """
    layers = [layer for layer in all_layers(graph) if layer.kind in CATALOGUE]
    if all(CATALOGUE[layer.kind].family in _PLAIN and not _draws(layer) for layer in layers):
        yield None


def _draws(layer: Layer) -> bool:
    kind = CATALOGUE.get(layer.kind)
    if kind is not None and kind.family != "recurrent" and "seed" in {*kind.options, *kind.more}:
        return True
    if any(layer.arg(name) is not None for name in ("dropout", "recurrent_dropout")):
        return True
    return any(isinstance(value, Made) and _draws(value.layer) for _, value in layer.args)


def without_masks(graph: Graph) -> Iterator[str | None]:
    """Such models without a mask: in a RematScope calls of Keras lose them, be it a model's or its clone's."""
    if not any(spec.mask for level in levels(graph) for specs in infer(level) for spec in specs):
        yield from of_plain_layers(graph)


_PLAIN = ("core", "merging", "noise", "convolution", "recurrent", "custom")


def policy(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {"name": ("mixed_bfloat16", "float64")}


def that_casts(graph: Graph) -> Iterator[str | None]:
    """Models in which all dtypes become one: tf_keras casts what a layer is given first."""
    calls = [call for level in levels(graph) for call in level.calls]
    kinds = [CATALOGUE[layer.kind] for layer in all_layers(graph) if layer.kind in CATALOGUE]
    first = all(len(call.args) == 1 and not any(list(refs(value)) for _, value in call.kwargs) for call in calls)
    if graph.generation == "keras" or (first and all(kind.family in _CAST for kind in kinds)):
        yield None


_CAST = ("core", "merging", "noise", "convolution", "conv_lstm", "recurrent")


def built_policy(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {"name": ("mixed_bfloat16", "float64"), "then": (LEFT_OUT, "float32")}
