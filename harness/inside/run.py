"""A model called on the trial's inputs, with everything that its layers gave on the way, and one step of training."""

from __future__ import annotations

from typing import Any

from .description import Description
from .failures import failure
from .observer import Observer
from .structure import leaves, numbered

RATE = 0.1
"""The step is the same loss, rate and update for every generation and backend."""


class CallsOfLayers:
    """The calls of layers during one run: the layer, the nesting of what it returned, its leaves, and their masks."""

    def __init__(self, observer: Observer) -> None:
        self._mask = observer.framework.mask
        self._concrete = observer.framework.tensors.concrete
        self.calls: list[tuple[Any, Any, list[Any], list[Any]]] = []

    def __call__(self, layer: Any, result: Any) -> None:
        parts = list(leaves(result))
        # A mask is read at once: it may be gone, or another's, by the time the model has returned.
        self.calls.append((layer, numbered(result)[0], parts, [self._mask(leaf) for leaf in parts]))

    def concrete_calls(self, description: Description) -> list[tuple[int, int, Any, list[Any], list[Any]]]:
        """The calls of layers of this model whose tensors have numbers: the layer, its use, and what `calls` has."""
        index = description.layers.index
        uses: dict[int, int] = {}
        calls = []
        for layer, structure, parts, masks in self.calls:
            number = index.get(id(layer))
            if number is None or not all(leaf is None or self._concrete(leaf) for leaf in parts):
                continue
            use = uses.get(number, 0)
            uses[number] = use + 1
            calls.append((number, use, structure, parts, masks))
        return calls


def run(
    description: Description, arrays: list[Any], observer: Observer, packing: Any, training: bool
) -> dict[str, Any]:
    """What `ModelRun` declares on the wire. `packing` is the model whose structure of inputs a caller knows."""
    framework, model = observer.framework, description.model
    heard = CallsOfLayers(observer)
    answer: dict[str, Any] = {}
    result: Any = None
    losses: list[Any] = []
    try:
        inputs = framework.feed(packing, arrays)
        framework.reseed(observer.seed, observer.backend_draws)
        framework.listener = heard
        result = model(inputs, training=training)
        losses = list(model.losses)
    except Exception as error:  # whatever a model raises is an observation
        answer["failure"] = failure(error, below="run")
        result = None
    finally:
        framework.listener = None
    structure, outputs = numbered(result)
    masks = [framework.mask(leaf) for leaf in outputs]
    calls = heard.concrete_calls(description)
    reader = Reader(observer)
    answer["structure"] = structure
    answer["outputs"] = [reader.leaf(leaf, mask) for leaf, mask in zip(outputs, masks)]
    answer["steps"] = [
        {
            "layer": number,
            "use": use,
            "structure": structure,
            "outputs": [reader.leaf(leaf, mask) for leaf, mask in zip(parts, masks)],
        }
        for number, use, structure, parts, masks in calls
    ]
    answer["losses"] = [reader.leaf(loss)["digest"] for loss in losses]
    return answer


def train(model: Any, arrays: list[Any], observer: Observer, packing: Any) -> dict[str, Any]:
    """What `Trained` declares on the wire. The caller puts the weights back as they were."""
    framework = observer.framework
    tensors = framework.tensors
    try:
        inputs = framework.feed(packing, arrays)
        framework.reseed(observer.seed, observer.backend_draws)
        loss, gradients = tensors.gradients(framework.keras, model, inputs)
        weights, trains = framework.weights(model)
        trained = [weight for weight in weights if id(weight) in trains]
        for weight, gradient in zip(trained, gradients):
            if gradient is not None:
                step = tensors.array(gradient)[0].astype("float32") * RATE
                value = framework.read(weight)
                framework.write(weight, (value.astype("float32") - step).astype(value.dtype))
        after = [framework.read(weight) for weight in weights]
    except Exception as error:  # whatever a model raises is an observation
        return {"failure": failure(error, below="train")}
    reader = Reader(observer)
    return {
        "loss": reader.leaf(loss)["digest"],
        "gradients": [None if gradient is None else reader.leaf(gradient) for gradient in gradients],
        "weights": [observer.digests.leaf(value) for value in after],
    }


class Reader:
    """Turns the tensors of one run into digests, each tensor once. They have to live for as long as this reader."""

    def __init__(self, observer: Observer) -> None:
        self._tensors = observer.framework.tensors
        self._digests = observer.digests
        self._leaves: dict[int, dict[str, Any]] = {}

    def leaf(self, tensor: Any, mask: Any = None) -> dict[str, Any]:
        """A tensor, or a number, as `Leaf` declares it on the wire."""
        if mask is not None:
            return {**self.leaf(tensor), "mask": self.leaf(mask)["digest"]}
        if tensor is None:
            return {"shape": [], "dtype": "none", "digest": "none"}
        if id(tensor) in self._leaves:
            return self._leaves[id(tensor)]
        if not self._tensors.concrete(tensor):
            text = repr(tensor)[:40] if isinstance(tensor, (bool, int, float)) else ""
            return {"shape": [], "dtype": type(tensor).__name__, "digest": text}
        self._leaves[id(tensor)] = leaf = self._digests.leaf(*self._tensors.array(tensor))
        return leaf
