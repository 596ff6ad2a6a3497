"""The weights of a model copied to its clone, with its states and what its optimizer has counted."""

from __future__ import annotations

from typing import Any

from .frameworks.interface import Framework


def copy_weights(model: Any, clone: Any, framework: Framework) -> None:
    """Give a clone the values of all variables of its model; where both are compiled, those of the optimizer as well.

    Raises `ValueError` where the clone has other weights, as it may on other inputs, or trains others of them.
    """
    ours, theirs = _variables(model, framework), _variables(clone, framework)
    _hold_against(ours, theirs, framework)
    for variable, its in zip(ours, theirs):
        framework.write(its, framework.read(variable))
    framework.weights_written(clone, model)
    optimizer, other = getattr(model, "optimizer", None), getattr(clone, "optimizer", None)
    if getattr(model, "compiled", False) and getattr(clone, "compiled", False) and None not in (optimizer, other):
        _copy_optimizer(optimizer, other, dict(zip(map(id, ours), theirs)), framework)


def _variables(model: Any, framework: Framework) -> list[Any]:
    """All weights in their order, then the states of layers."""
    return [*framework.weights_in_order(model), *(state for state, _ in framework.states(model))]


def _hold_against(ours: list[Any], theirs: list[Any], framework: Framework) -> None:
    if len(ours) != len(theirs):
        how = (
            "call the clone once, and set its weights" if not theirs else "clone without, and copy those that you want"
        )
        raise ValueError(
            "clone_model: weights=True: the model has %d weights and states, its clone has %d: %s"
            % (len(ours), len(theirs), how)
        )
    for variable, its in zip(ours, theirs):
        if tuple(variable.shape) != tuple(its.shape):
            raise ValueError(
                "clone_model: weights=True: the weight %s has shape %s, that of the clone has %s: clone without, and "
                "copy those that fit" % (framework.name(variable), tuple(variable.shape), tuple(its.shape))
            )


def _copy_optimizer(optimizer: Any, its: Any, clone_of: dict[int, Any], framework: Framework) -> None:
    """The counts and moments of an optimizer. One that is not built yet has only the first few of its variables."""
    trained = [clone_of.get(id(variable)) for variable in _trained_by(optimizer)]
    if getattr(optimizer, "built", False) and not getattr(its, "built", True):
        its.build([variable for variable in trained if variable is not None])
    if getattr(optimizer, "built", False) and list(map(id, trained)) != list(map(id, _trained_by(its))):
        raise ValueError(
            "clone_model: weights=True: the optimizer of the clone trains other weights than that of the model: "
            "clone without, and compile the clone"
        )
    for variable, other in zip(optimizer.variables, its.variables):
        framework.write(other, framework.read(variable))


def _trained_by(optimizer: Any) -> list[Any]:
    """The variables that an optimizer was built for; one that scales the loss has another in it."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    return list(getattr(inner, "_trainable_variables", ()))
