"""The weights of a model copied to its clone, with its states and what its optimizer has counted."""

from __future__ import annotations

from typing import Any

from .frameworks.interface import Framework


def copy_weights(model: Any, clone: Any, framework: Framework) -> None:
    """Give a clone the values of all variables of its model; where both are compiled, those of the optimizer as well.

    Raises `ValueError`, and changes nothing, where the clone has other weights, as it may on other inputs.
    """
    if not getattr(model, "built", True):
        return  # it has no weights yet
    ours, theirs = _variables(model, framework), _variables(clone, framework)
    _hold_against(ours, theirs, framework)
    for variable, its in zip(ours, theirs):
        framework.write(its, framework.read(variable))
    framework.weights_written(clone, model)
    if getattr(model, "compiled", False) and getattr(clone, "compiled", False):
        _copy_optimizer(getattr(model, "optimizer", None), getattr(clone, "optimizer", None), clone, framework)


def _variables(model: Any, framework: Framework) -> list[Any]:
    """All weights in their order, then the states of layers."""
    return [*framework.weights(model)[0], *(state for state, _ in framework.states(model))]


def _hold_against(ours: list[Any], theirs: list[Any], framework: Framework) -> None:
    if len(ours) != len(theirs):
        raise ValueError(
            "clone_model: weights=True: the model has %d weights and states, its clone has %d: clone without, and copy "
            "those that you want" % (len(ours), len(theirs))
        )
    for variable, its in zip(ours, theirs):
        if tuple(variable.shape) != tuple(its.shape):
            raise ValueError(
                "clone_model: weights=True: the weight %s has shape %s, that of the clone has %s: clone without, and "
                "copy those that fit" % (framework.name(variable), tuple(variable.shape), tuple(its.shape))
            )


def _copy_optimizer(optimizer: Any, its: Any, clone: Any, framework: Framework) -> None:
    """The counts and moments of an optimizer. One that is not built yet has only the first few of its variables."""
    if optimizer is None or its is None:
        return
    if getattr(optimizer, "built", False) and not getattr(its, "built", True):
        its.build(clone.trainable_variables)
    for variable, other in zip(optimizer.variables, its.variables):
        framework.write(other, framework.read(variable))
