"""Cases in which the right clone is undefined, where a model is prepared or cloned with arguments.

Owns the rules, each with its reason and where Keras says so, or leaves it open. What cannot be done is none of them:
Keras is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clonediff.strategies.graph import CloneArguments, Graph, all_layers
from clonediff.strategies.preparations import LEARNED
from clonediff.strategies.targets import targets


class Rule(NamedTuple):
    """A reason, and whether it `holds` for a graph, what is done to it and its clone arguments."""

    reason: str
    holds: Callable[[Graph, set[str], CloneArguments], bool]


def unsaid(graph: Graph) -> str:
    """Why nobody says what the clone of a graph's model is, prepared and with its arguments; "" where somebody does."""
    done, arguments = {each.does for each in graph.preparations}, graph.clone_arguments or CloneArguments()
    return next((rule.reason for rule in RULES if rule.holds(graph, done, arguments)), "")


def _learns_its_width(graph: Graph) -> bool:
    looks_up = [kind for kind, learned in LEARNED.items() if "vocabulary" in learned]
    there = targets(graph)
    adapted = [each.kind for each in graph.preparations if each.does == "adapt"]
    kinds = [kind for kind in adapted if kind in looks_up and kind in there]
    return any(there[kind].layer.arg("output_mode", "int") != "int" for kind in kinds if kind)


def _has(graph: Graph, kind: str) -> bool:
    return any(layer.kind == kind for layer in all_layers(graph))


RULES: tuple[Rule, ...] = (
    # tf_keras/src/layers/preprocessing/index_lookup.py:926 refuses it: the layer has told another shape before.
    Rule(
        "how wide that is what a lookup gives which has learned its vocabulary after it was called",
        lambda graph, done, arguments: _learns_its_width(graph),
    ),
    # keras/src/layers/normalization/spectral_normalization.py:69 draws random numbers of the dtype of the kernel.
    Rule(
        "what a SpectralNormalization is around a kernel that is quantized",
        lambda graph, done, arguments: "quantize" in done and _has(graph, "SpectralNormalization"),
    ),
    # keras/src/models/cloning.py: "In a Sequential model, layers aren't called at model-construction time".
    Rule(
        "what a function is told of the calls of a Sequential",
        lambda graph, done, arguments: arguments.call_function and graph.sequential,
    ),
    # "input_tensors: optional list of input tensors" (tf_keras/src/models/cloning.py): no list in one.
    Rule(
        "how inputs are nested before Keras 3",
        lambda graph, done, arguments: arguments.inputs == "listed" and graph.generation not in (None, "keras"),
    ),
)
