"""A model called on the trial's inputs, with everything that its layers gave on the way, and one step of training."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ..observation import Failure, Leaf, ModelRun, StepSeen, Trained
from .description import Description
from .failures import failure
from .observer import Observer
from .structure import numbered

RATE = 0.1
"""The step is the same loss, rate and update for every generation and backend."""


def run(description: Description, arrays: list[Any], observer: Observer, packing: Any, training: bool) -> ModelRun:
    """The outputs of a call and of its layers. `packing` is the model whose structure of inputs a caller knows."""
    framework, model, reader = observer.framework, description.model, Reader(observer)
    calls: list[tuple[Any, Any, list[Any], list[Any]]] = []

    def listen(layer: Any, result: Any) -> None:
        structure, tensors = numbered(result)
        # A mask is read at once: it may be gone, or another's, by the time the model has returned.
        calls.append((layer, structure, tensors, [framework.mask(tensor) for tensor in tensors]))

    error: Failure | None = None
    result: Any = None
    losses: list[Any] = []
    try:
        inputs = framework.feed(packing, arrays)
        framework.reseed(observer.seed, observer.backend_draws)
        framework.listener = listen
        result = model(inputs, training=training)
        losses = list(model.losses)
    except Exception as raised:  # whatever a model raises is an observation
        error, result = failure(raised, below="run"), None
    finally:
        framework.listener = None
    structure, outputs = numbered(result)
    uses: dict[int, int] = {}
    steps = []
    for layer, nesting, tensors, masks in calls:
        number = description.layers.index.get(id(layer))
        if number is not None and all(map(framework.tensors.concrete, tensors)):
            use = uses[number] = uses.get(number, -1) + 1
            steps.append(StepSeen(number, use, tuple(map(reader.leaf, tensors, masks)), nesting))
    return ModelRun(
        structure,
        tuple(reader.leaf(tensor, framework.mask(tensor)) for tensor in outputs),
        tuple(steps),
        tuple(reader.leaf(loss).digest for loss in losses),
        error,
    )


def train(model: Any, arrays: list[Any], observer: Observer, packing: Any) -> Trained:
    """A step of gradient descent. The caller puts the weights back as they were."""
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
                step = tensors.array(gradient).astype("float32") * RATE
                value = framework.read(weight)
                framework.write(weight, (value.astype("float32") - step).astype(value.dtype))
        after = [framework.read(weight) for weight in weights]
    except Exception as error:  # whatever a model raises is an observation
        return Trained(failure=failure(error, below="train"))
    reader = Reader(observer)
    return Trained(
        reader.leaf(loss).digest,
        tuple(None if gradient is None else reader.leaf(gradient) for gradient in gradients),
        tuple(map(observer.digests.leaf, after)),
    )


class Reader:
    """Turns the tensors of one run into digests, each tensor once. They have to live for as long as this reader."""

    def __init__(self, observer: Observer) -> None:
        self._tensors = observer.framework.tensors
        self._digests = observer.digests
        self._leaves: dict[int, Leaf] = {}

    def leaf(self, tensor: Any, mask: Any = None) -> Leaf:
        """A tensor, or a number."""
        if mask is not None:
            return replace(self.leaf(tensor), mask=self.leaf(mask).digest)
        if id(tensor) not in self._leaves:
            if not self._tensors.concrete(tensor):
                text = repr(tensor)[:40] if isinstance(tensor, (bool, int, float)) else ""
                return Leaf((), type(tensor).__name__, text)
            self._leaves[id(tensor)] = self._digests.leaf(self._tensors.array(tensor))
        return self._leaves[id(tensor)]
