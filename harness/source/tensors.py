"""The words for the tensors of a model: variables, or their entries."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TypeAlias

from clonediff.harness.source.functions import KEYS
from clonediff.harness.source.other_layers import class_name_of
from clonediff.harness.source.words import snake
from clonediff.strategies.graph import Function, Graph, Layer, Ref

Words: TypeAlias = Callable[[Ref], str]
"""The expression of each tensor."""


class Variables:
    """A variable for each tensor of a graph, or for what holds it."""

    def __init__(self, name: Callable[[str], str], graph: Graph, stem: str) -> None:
        """Name the inputs; `name` makes a name that nothing else has of one that is wanted."""
        self.name = name
        self.graph = graph
        self.words: dict[tuple[int, int], str] = {}
        single = len(graph.inputs) == 1
        self.inputs: list[str] = []
        for number, given in enumerate(graph.inputs):
            wanted = f"{stem}inputs" if single else f"{stem}{snake(given.name or f'input_{number + 1}')}"
            word = wanted if wanted == "inputs" else name(wanted)
            self.inputs.append(word)
            self.words[number, 0] = word

    def word(self, ref: Ref) -> str:
        """The variable, or its entry."""
        return self.words[ref.node, ref.output]

    def target(self, number: int, layer: Layer) -> str:
        """What stands left of the call, by how the layer gives its outputs back."""
        node = len(self.graph.inputs) + number
        count = self.graph.calls[number].outputs
        stem = snake(layer.name or class_name_of(layer.kind))
        if hasattr(builtins, stem):
            stem = f"{stem}_output"
        container = _container(layer, count)
        if container == "one":
            self.words[node, 0] = self.name(stem)
            return self.words[node, 0]
        if container == "dict":
            word = self.name(stem)
            for output in range(count):
                self.words[node, output] = f'{word}["{KEYS[output]}"]'
            return word
        words = [self.name(f"{stem}_{KEYS[output]}" if output < 4 else stem) for output in range(count)]
        for output, word in enumerate(words):
            self.words[node, output] = word
        if container == "nested" and count > 1:
            return f"{words[0]}, [{', '.join(words[1:])}]"
        return f"[{words[0]}]" if count == 1 else ", ".join(words)


def packed_in(layer: Layer) -> tuple[str, ...]:
    """In what a layer may give its tensors, so that a script has words for each; empty where that goes by how many."""
    if layer.graph is not None:
        return ("one", "list", "dict", "nested")
    function = layer.arg("function")
    if not isinstance(function, Function):
        return ()
    return ("nested", "list") if function.container == "nested" else (function.container.replace("tuple", "list"),)


def _container(layer: Layer, count: int) -> str:
    function = layer.arg("function")
    if isinstance(function, Function):
        return function.container
    return "one" if count == 1 else "list"
