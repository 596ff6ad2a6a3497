"""Original and clone inside one model, which takes a step of training: each is to take the step that it takes alone.

A model that is called is changed by that, so this comes after all that is observed otherwise. Where a pair does
otherwise, another build of the source takes the clone's place: what two builds do together, a clone may do.
"""

from __future__ import annotations

from typing import Any

from .description import Description
from .failures import failure
from .kept_clones import KeptClone, KeptOriginal
from .observer import Observer
from .training import train
from .variable_values import VariableValues

LEAVES_A_MARK = "to call a model within another changes it, and this one is not to be changed"
ONE_SESSION = "this Keras has one session for all models, where a step of two in one is not tried"
UNSTEADY = "two builds of the model do not train alike in one model, each time"


def tell_together(observer: Observer, original: KeptOriginal, kept: list[KeptClone], ours: bool) -> None:
    """Train the original beside each clone; where one is unlike it alone, beside another build of itself as well.

    What such a pair does not repeat is not compared. Whether the model is `ours` says that it may be changed.
    """
    why_not = LEAVES_A_MARK if not ours else "" if observer.framework.fits else ONE_SESSION
    if why_not:
        original.told["together"] = {"why": why_not}
        return
    alone = original.told["trained"]
    if "failure" in alone:
        return
    step = {name: alone[name] for name in ("gradients", "weights")}
    clones = [each for each in kept if not each.may_share]  # the gradient of a weight that both have is a sum
    found = [_beside(observer, original, each.description, each.values) for each in clones]
    if any(each != {"original": step, "other": step} for each in found):
        again = original.built_again(observer)
        wanted = _beside(observer, original, *again)
        if _beside(observer, original, *again) != wanted:
            original.told["together"] = {"why": UNSTEADY}
            return
        original.told["together"] = wanted
    for clone, each in zip(clones, found):
        clone.told["together"] = each


def _beside(observer: Observer, original: KeptOriginal, other: Description, values: VariableValues) -> dict[str, Any]:
    """What `Together` declares on the wire."""
    framework, model = observer.framework, original.description.model
    with observer.clock.keras("train"):
        try:
            both = _one_model(framework, model, other.model)
        except Exception as error:  # whatever a model raises is an observation
            return {"failure": failure(error, below="_beside")}
    original.values.restore()
    values.restore()
    told = train(both, original.arrays, observer, model)
    if "failure" in told:
        return told
    weights, trains = framework.weights(both)
    after = {id(weight): leaf for weight, leaf in zip(weights, told["weights"])}
    trained = [id(weight) for weight in weights if id(weight) in trains]
    gradients = dict(zip(trained, told["gradients"]))

    def its(description: Description) -> dict[str, Any]:
        weights = [id(weight) for weight in description.weights]
        return {
            "gradients": [gradients[each] for each in weights if each in gradients],
            "weights": [after[each] for each in weights if each in after],
        }

    return {"original": its(original.description), "other": its(other)}


def _one_model(framework: Any, original: Any, other: Any) -> Any:
    """A model of both, on the same inputs. A graph has a name once, so the other goes by one of its own for that."""
    name, attribute = other.name, "_name" if "_name" in vars(other) else "name"
    setattr(other, attribute, name + "_beside")
    try:
        inputs = framework.packed(original, [framework.input_like(end) for end in framework.ends(original)[0]])
        return framework.model(inputs, [original(inputs), other(inputs)], "both")
    finally:
        setattr(other, attribute, name)
