"""Models of custom classes: of which class a model can be, and what it becomes where it is of one.

A class inherits its constructor, or takes an option beside what the model is made of, or makes that itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from clonediff.strategies.graph import CustomClass, Graph, Layer, Makes, Ref, levels, made_layers
from clonediff.strategies.kinds import CATALOGUE, Generation, Specs

_INSIDE_PARTS = frozenset(("core", "merging", "noise", "convolution"))
"""The families of layers that a constructor may make: none holds another, whose name Keras would number anew."""
_MAKES: Mapping[Generation | None, tuple[Makes, ...]] = {"keras": ("", "option", "parts")}
"""What the constructors of classes make, where that is more than nothing or parts."""


def has_custom_class(graph: Graph) -> bool:
    """Whether the model, or one in it, is of a custom class."""
    return any(level.custom_class is not None for level in levels(graph))


def makes_parts(graph: Graph) -> bool:
    """Whether some constructor makes layers itself."""
    return any(level.custom_class is not None and level.custom_class.makes == "parts" for level in levels(graph))


def of_custom_class(
    graph: Graph, digit: int, specs: Specs, generation: Generation | None, *, parts: bool = True
) -> Graph:
    """The model as one of the class that a number from 0 stands for, or of a plainer one where it cannot be of that.

    With `parts` its constructor may make layers; `specs` is what the model gives.
    """
    makes, truths = _MAKES.get(generation, ("", "parts")), (False, True)
    choices = [CustomClass(what, calls, registered) for registered in truths for calls in truths for what in makes]
    wanted = choices[digit % len(choices)]
    if wanted.calls and not _multiplies(graph, specs):
        wanted = structs.replace(wanted, calls=False)
    if wanted.makes == "option" and graph.sequential:
        wanted = structs.replace(wanted, makes="parts")
    if wanted.makes == "parts" or digit % 2:
        if parts and _may_be_parts(graph):
            return structs.replace(_with_names(graph), custom_class=structs.replace(wanted, makes="parts"))
        wanted = structs.replace(wanted, makes="" if wanted.makes == "parts" else wanted.makes)
    return graph if graph.base is not None or graph.built else structs.replace(graph, custom_class=wanted)


def _multiplies(graph: Graph, specs: Specs) -> bool:
    return isinstance(graph.gives, Ref) and len(specs) == 1 and specs[0].dtype == "float32"


def _with_names(graph: Graph) -> Graph:
    """The model with a name for each layer and input, which its constructor gives them whenever it is called."""
    starts, parts = enumerate(graph.inputs), enumerate(graph.layers)
    inputs = (structs.replace(each, name=each.name or f"start_{place}") for place, each in starts)
    layers = (structs.replace(each, name=each.name or f"part_{place}") for place, each in parts)
    return structs.replace(graph, inputs=tuple(inputs), layers=tuple(layers))


def _may_be_parts(graph: Graph) -> bool:
    """Whether a constructor can make the graph, and makes the same one each time."""
    plain = graph.base is None and not graph.built and graph.trainable
    inputs = all(given.around is None and not given.sparse and not given.ragged for given in graph.inputs)
    return plain and inputs and all(_is_a_part(layer) for layer in graph.layers)


def _is_a_part(layer: Layer) -> bool:
    kind = CATALOGUE.get(layer.kind)
    return kind is not None and kind.family in _INSIDE_PARTS and not any(True for _ in made_layers(layer))
