"""Compiles a clone the way its original is, with an optimizer and metrics of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import keras

from ....structure import map_leaves


def compile_alike(original: Any, clone: Any, made_again: Callable[[Any], Any]) -> None:
    """Nothing, if the original is not compiled.

    The arguments of `compile` are taken over as the objects they are: as a config, a loss function that is not
    registered could not be found again, and some losses forget their own arguments; of an object the clone has another
    that holds the same, but lists of its own. Those are the arguments that Keras got: a class whose `compile` takes
    others keeps what it makes of them as attributes, which are taken over.
    """
    if not getattr(original, "compiled", False):
        return
    arguments = getattr(getattr(original, "_compile_config", None), "config", None)
    if arguments is None or _tells_itself(original):
        clone.compile_from_config(original.get_compile_config())
        return

    losses: dict[int, Any] = {}

    def own(value: Any) -> Any:
        if isinstance(value, keras.losses.Loss):
            if id(value) not in losses:
                losses[id(value)] = _holding_the_same(value)
            return losses[id(value)]
        if not isinstance(value, (keras.optimizers.Optimizer, keras.metrics.Metric)):
            return value
        again = made_again(value)
        if hasattr(again, "_fn_kwargs"):
            again._fn_kwargs = dict(value._fn_kwargs)  # a CosineSimilarity's config leaves out its axis
        return again

    # One that scales its losses was put around the one that was given, by the policy of that time.
    scaled = isinstance(original.optimizer, keras.optimizers.LossScaleOptimizer)
    keras.Model.compile(clone, **map_leaves(own, arguments), auto_scale_loss=scaled)
    if getattr(original.optimizer, "built", False):
        clone.optimizer.build(_trained_alike(original, clone))


def _trained_alike(original: Any, clone: Any) -> list[Any]:
    """The weights that the optimizer of the clone is built for: those of the original's, whatever was frozen since."""
    its: Any = getattr(original.optimizer, "inner_optimizer", original.optimizer)
    clone_of = {id(weight): twin for weight, twin in zip(original.weights, clone.weights)}
    trained = [clone_of.get(id(variable)) for variable in getattr(its, "_trainable_variables", (None,))]
    return clone.trainable_variables if any(each is None for each in trained) else trained


def _holding_the_same(value: Any) -> Any:
    """Another object of the class, with containers of its own."""
    other = object.__new__(type(value))
    vars(other).update((name, map_leaves(lambda leaf: leaf, held)) for name, held in vars(value).items())
    return other


def _tells_itself(model: Any) -> bool:
    """Whether a class has methods of its own for what it was compiled with."""
    return any(
        inspect.getattr_static(type(model), name) is not inspect.getattr_static(keras.Model, name)
        for name in ("compile_from_config", "get_compile_config")
    )
