"""Clone arguments with which the clone is the model itself: what `clonediff.strategies.graph.CloneArguments` has.

Owns what a release must be able to take for them, and the inputs of the model that the clone is compared with. How they
are typed is known to `clonediff.harness.source`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.strategies.asking import keras
from clonediff.strategies.graph import CloneArguments, Graph, Input, Ref
from clonediff.strategies.no_oracle import unsaid

INPUTS, CALL, RECURSIVE = "new inputs", "call functions", "recursive cloning"
"""What a `clone_model` may not be able to take."""

RECIPES = (
    CloneArguments("fresh"),
    CloneArguments("listed"),
    CloneArguments("layers"),
    CloneArguments("own"),
    CloneArguments(call_function=True),
    CloneArguments(recursive=True),
    CloneArguments("fresh", call_function=True, recursive=True),
    CloneArguments("layers", recursive=True),
)
"""What a drawn model is cloned with."""
_TRIES = 4


def abilities_for(arguments: CloneArguments) -> Iterator[str]:
    """What a `clone_model` must be able to take for these arguments."""
    if arguments.inputs:
        yield INPUTS
    if arguments.call_function:
        yield CALL
    if arguments.recursive:
        yield RECURSIVE


def inputs_of(graph: Graph) -> tuple[Input, ...]:
    """The inputs of the model that the clone is compared with: new ones have names of their own."""
    if graph.clone_arguments is None or graph.clone_arguments.inputs in ("", "own"):
        return graph.inputs
    return tuple(
        each if each.name is None else structs.replace(each, name=f"given_{number}")
        for number, each in enumerate(graph.inputs, start=1)
    )


def with_clone_arguments(graph: Graph, digit: int, missing: frozenset[str]) -> Graph:
    """The graph, cloned with the first arguments from a digit on that the model and Keras can take."""
    tries = _TRIES
    for number in range(len(RECIPES)):
        arguments = RECIPES[(digit + number) % len(RECIPES)]
        offer = structs.replace(graph, clone_arguments=arguments)
        if not missing.isdisjoint(abilities_for(arguments)) or not _changes_something(offer) or unsaid(offer):
            continue
        if not keras().refuses(offer):
            return offer
        tries -= 1
        if not tries:
            break
    return graph


def _changes_something(graph: Graph) -> bool:
    """Whether a list is no list yet, and there is a model to go into."""
    arguments = graph.clone_arguments
    assert arguments is not None
    listed = arguments.inputs != "listed" or isinstance(graph.takes, Ref)
    return listed and (not arguments.recursive or any(layer.graph is not None for layer in graph.layers))
