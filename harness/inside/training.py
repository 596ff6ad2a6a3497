"""One step of gradient descent, by hand: the same loss, rate and update for every generation and backend."""

from __future__ import annotations

from typing import Any

from .failures import failure
from .observer import Observer
from .run import Reader, Recorded

RATE = 0.1


def train(
    model: Any, arrays: list[Any], observer: Observer, packing: Any, recorded: Recorded | None = None
) -> dict[str, Any]:
    """What `Trained` declares on the wire. The caller puts the weights back as they were.

    A training call that was `recorded` on these arrays, the last that was made, is not made again.
    """
    framework = observer.framework
    try:
        if recorded is not None and recorded.made:
            loss, gradients = framework.gradients_of(recorded.scope, model, recorded.outputs)
        else:
            inputs = framework.feed(packing, arrays)
            framework.reseed(observer.seed, observer.backend_draws)
            loss, gradients = framework.gradients(model, inputs)
        weights, trains = framework.weights(model)
        trained = [weight for weight in weights if id(weight) in trains]
        for weight, gradient in zip(trained, gradients):
            if gradient is not None:
                step = framework.array(gradient)[0].astype("float32") * RATE
                value = framework.read(weight)
                framework.write(weight, (value.astype("float32") - step).astype(value.dtype))
        after = [framework.read(weight) for weight in weights]
    except Exception as error:  # whatever a model raises is an observation
        return {"failure": failure(error, below="train")}
    reader = Reader(observer)
    reader.read([[loss], gradients])
    return {
        "loss": reader.digest(loss),
        "gradients": [None if gradient is None else reader.leaf(gradient, None) for gradient in gradients],
        "weights": [leaf(value, observer) for value in after],
    }


def leaf(value: Any, observer: Observer) -> dict[str, Any]:
    """The value of a weight as a leaf is declared on the wire."""
    return {"shape": list(value.shape), "dtype": str(value.dtype), "digest": observer.digests.digest(value)}
