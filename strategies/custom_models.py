"""Models of custom classes: of which class a model can be."""

from __future__ import annotations

from msgspec import structs

from clonediff.strategies.graph import CustomClass, Graph, levels
from clonediff.strategies.kinds import Generation


def has_custom_class(graph: Graph) -> bool:
    """Whether the model, or one in it, is of a custom class."""
    return any(level.custom_class is not None for level in levels(graph))


def of_custom_class(graph: Graph, digit: int, generation: Generation | None) -> Graph:
    """The model as one of a custom class; in Keras 3, for every second number the constructor takes an option."""
    takes_option = generation == "keras" and not graph.sequential and digit % 2 == 1
    return structs.replace(graph, custom_class=CustomClass("option" if takes_option else ""))
