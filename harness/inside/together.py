"""Original and clone inside one model, which takes a step of training: each is to take the step that it takes alone.

A model that is called is changed by that, so this comes after all that is observed otherwise. Where a pair does
otherwise, another build of the source takes the clone's place: what two builds do together, a clone may do.
"""

from __future__ import annotations

from typing import Any, Callable

from .description import Description
from .failures import failure
from .observer import Observer
from .training import train
from .variable_values import VariableValues, copy

LEAVES_A_MARK = "to call a model within another changes it, and this one is not to be changed"
ONE_SESSION = "this Keras has one session for all models, where a step of two in one is not tried"
UNSTEADY = "two builds of the model do not train alike in one model, each time"


class Together:
    """The clones of a trial, kept until all else is done, each with the values that it is to begin with."""

    def __init__(self, observer: Observer, checks: dict[str, bool], ours: bool, asked_for_another: bool) -> None:
        self._observer = observer
        self._why_not = LEAVES_A_MARK if not ours else "" if observer.framework.fits else ONE_SESSION
        self.wanted = bool(checks.get("training_step") and checks.get("together") and not asked_for_another)
        self.clones: list[tuple[dict[str, Any], Description, VariableValues]] = []

    def keep(self, told: dict[str, Any], description: Description, values: VariableValues) -> None:
        """Keep a clone, whose observation is to have what comes of it."""
        if self.wanted and not self._why_not:
            self.clones.append((told, description, values))

    def tell(
        self,
        told: dict[str, Any],
        original: Description,
        values: VariableValues,
        arrays: list[Any],
        build_again: Callable[[], Description],
    ) -> None:
        """Train the original beside each clone; where one is unlike it alone, beside another build of itself as well.

        What such a pair does not repeat is not compared.
        """
        if self._why_not:
            told["together"] = {"why": self._why_not}
            return
        alone = told["trained"]
        if "failure" in alone:
            return
        step = {name: alone[name] for name in ("gradients", "weights")}

        def beside(other: Description, ours: VariableValues) -> dict[str, Any]:
            return self._beside(original, values, other, ours, arrays)

        found = [beside(description, ours) for _, description, ours in self.clones]
        if any(each != {"original": step, "other": step} for each in found):
            once_more = build_again()
            ours, _ = copy(original, values, once_more, self._observer)
            wanted = beside(once_more, ours)
            if beside(once_more, ours) != wanted:
                told["together"] = {"why": UNSTEADY}
                return
            told["together"] = wanted
        for (its, _, _), each in zip(self.clones, found):
            its["together"] = each

    def _beside(
        self,
        original: Description,
        values: VariableValues,
        other: Description,
        ours: VariableValues,
        arrays: list[Any],
    ) -> dict[str, Any]:
        """What `Together` declares on the wire."""
        observer = self._observer
        framework = observer.framework
        with observer.clock.keras("train"):
            try:
                both = _one_model(framework, original.model, other.model)
            except Exception as error:  # whatever a model raises is an observation
                return {"failure": failure(error, below="_beside")}
        values.restore()
        ours.restore()
        told = train(both, arrays, observer, original.model)
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

        return {"original": its(original), "other": its(other)}


def _one_model(framework: Any, original: Any, other: Any) -> Any:
    """A model of both, on the same inputs. A graph has a name once, so the other goes by one of its own for that."""
    name, attribute = other.name, "_name" if "_name" in vars(other) else "name"
    setattr(other, attribute, name + "_beside")
    try:
        inputs = framework.packed(original, [framework.input_like(end) for end in framework.ends(original)[0]])
        return framework.model(inputs, [original(inputs), other(inputs)], "both")
    finally:
        setattr(other, attribute, name)
