"""A model at rest: its layers, calls, ends, weights and states. What `Shape` declares on the wire."""

from __future__ import annotations

from typing import Any

from .arguments import Arguments
from .configs import parts
from .facts import Facts
from .layers import Layers, is_own_class
from .observer import Observer
from .structure import skeleton


class Description:
    """The shape of a model, with what the observer needs again: its layers, variables and initial values."""

    def __init__(self, model: Any, observer: Observer, values: bool = True) -> None:
        framework = observer.framework
        self.model = model
        self.layers = Layers(model, observer)
        arguments = Arguments(observer)
        self.weights, trains = framework.weights(model)
        states = framework.states(model)
        known = {id(weight) for weight in self.weights}
        described = self.layers.describe(arguments)
        mentioned = [variable for variable, _ in arguments.variables if id(variable) not in known]
        self.states = _distinct([state for state, _ in states] + mentioned)
        by_chance = {id(state) for state, chance in states if chance}
        # The values that a model begins with; a description of the same model once more does without them.
        self.initial = [framework.read(weight) for weight in self.weights] if values else []
        self.first_states = [framework.read(state) for state in self.states] if values else []
        owners = self._owners(observer)
        inputs, outputs = framework.ends(model)
        structures = framework.declared(model)
        compiled = framework.compiled(model)
        arguments.enter(self.layers.members.get(-1, {}), self.layers.uses.get(-1, {}), self.layers.nodes)
        self.shape: dict[str, Any] = {
            "kind": type(model).__name__,
            "name": str(model.name),
            "trainable": bool(model.trainable),
            "input_structure": skeleton(structures[0], _number),
            "output_structure": skeleton(structures[1], _number),
            "inputs": [self._end(tensor, arguments, observer) for tensor in inputs],
            "outputs": [self._end(tensor, arguments, observer) for tensor in outputs],
            "layers": described,
            "weights": [self._variable(weight, owners, id(weight) in trains, observer) for weight in self.weights],
            "states": [self._variable(state, owners, False, observer) for state in self.states],
            "compiled": None if compiled is None else parts(compiled),
            "compiled_with": [observer.ident(each) for each in framework.compiled_with(model)],
            "learned": self._learned(observer),
            "nodes": framework.node_counts(model),
            "own": is_own_class(type(model)),
        }
        for written, state, value in zip(self.shape["states"], self.states, self.first_states):
            if not observer.values_by_chance and id(state) not in by_chance:
                written["value"] = observer.digests.digest(value)

    def hold(self, observer: Observer, original: Description | None = None, facts: Facts | None = None) -> None:
        """Look at all that the model holds now; `original` is what it was cloned from. Its `facts` may be known."""
        theirs = None if original is None else original.facts
        self.facts: Facts = facts or Facts(self.layers, [*self.weights, *self.states], observer, theirs)
        for seen, told in zip([self.shape, *self.shape["layers"]], self.facts.of):
            seen["attributes"] = told

    def shared_with(self, clone: Description, framework: Any) -> list[Any]:
        """What its clone has of it, as far as that is told of both: layers, variables, public attributes."""
        both: list[Any] = []
        for ours, theirs in (
            (self.layers.objects(), clone.layers.objects()),
            ([*self.weights, *self.states], [*clone.weights, *clone.states]),
            (framework.compiled_with(self.model), framework.compiled_with(clone.model)),
            (self.facts.read, clone.facts.read),
        ):
            ids = {id(thing) for thing in ours}
            both += [thing for thing in theirs if id(thing) in ids]
        return both

    def _learned(self, observer: Observer) -> list[str]:
        """Digests of what training has left beside the model, where something was done that may have trained it."""
        framework = observer.framework
        found = framework.learned(self.model) if observer.values_by_chance else []
        return [observer.digests.digest(framework.read(variable)) for variable in found]

    def _owners(self, observer: Observer) -> dict[int, int]:
        owners: dict[int, int] = {}
        own_variables = observer.framework.own_variables
        for number, place in enumerate(self.layers.places):
            if place.first == number:
                for variable in own_variables(place.layer):
                    owners.setdefault(id(variable), number)
        return owners

    @staticmethod
    def _variable(variable: Any, owners: dict[int, int], trainable: bool, observer: Observer) -> dict[str, Any]:
        framework = observer.framework
        return {
            "name": framework.name(variable),
            "short_name": framework.short_name(variable),
            "owner": owners.get(id(variable), -1),
            "shape": [-1 if size is None else int(size) for size in variable.shape],
            "dtype": framework.dtype(variable),
            "trainable": trainable,
            "ident": observer.ident(variable),
        }

    def _end(self, tensor: Any, arguments: Arguments, observer: Observer) -> dict[str, Any]:
        framework = observer.framework
        place = arguments.tensor(tensor)
        layer = self.layers.places[place[0]].layer if place else framework.origin(tensor)[0]
        optional, sparse, ragged = framework.end_options(tensor)
        return {
            "name": str(getattr(layer, "name", "")),
            "shape": _sizes(tensor.shape),
            "dtype": framework.dtype(tensor),
            "tensor": place or [-1, -1, -1],
            "optional": optional,
            "sparse": sparse,
            "ragged": ragged,
        }


def _sizes(shape: Any) -> list[int | None] | None:
    return None if getattr(shape, "ndims", 0) is None else [None if size is None else int(size) for size in shape]


def _number(leaf: Any) -> Any:
    return leaf


def _distinct(variables: list[Any]) -> list[Any]:
    return list({id(variable): variable for variable in variables}.values())
