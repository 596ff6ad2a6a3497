"""Which layer of a graph a name in Keras is: "lambda_1" is the second Lambda that was made without a name.

A difference says where it is by the name that a layer has in Keras, and in a graph most layers have none. Owns the
order in which a graph's layers are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clonediff.reports.operation_names import operation_names
from clonediff.reports.records import Place
from clonediff.strategies.graph import Graph, Layer, Made, fed_refs, leaves
from clonediff.strategies.kinds.operations import is_operation

Key = tuple[int, ...]
"""A layer by the numbers of the models around it and its own; an input as -1 less its number; () is the model."""

_CHANGES = (
    *("RandomShear", "RandomTranslation", "RandomRotation", "RandomBrightness", "RandomColorDegeneration"),
    *("RandomContrast", "RandomSharpness", "RandomPosterization", "Solarization", "AutoContrast"),
)
_WITHIN: dict[str, tuple[str, ...]] = {
    "MultiHeadAttention": ("Softmax", "Dropout"),
    "GroupQueryAttention": ("Softmax", "Dropout"),
    "AugMix": _CHANGES,
    "RandAugment": _CHANGES,
}
"""Layers without a name that a layer makes for itself: the next of their kind has a higher number."""
_FACTORS = {
    "brightness_factor": "RandomBrightness",
    "contrast_factor": "RandomContrast",
    "saturation_factor": "RandomSaturation",
    "hue_factor": "RandomHue",
}
"""Those that a RandomColorJitter makes where the argument is given."""
_CALLED = {"GroupQueryAttention": "GroupedQueryAttention"}
"""The name of a class where Keras has it under another one."""
_OLDER = {"tf_keras": True, "keras2": True}
"""The generations that name and number as Keras did before 3."""
_MODELS = {"Model": ("functional", "model"), "Sequential": ("sequential", "sequential")}


class Names:
    """The names of a graph's layers, as Keras gives them. `uses` is how often each layer is called."""

    def __init__(self, graph: Graph) -> None:
        self._older = _OLDER.get(graph.generation or "keras", False)
        self._counts: dict[str, int] = {}
        self._by_name: dict[str, Key] = {}
        self._by_kind: dict[str, list[Key]] = {}
        self.uses: dict[Key, int] = {}
        self._enter(graph, ())

    def key(self, place: Place) -> Key | None:
        """The layer of a place; what stands in a layer, such as a cell, is the layer. None where it cannot be told."""
        if place.layer == -1:
            return ()
        for name in reversed(place.name.split("/")):
            if name in self._by_name:
                return self._by_name[name]
        alike = self._by_kind.get(place.kind, [])
        return alike[0] if len(alike) == 1 else None

    def _enter(self, graph: Graph, around: Key) -> None:
        for number, given in enumerate(graph.inputs):
            self._made("InputLayer", given.name, (*around, -1 - number))
        made = set()
        for call in graph.calls:
            key = (*around, call.layer)
            self.uses[key] = self.uses.get(key, 0) + 1
            if call.layer not in made:
                made.add(call.layer)
                self._layer(graph.layers[call.layer], key, sum(1 for _ in fed_refs(call)))

    def _layer(self, layer: Layer, key: Key, tensors: int = 1) -> None:
        for _, value in layer.args:
            for leaf in leaves(value):
                if isinstance(leaf, Made):
                    # A cell or a wrapped layer is shown as the one that holds it.
                    self._layer(leaf.layer, key)
        for kind in _within(layer):
            self._made(kind, None, key)
        if layer.graph is not None:
            self._model(layer.graph, layer.name, key)
            return
        if layer.kind == "Sequential" and not self._older:
            self._made("InputLayer", None, key)  # which it makes when it is first called
        self._made(layer.kind, layer.name, key, tensors)

    def _model(self, graph: Graph, name: str | None, key: Key) -> None:
        self._enter(graph, key)
        kind = "Sequential" if graph.sequential else "Model"
        if graph.base is not None:
            self._made(kind, None, key)  # the one that it is cut out of, which is made before it
            kind = "Model"
        self._made(f"Own{kind}" if graph.own is not None else kind, name or graph.name, key)

    def _made(self, kind: str, name: str | None, key: Key, tensors: int = 1) -> None:
        self._by_kind.setdefault(kind, []).append(key)
        words = self._words(kind, tensors) if name is None else ()
        if kind.endswith("Sequential") and not self._older:
            # In Keras 3 it makes a model for itself, without a name, whatever its own is.
            words = ("functional", *words)
        for word in words:
            count = self._counts.get(word, 0)
            self._counts[word] = count + 1
            # The first input of tf_keras has a number already.
            number = count + 1 if self._older and kind == "InputLayer" else count
            self._by_name.setdefault(f"{word}_{number}" if number else word, key)
        if name is not None:
            self._by_name.setdefault(name, key)

    def _words(self, kind: str, tensors: int) -> tuple[str, ...]:
        if kind == "InputLayer":
            return ("input" if self._older else "input_layer",)
        if kind in _MODELS:
            return (_MODELS[kind][self._older],)
        if is_operation(kind):
            return operation_names(kind, tensors, self._older)
        return (_snake(re.split("[.:]", _CALLED.get(kind, kind))[-1]),)


def _within(layer: Layer) -> Iterator[str]:
    yield from _WITHIN.get(layer.kind, ())
    if layer.kind == "RandomColorJitter":
        yield from (kind for factor, kind in _FACTORS.items() if layer.arg(factor) is not None)


def _snake(kind: str) -> str:
    apart = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", apart).lower()
